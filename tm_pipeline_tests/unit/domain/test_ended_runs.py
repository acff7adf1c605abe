"""The last end and the wait after failures, with a clock that steps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.ended_runs import (
    LONGEST_WAIT_SECONDS,
    EndedRun,
    RunHistory,
    last_to_end_first,
    wait_after_failures,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def runs(*seconds_ago: float, failed: bool = False) -> list[EndedRun]:
    """Runs in the order of their creation, the newest first, by how long ago they ended."""
    return [
        EndedRun(run_id=str(number), ended=NOW - timedelta(seconds=ago), failed=failed)
        for number, ago in enumerate(seconds_ago)
    ]


def ids(found: list[EndedRun]) -> list[str]:
    return [run.run_id for run in found]


@pytest.mark.parametrize(
    ("seconds_ago", "order"),
    [
        ((), []),
        ((10, 20, 30), ["0", "1", "2"]),
        ((30, 10, 20), ["1", "2", "0"]),
        ((10, -3_600, 20), ["0", "2"]),
        ((-3_600, 10, 20), ["0", "1", "2"]),
    ],
    ids=["none", "in-order", "a-queued-one-ended-later", "clock-stepped-back-before-the-last", "and-after-it"],
)
def test_the_last_to_end_comes_first_and_a_future_end_counts_only_as_the_newest(
    seconds_ago: tuple[float, ...], order: list[str]
) -> None:
    assert ids(last_to_end_first(runs(*seconds_ago), NOW)) == order


def test_the_last_created_run_names_its_successor_even_where_an_older_end_comes_last() -> None:
    history = RunHistory.of(runs(30, 10), NOW)
    assert (history.last_created, history.last_end) == ("0", NOW - timedelta(seconds=10))
    assert (RunHistory.of([], NOW).last_created, RunHistory.of([], NOW).last_end) == ("none", None)


def test_failures_before_a_step_back_of_the_clock_do_not_start_run_after_run() -> None:
    created = runs(1, -3_600, -3_590, failed=True)
    assert wait_after_failures(last_to_end_first(created, NOW), NOW) == 14


@settings(max_examples=200, deadline=None)
@given(
    ago=st.lists(st.floats(-100_000, 100_000), max_size=8),
    failed=st.booleans(),
    longest=st.integers(15, LONGEST_WAIT_SECONDS),
)
def test_no_wait_is_longer_than_its_bound_whatever_the_clock_says(
    ago: list[float], longest: int, *, failed: bool
) -> None:
    wait = wait_after_failures(last_to_end_first(runs(*ago, failed=failed), NOW), NOW, longest=longest)
    assert 0 <= wait <= longest
    assert failed or wait == 0


@settings(max_examples=200, deadline=None)
@given(ago=st.lists(st.floats(-100_000, 100_000), min_size=1, max_size=8))
def test_the_newest_run_is_never_forgotten(ago: list[float]) -> None:
    assert "0" in ids(last_to_end_first(runs(*ago), NOW))
