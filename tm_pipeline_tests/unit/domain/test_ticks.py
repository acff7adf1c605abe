"""Ticks: a table of what the numbers say, and a clock that runs, stops and steps back."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.ticks import RunTick, SkipTick, TickSettings, decide_tick

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class FakeClock:
    """A clock that moves only when told."""

    now: datetime = START

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What the queue says; the defaults are one job due now."""

    since_end: float | None = None
    live_runs: int = 0
    due_groups: int = 1
    waiting: int = 0
    next_due_seconds: int | None = None
    oldest_age_seconds: int = 0
    settings: TickSettings = field(default_factory=TickSettings)


def _decide(numbers: Numbers, now: datetime = START) -> RunTick | SkipTick:
    return decide_tick(
        now=now,
        last_end=None if numbers.since_end is None else now - timedelta(seconds=numbers.since_end),
        live_runs=numbers.live_runs,
        due_groups=numbers.due_groups,
        waiting=numbers.waiting,
        next_due_seconds=numbers.next_due_seconds,
        oldest_age_seconds=numbers.oldest_age_seconds,
        settings=numbers.settings,
    )


LONG_BACKLOG_DELAY = TickSettings(fixed_delay_seconds=10, backlog_delay_seconds=60)
NO_DELAY = TickSettings(fixed_delay_seconds=0)

RUNS = [
    pytest.param(Numbers(), "fixed delay: 1 due, oldest 0 s", id="first-tick-of-all"),
    pytest.param(Numbers(since_end=600), "fixed delay: 1 due, oldest 0 s", id="delay-is-over"),
    pytest.param(
        Numbers(since_end=600, oldest_age_seconds=1_799), "fixed delay: 1 due, oldest 1799 s", id="not-yet-old"
    ),
    pytest.param(Numbers(since_end=5, due_groups=50), "backlog: 50 due, oldest 0 s", id="many-groups"),
    pytest.param(Numbers(since_end=5, oldest_age_seconds=1_800), "backlog: 1 due, oldest 1800 s", id="old-group"),
    pytest.param(Numbers(since_end=-601), "fixed delay: 1 due, oldest 0 s", id="end-far-in-the-future"),
    pytest.param(Numbers(since_end=-86_400), "fixed delay: 1 due, oldest 0 s", id="end-tomorrow"),
    pytest.param(Numbers(since_end=-6, due_groups=50), "backlog: 50 due, oldest 0 s", id="future-end-in-backlog"),
    pytest.param(
        Numbers(since_end=10, due_groups=50, settings=LONG_BACKLOG_DELAY),
        "backlog: 50 due, oldest 0 s",
        id="a-backlog-never-lengthens-the-delay",
    ),
    pytest.param(Numbers(since_end=0, settings=NO_DELAY), "fixed delay: 1 due, oldest 0 s", id="no-delay"),
]

SKIPS = [
    pytest.param(Numbers(live_runs=1), "a tick is running (1)", id="live-run"),
    pytest.param(
        Numbers(live_runs=2, since_end=9_999, due_groups=500), "a tick is running (2)", id="live-run-and-backlog"
    ),
    pytest.param(Numbers(due_groups=0), "0 due, 0 waiting for back-off", id="nothing-at-all"),
    pytest.param(
        Numbers(due_groups=0, waiting=3, next_due_seconds=40),
        "0 due, 3 waiting for back-off, next in 40 s",
        id="all-back-off",
    ),
    pytest.param(
        Numbers(due_groups=0, waiting=1, next_due_seconds=0),
        "0 due, 1 waiting for back-off, next in 0 s",
        id="due-within-the-second",
    ),
    pytest.param(
        Numbers(due_groups=0, oldest_age_seconds=9_999), "0 due, 0 waiting for back-off", id="old-but-nothing-due"
    ),
    pytest.param(Numbers(since_end=0), "1 due, next tick in 600 s", id="just-ended"),
    pytest.param(Numbers(since_end=599), "1 due, next tick in 1 s", id="one-second-early"),
    pytest.param(Numbers(since_end=599, due_groups=49), "49 due, next tick in 1 s", id="one-below-a-backlog"),
    pytest.param(Numbers(since_end=4, due_groups=50), "50 due, next tick in 1 s", id="backlog-one-second-early"),
    pytest.param(Numbers(since_end=-600), "1 due, next tick in 1200 s", id="end-within-one-delay-ahead"),
]


