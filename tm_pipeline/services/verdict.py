"""What a fault means for a job: one table from error class to state (S61–S65, facts/providers.md §5.3)."""

from collections.abc import Callable
from math import ceil

from tm_pipeline.domain.errors import (
    ErrorKind,
    InvalidSourceError,
    ProviderError,
    RateLimitedError,
    TmPipelineError,
)
from tm_pipeline.domain.jobs import Job, JobOutcome, JobStatus
from tm_pipeline.services.calls import CallLimitError

MESSAGE_CHARACTERS = 2_000

FINAL = {
    ErrorKind.INVALID_SOURCE: JobStatus.FAILED,
    ErrorKind.INVALID_INPUT: JobStatus.FAILED,
    ErrorKind.UNSUPPORTED_PAIR: JobStatus.FAILED,
    ErrorKind.LANGUAGE_UNDETERMINED: JobStatus.NEEDS_REVIEW,
    ErrorKind.CONTENT_REFUSED: JobStatus.NEEDS_REVIEW,
    ErrorKind.UNKNOWN_CALL: JobStatus.NEEDS_REVIEW,
    ErrorKind.QUOTA: JobStatus.NEEDS_CREDENTIAL,
    ErrorKind.CREDENTIAL: JobStatus.NEEDS_CREDENTIAL,
    ErrorKind.CONFIGURATION: JobStatus.NEEDS_CREDENTIAL,
}


def kind_of(error: TmPipelineError) -> ErrorKind:
    """The kind under which ``error`` is stored."""
    if isinstance(error, ProviderError | CallLimitError):
        return error.kind
    return ErrorKind.INVALID_SOURCE if isinstance(error, InvalidSourceError) else ErrorKind.INTERNAL


def outcome_of_error(
    job: Job, error: TmPipelineError, *, max_retries: int, backoff: Callable[[int], int]
) -> JobOutcome:
    """The next state of ``job`` after ``error``; ``backoff`` maps the attempt number to seconds."""
    kind = kind_of(error)
    message = str(error)[:MESSAGE_CHARACTERS]
    if isinstance(error, RateLimitedError):
        asked = error.retry_after_seconds
        pause = max(1, backoff(1) if asked is None else ceil(asked))
        return deferred(job, message, seconds=pause, kind=kind)
    if isinstance(error, CallLimitError):
        return _ended(job, JobStatus.NEEDS_REVIEW, job.retry_count, kind, message)
    if kind in FINAL:
        return _ended(job, FINAL[kind], job.retry_count, kind, message)
    attempts = job.retry_count + 1
    if attempts >= max_retries:
        status = JobStatus.NEEDS_REVIEW if kind is ErrorKind.OUTPUT_INVALID else JobStatus.FAILED
        return _ended(job, status, attempts, kind, message)
    return JobOutcome(
        job=job,
        status=JobStatus.PENDING,
        retry_count=attempts,
        due_in_seconds=backoff(attempts),
        error_kind=kind,
        message=message,
    )


def _ended(job: Job, status: JobStatus, attempts: int, kind: ErrorKind, message: str) -> JobOutcome:
    return JobOutcome(job=job, status=status, retry_count=attempts, error_kind=kind, message=message)


def deferred(job: Job, message: str, *, seconds: int, kind: ErrorKind = ErrorKind.IN_FLIGHT) -> JobOutcome:
    """Back to PENDING for ``seconds`` without burning an attempt."""
    return JobOutcome(
        job=job,
        status=JobStatus.PENDING,
        retry_count=job.retry_count,
        due_in_seconds=seconds,
        error_kind=kind,
        message=message,
    )


def released(job: Job, paused: ProviderError | None) -> JobOutcome:
    """Back to PENDING, due now: the work stopped before this job's turn."""
    return JobOutcome(
        job=job,
        status=JobStatus.PENDING,
        retry_count=job.retry_count,
        error_kind=job.error_kind,
        message=f"Not tried: the provider stopped ({paused})"[:MESSAGE_CHARACTERS]
        if paused
        else job.last_error_message,
    )
