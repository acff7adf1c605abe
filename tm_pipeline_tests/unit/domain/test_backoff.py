"""Back-off: within its bounds, growing to the cap, never zero by accident."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.backoff import backoff_seconds

ALMOST_ONE = 1 - 2**-53
JITTER = st.floats(0, 1, exclude_max=True)


@settings(max_examples=200, deadline=None)
@given(attempt=st.integers(-5, 10_000), base=st.integers(1, 10_000), cap=st.integers(1, 100_000), jitter=JITTER)
def test_the_wait_is_between_half_and_all_of_the_full_delay(attempt: int, base: int, cap: int, jitter: float) -> None:
    full = min(cap, base * 2 ** max(attempt - 1, 0))
    wait = backoff_seconds(attempt, base=base, cap=cap, jitter=jitter)

    assert max(1, full // 2) <= wait <= full


@settings(max_examples=100, deadline=None)
@given(attempt=st.integers(1, 100), base=st.integers(0, 1_000), cap=st.integers(0, 100_000), jitter=JITTER)
def test_a_later_attempt_never_waits_less_under_the_same_jitter(
    attempt: int, base: int, cap: int, jitter: float
) -> None:
    first = backoff_seconds(attempt, base=base, cap=cap, jitter=jitter)
    second = backoff_seconds(attempt + 1, base=base, cap=cap, jitter=jitter)

    assert first <= second


@pytest.mark.parametrize(
    ("attempt", "jitter", "seconds"),
    [
        (1, 0.0, 30),
        (1, ALMOST_ONE, 60),
        (2, 0.0, 60),
        (2, 0.5, 90),
        (5, ALMOST_ONE, 960),
        (7, 0.0, 1_800),
        (7, ALMOST_ONE, 3_600),
        (1_000_000, ALMOST_ONE, 3_600),
        (0, 0.0, 30),
    ],
)
def test_the_wait_doubles_with_each_attempt_up_to_the_cap(attempt: int, jitter: float, seconds: int) -> None:
    assert backoff_seconds(attempt, base=60, cap=3_600, jitter=jitter) == seconds


def test_a_delay_of_one_second_never_rounds_to_none() -> None:
    assert backoff_seconds(1, base=1, cap=100, jitter=0.0) == 1


@pytest.mark.parametrize(("base", "cap"), [(0, 100), (10, 0), (0, 0)])
def test_no_wait_comes_only_from_a_base_or_cap_of_zero(base: int, cap: int) -> None:
    assert backoff_seconds(3, base=base, cap=cap, jitter=0.9) == 0
