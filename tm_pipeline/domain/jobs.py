"""Jobs, groups and the one table of allowed state changes (S31–S35, S72, C62–C71)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tm_pipeline.domain.errors import ErrorKind


class JobStatus(StrEnum):
    """The state of one job; the value is what the ``status`` column holds."""

    PENDING = "PENDING"  # waits for a claim, due at next_retry_at
    RUNNING = "RUNNING"  # held by a lease
    COMPLETED = "COMPLETED"  # its translation is in the memory
    FAILED = "FAILED"  # attempts used up or permanent; an operator may retry
    NEEDS_REVIEW = "NEEDS_REVIEW"  # a person decides
    NEEDS_CREDENTIAL = "NEEDS_CREDENTIAL"  # quota or key; a person resumes
    SUPERSEDED = "SUPERSEDED"  # the source text changed
    CANCELLED = "CANCELLED"  # withdrawn by the source or stopped by an operator


ACTIVE = frozenset({JobStatus.PENDING, JobStatus.RUNNING})
STOPPED = frozenset({JobStatus.FAILED, JobStatus.NEEDS_REVIEW, JobStatus.NEEDS_CREDENTIAL})  # a person brings them on
UNFINISHED = ACTIVE | STOPPED

ALLOWED_TRANSITIONS: Mapping[JobStatus, frozenset[JobStatus]] = {
    JobStatus.PENDING: frozenset({JobStatus.RUNNING, JobStatus.SUPERSEDED, JobStatus.CANCELLED}),
    JobStatus.RUNNING: frozenset(JobStatus) - {JobStatus.RUNNING},
    JobStatus.COMPLETED: frozenset({JobStatus.PENDING}),
    JobStatus.FAILED: frozenset({JobStatus.PENDING, JobStatus.RUNNING, JobStatus.SUPERSEDED, JobStatus.CANCELLED}),
    JobStatus.NEEDS_REVIEW: frozenset(
        {JobStatus.PENDING, JobStatus.COMPLETED, JobStatus.SUPERSEDED, JobStatus.CANCELLED}
    ),
    JobStatus.NEEDS_CREDENTIAL: frozenset({JobStatus.PENDING, JobStatus.SUPERSEDED, JobStatus.CANCELLED}),
    JobStatus.SUPERSEDED: frozenset({JobStatus.PENDING}),
    JobStatus.CANCELLED: frozenset({JobStatus.PENDING}),
}


class BookingReason(StrEnum):
    """Why a translation is asked for; it decides which finished jobs start again."""

    SCAN = "scan"  # found by reconciliation: never repeats what failed or was stopped
    READ_MISS = "read_miss"  # a reader met the source text: also restarts what an operator cancelled (T45)
    REQUEST = "request"  # an application or operator asks: also restarts what failed


def reactivates(reason: BookingReason, status: JobStatus, error_kind: ErrorKind | None) -> bool:
    """Whether a booking for ``reason`` starts a job in ``status`` again (S101)."""
    if status in {JobStatus.COMPLETED, JobStatus.SUPERSEDED}:
        return True
    if status is JobStatus.CANCELLED:
        return reason is not BookingReason.SCAN or error_kind is ErrorKind.WITHDRAWN
    return status is JobStatus.FAILED and reason is BookingReason.REQUEST


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class GroupKey:
    """The unit of work: one resource in one target language (S72)."""

    resource_type: str
    resource_id: int
    target_language: str

    def __str__(self) -> str:
        return f"{self.resource_type}-{self.resource_id} → {self.target_language}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A row of ``translation_job``; times are aware UTC."""

    id: int
    group: GroupKey
    field_key: str
    source_hash: str
    source_text: str
    source_language: str
    status: JobStatus
    retry_count: int
    error_kind: ErrorKind | None = None
    last_error_message: str | None = None
    engine_key: str | None = None
    next_retry_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSelection:
    """Which jobs are meant: those that meet every condition given; an empty one does not restrict.

    ``ids`` are ids of jobs, ``resource_ids`` of the things translated.
    """

    statuses: Sequence[JobStatus] = ()
    resource_types: Sequence[str] = ()
    target_languages: Sequence[str] = ()
    resource_ids: Sequence[int] = ()
    ids: Sequence[int] = ()

    def __str__(self) -> str:
        named = {
            "states": self.statuses,
            "domains": self.resource_types,
            "languages": self.target_languages,
            "resource ids": self.resource_ids,
            "job ids": self.ids,
        }
        parts = [f"{name} {', '.join(str(one) for one in chosen)}" for name, chosen in named.items() if chosen]
        return "; ".join(parts) or "all jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDraft:
    """A job to be booked; ``status`` is PENDING unless the text can never be sent."""

    group: GroupKey
    field_key: str
    source_hash: str
    source_text: str
    source_language: str
    due_in_seconds: int = 0
    status: JobStatus = JobStatus.PENDING
    error_kind: ErrorKind | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedGroup:
    """A group held under ``token``; ``jobs`` are in id order and all RUNNING."""

    key: GroupKey
    token: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What one job of a claimed group becomes.

    ``retry_count`` is the new absolute value; ``due_in_seconds`` counts from the database's now and
    matters for PENDING only. ``translated_text`` is set for COMPLETED; ``reused`` says that it came
    from the memory or from a stored reply and was not paid for now; ``calls`` counts calls made now.
    """

    job: Job
    status: JobStatus
    retry_count: int
    due_in_seconds: int = 0
    error_kind: ErrorKind | None = None
    message: str | None = None
    translated_text: str | None = None
    engine_key: str | None = None
    engine_version: str = ""
    call_id: int | None = None
    reused: bool = False
    calls: int = 0
    characters: int = 0
    qa_warnings: tuple[str, ...] = field(default=())

    @property
    def given_back(self) -> bool:
        """Whether the work stopped before this job's turn: due again at once, nothing tried."""
        return self.status is JobStatus.PENDING and not self.due_in_seconds and self.retry_count == self.job.retry_count
