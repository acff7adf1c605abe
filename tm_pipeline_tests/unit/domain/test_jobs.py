"""Job states: every allowed change, and which bookings start a finished job again."""

from itertools import product

import pytest

from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.domain.jobs import (
    ACTIVE,
    ALLOWED_TRANSITIONS,
    BookingReason,
    GroupKey,
    JobStatus,
    reactivates,
)

# One line a state, written out by hand: P R C F V(review) K(credential) S X(cancelled).
LETTERS = dict(zip("PRCFVKSX", JobStatus, strict=True))
TABLE = {"P": "RSX", "R": "PCFVKSX", "C": "P", "F": "PRSX", "V": "PCSX", "K": "PSX", "S": "P", "X": "P"}
ALLOWED = {(LETTERS[before], LETTERS[after]) for before, row in TABLE.items() for after in row}
FINISHED = frozenset(JobStatus) - ACTIVE


@pytest.mark.parametrize(("before", "after"), list(product(JobStatus, JobStatus)))
def test_a_change_of_state_is_allowed_exactly_where_the_table_says_so(before: JobStatus, after: JobStatus) -> None:
    assert (after in ALLOWED_TRANSITIONS[before]) is ((before, after) in ALLOWED)


@pytest.mark.parametrize("status", JobStatus)
def test_no_state_is_its_own_successor_and_every_one_has_a_way_on(status: JobStatus) -> None:
    assert status not in ALLOWED_TRANSITIONS[status]
    assert ALLOWED_TRANSITIONS[status]


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_every_finished_state_can_be_started_again(status: JobStatus) -> None:
    assert JobStatus.PENDING in ALLOWED_TRANSITIONS[status]


def test_a_late_result_is_never_written_over_a_superseded_or_cancelled_job() -> None:
    for status in (JobStatus.SUPERSEDED, JobStatus.CANCELLED):
        assert JobStatus.COMPLETED not in ALLOWED_TRANSITIONS[status]


def test_only_waiting_and_held_jobs_are_active() -> None:
    assert {JobStatus.PENDING, JobStatus.RUNNING} == ACTIVE


@pytest.mark.parametrize("status", JobStatus)
def test_the_value_of_a_state_is_its_name_in_the_column(status: JobStatus) -> None:
    assert status.value == status.name


@pytest.mark.parametrize(
    ("status", "error_kind", "reasons"),
    [
        (JobStatus.PENDING, None, set()),
        (JobStatus.RUNNING, None, set()),
        (JobStatus.COMPLETED, None, set(BookingReason)),
        (JobStatus.SUPERSEDED, None, set(BookingReason)),
        (JobStatus.CANCELLED, ErrorKind.WITHDRAWN, set(BookingReason)),
        (JobStatus.CANCELLED, ErrorKind.OPERATOR, {BookingReason.READ_MISS, BookingReason.REQUEST}),
        (JobStatus.CANCELLED, None, {BookingReason.READ_MISS, BookingReason.REQUEST}),
        (JobStatus.FAILED, ErrorKind.TRANSIENT, {BookingReason.REQUEST}),
        (JobStatus.FAILED, ErrorKind.INVALID_SOURCE, {BookingReason.REQUEST}),
        (JobStatus.NEEDS_REVIEW, ErrorKind.OUTPUT_INVALID, set()),
        (JobStatus.NEEDS_CREDENTIAL, ErrorKind.QUOTA, set()),
    ],
)
def test_a_booking_starts_a_job_again_only_for_a_reason_that_may(
    status: JobStatus, error_kind: ErrorKind | None, reasons: set[BookingReason]
) -> None:
    assert {reason for reason in BookingReason if reactivates(reason, status, error_kind)} == reasons


@pytest.mark.parametrize(("reason", "status", "kind"), list(product(BookingReason, JobStatus, [None, *ErrorKind])))
def test_a_job_is_only_started_again_along_an_allowed_change(
    reason: BookingReason, status: JobStatus, kind: ErrorKind | None
) -> None:
    if reactivates(reason, status, kind):
        assert JobStatus.PENDING in ALLOWED_TRANSITIONS[status]


def test_groups_sort_by_type_resource_and_language_and_read_well() -> None:
    first = GroupKey(resource_type="content", resource_id=2, target_language="ja")
    second = GroupKey(resource_type="content", resource_id=10, target_language="en")

    assert sorted([second, first]) == [first, second]
    assert str(first) == "content-2 → ja"