@pytest.mark.parametrize(("numbers", "reason"), RUNS)
def test_a_tick_runs_when_the_numbers_allow_it(numbers: Numbers, reason: str) -> None:
    assert _decide(numbers) == RunTick(reason=reason)


@pytest.mark.parametrize(("numbers", "reason"), SKIPS)
def test_a_tick_is_skipped_with_the_numbers_in_its_reason(numbers: Numbers, reason: str) -> None:
    assert _decide(numbers) == SkipTick(reason=reason)


def _ticks(clock: FakeClock, last_end: datetime | None, seconds: int, due_groups: int) -> list[datetime]:
    """Ask once a second for ``seconds``; a tick takes three seconds in which another is asked for."""
    started: list[datetime] = []
    running_until: datetime | None = None
    for _ in range(seconds):
        if running_until is not None and clock.now >= running_until:
            last_end, running_until = running_until, None
        answer = decide_tick(
            now=clock.now,
            last_end=last_end,
            live_runs=int(running_until is not None),
            due_groups=due_groups,
            waiting=0,
            next_due_seconds=None,
            oldest_age_seconds=0,
            settings=TickSettings(fixed_delay_seconds=20, backlog_groups=10, backlog_delay_seconds=2),
        )
        if isinstance(answer, RunTick):
            started.append(clock.now)
            running_until = clock.now + timedelta(seconds=3)
        clock.move(1)
    return started


def test_the_delay_is_counted_from_the_end_of_a_tick() -> None:
    started = _ticks(FakeClock(), None, seconds=70, due_groups=1)

    assert [(moment - START).total_seconds() for moment in started] == [0, 23, 46, 69]


def test_a_backlog_shortens_the_delay_but_never_starts_a_tick_beside_another() -> None:
    started = _ticks(FakeClock(), None, seconds=16, due_groups=10)

    assert [(moment - START).total_seconds() for moment in started] == [0, 5, 10, 15]


def test_a_clock_that_steps_back_an_hour_does_not_stop_the_ticks_for_an_hour() -> None:
    clock = FakeClock()
    last_end = clock.now
    clock.move(-3_600)

    started = _ticks(clock, last_end, seconds=30, due_groups=1)

    assert [(moment - START).total_seconds() for moment in started] == [-3_600, -3_577]


def test_a_clock_that_steps_back_less_than_the_delay_waits_at_most_two_delays() -> None:
    clock = FakeClock()
    last_end = clock.now
    clock.move(-15)

    started = _ticks(clock, last_end, seconds=41, due_groups=1)

    assert [(moment - START).total_seconds() for moment in started] == [20]


@settings(max_examples=200, deadline=None)
@given(
    since_end=st.one_of(st.none(), st.floats(-10_000, 10_000)),
    live_runs=st.integers(0, 2),
    due_groups=st.integers(0, 100),
    oldest=st.integers(0, 4_000),
)
def test_no_tick_runs_beside_another_with_nothing_due_or_too_early(
    since_end: float | None, live_runs: int, due_groups: int, oldest: int
) -> None:
    numbers = Numbers(since_end=since_end, live_runs=live_runs, due_groups=due_groups, oldest_age_seconds=oldest)
    answer = _decide(numbers)

    if isinstance(answer, RunTick):
        assert live_runs == 0
        assert due_groups > 0
        assert since_end is None or since_end < 0 or since_end >= 5
    else:
        assert live_runs or not due_groups or (since_end is not None and since_end > -601)
