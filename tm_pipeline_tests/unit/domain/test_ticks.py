"""Ticks: a table of what the numbers say, and a clock that runs, stops and steps back."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.ended_runs import EndedRun, RunHistory, wait_after_failures
from tm_pipeline.domain.ticks import RunTick, SkipTick, TickSettings, decide_drain, decide_immediate, decide_tick

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
    stopped_domains: int = 0
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
        stopped_domains=numbers.stopped_domains,
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
        Numbers(due_groups=0, waiting=12, next_due_seconds=184, stopped_domains=8),
        "0 due, 12 waiting for back-off, next in 184 s; 8 domains wait for a stopped provider",
        id="stopped-provider",
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


def _drain(due: int, oldest: int = 0, *, live: int = 0, wait: int = 0) -> RunTick | SkipTick:
    return decide_drain(
        live_runs=live,
        wait_seconds=wait,
        due_groups=due,
        oldest_age_seconds=oldest,
        settings=TickSettings(),
        host="host-a",
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (_drain(50), RunTick(reason="backlog: 50 due of 50, oldest 0 s of 1800 s")),
        (_drain(1, 1_800), RunTick(reason="backlog: 1 due of 50, oldest 1800 s of 1800 s")),
        (_drain(49, 1_799), SkipTick(reason="49 due of 50, oldest 1799 s of 1800 s: no backlog")),
        (_drain(0, 9_999), SkipTick(reason="0 due of 50, oldest 9999 s of 1800 s: no backlog")),
        (_drain(500, live=1), SkipTick(reason="a backlog run is live on host-a (1)")),
        (_drain(500, wait=15), SkipTick(reason="the last backlog run on host-a failed, next try in 15 s")),
    ],
)
def test_a_backlog_run_says_its_numbers_and_their_thresholds(
    answer: RunTick | SkipTick, expected: RunTick | SkipTick
) -> None:
    assert answer == expected


def _immediate(due: int, *, domains: int = 2, live: int = 0, wait: int = 0, waiting: int = 0) -> RunTick | SkipTick:
    return decide_immediate(
        domains=domains,
        live_runs=live,
        wait_seconds=wait,
        due_groups=due,
        waiting=waiting,
        next_due_seconds=40 if waiting else None,
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (_immediate(1), RunTick(reason="immediate: 1 due of 2 immediate domains")),
        (_immediate(0), SkipTick(reason="0 due of 2 immediate domains, 0 waiting for back-off")),
        (
            _immediate(0, waiting=3),
            SkipTick(reason="0 due of 2 immediate domains, 3 waiting for back-off, next in 40 s"),
        ),
        (_immediate(9, live=1), SkipTick(reason="an immediate run is live (1)")),
        (_immediate(9, wait=30), SkipTick(reason="the last immediate run failed, next try in 30 s")),
        (_immediate(9, domains=0), SkipTick(reason="no domain is immediate")),
    ],
)
def test_an_immediate_run_starts_at_once_but_never_beside_another_or_straight_after_a_failure(
    answer: RunTick | SkipTick, expected: RunTick | SkipTick
) -> None:
    assert answer == expected


@dataclass(slots=True)
class Lane:
    """Runs of one lane as Dagster keeps them, on a clock that steps; ``real`` is the time that passed in truth."""

    clock: FakeClock = field(default_factory=FakeClock)
    real: float = 0.0
    created: list[EndedRun] = field(default_factory=list)
    live_until: float | None = None
    started: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def pass_second(self, step: float) -> None:
        self.real += 1
        self.clock.move(1 + step)
        if self.live_until is not None and self.real >= self.live_until:
            self.created.insert(0, EndedRun(run_id=str(len(self.created)), ended=self.clock.now, failed=False))
            self.ended.append(self.real)
            self.live_until = None

    def start(self, key: str, seconds: int) -> None:
        self.keys.append(key)
        self.started.append(self.real)
        self.live_until = self.real + seconds


DELAY, SHORT, MANY = 30, 5, 10
CLOCK_STEPS = st.dictionaries(st.integers(0, 399), st.floats(-7_200, 7_200), max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    steps=CLOCK_STEPS,
    due=st.lists(st.integers(0, 20), min_size=8, max_size=8),
    work=st.integers(1, 20),
)
def test_ticks_keep_their_delay_never_overlap_and_survive_every_step_of_the_clock(
    steps: dict[int, float], due: list[int], work: int
) -> None:
    lane, tick_settings = (
        Lane(),
        TickSettings(fixed_delay_seconds=DELAY, backlog_groups=MANY, backlog_delay_seconds=SHORT),
    )
    due_at: list[int] = []
    for second in range(400):
        due_groups = due[second // 50]
        ended = RunHistory.of(lane.created[:8], lane.clock.now)
        answer = decide_tick(
            now=lane.clock.now,
            last_end=ended.last_end,
            live_runs=int(lane.live_until is not None),
            due_groups=due_groups,
            waiting=0,
            next_due_seconds=None,
            oldest_age_seconds=0,
            settings=tick_settings,
        )
        if isinstance(answer, RunTick):
            assert lane.live_until is None, "two ticks at once"
            lane.start(f"tick-after-{ended.last_created}", work)
            due_at.append(due_groups)
        lane.pass_second(steps.get(second, 0.0))

    # A repeated key would be dropped by Dagster, and nothing would ever run again.
    assert len(lane.keys) == len(set(lane.keys))
    gaps = [begun - over for over, begun in zip(lane.ended, lane.started[1:], strict=False)]
    early = [gap for gap, groups in zip(gaps, due_at[1:], strict=True) if gap < (SHORT if groups >= MANY else DELAY)]
    assert len(early) <= len(steps), "more early ticks than steps of the clock"
    if all(due):
        longest = max([lane.started[0], *gaps, 400 - (lane.ended or [0])[-1] if lane.live_until is None else 0])
        assert longest <= 2 * DELAY + 1 + DELAY * len(steps), "the ticks stopped"


@settings(max_examples=60, deadline=None)
@given(steps=CLOCK_STEPS, work=st.integers(1, 20))
def test_immediate_runs_follow_each_other_without_delay_whatever_the_clock_does(
    steps: dict[int, float], work: int
) -> None:
    lane = Lane()
    for second in range(200):
        ended = RunHistory.of(lane.created[:8], lane.clock.now)
        answer = decide_immediate(
            domains=1,
            live_runs=int(lane.live_until is not None),
            wait_seconds=wait_after_failures(ended.runs, lane.clock.now),
            due_groups=1,
            waiting=0,
            next_due_seconds=None,
        )
        if isinstance(answer, RunTick):
            assert lane.live_until is None, "two immediate runs at once"
            lane.start(f"immediate-after-{ended.last_created}", work)
        lane.pass_second(steps.get(second, 0.0))
    assert len(lane.keys) == len(set(lane.keys))
    assert [begun - over for over, begun in zip(lane.ended, lane.started[1:], strict=False)] == [0] * (
        len(lane.started) - 1
    )
