"""Recording a group: memory, job states, refresh mark and history in one fenced transaction (S53, S54, S75).

The memory rows are not fenced: they are idempotent by key and were paid for, so a worker that lost
its lease still keeps what it bought.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tm_pipeline.domain.errors import ErrorKind, LeaseLostError
from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, JobOutcome, JobStatus
from tm_pipeline.domain.text import NORMALIZATION_VERSION
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.store.claims import finish_jobs
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.memory import UnitDraft, unit_key_of, upsert_units
from tm_pipeline.store.provider_states import block_until, open_circuit
from tm_pipeline.store.refreshes import mark_refresh
from tm_pipeline.store.runs import FROM_MEMORY, RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """What became of one group; ``message`` is the first thing a person should read.

    ``given_back`` of the ``retried`` jobs were not tried, because the work stopped before their turn.
    """

    key: GroupKey
    completed: int = 0
    retried: int = 0
    failed: int = 0
    review: int = 0
    credential: int = 0
    given_back: int = 0
    reused: int = 0
    calls: int = 0
    characters: int = 0
    seconds: float = 0.0
    message: str | None = None
    lost: bool = False

    @property
    def needs_person(self) -> bool:
        """Whether only a person can bring this group on."""
        return bool(self.failed or self.review or self.credential)

    @property
    def statuses(self) -> dict[str, int]:
        """Job status → count, without zeros."""
        counts = {
            JobStatus.COMPLETED: self.completed,
            JobStatus.PENDING: self.retried,
            JobStatus.FAILED: self.failed,
            JobStatus.NEEDS_REVIEW: self.review,
            JobStatus.NEEDS_CREDENTIAL: self.credential,
        }
        return {status.value: count for status, count in counts.items() if count}


def record_group(
    ctx: Context, group: ClaimedGroup, outcomes: Sequence[JobOutcome], *, run_id: str, seconds: float = 0.0
) -> GroupResult:
    """Write the outcomes; a lost lease leaves jobs and refresh mark alone and keeps the paid memory rows."""
    failpoint("before_record")
    provider = ctx.engines.engine_for(group.key.resource_type).provider.name
    units = [_unit(outcome) for outcome in outcomes if outcome.translated_text is not None]

    def write(conn: Connection) -> None:
        upsert_units(conn, units, NORMALIZATION_VERSION)
        finish_jobs(conn, group.token, outcomes)
        if not any(outcome.status is JobStatus.PENDING for outcome in outcomes):
            mark_refresh(conn, [group.key], reason="record")
        append_events(conn, [_event(outcome, run_id) for outcome in outcomes if not outcome.given_back])
        _pause_provider(conn, provider, outcomes)

    try:
        ctx.db.run(write)
    except LeaseLostError:
        if units:
            ctx.db.run(lambda conn: upsert_units(conn, units, NORMALIZATION_VERSION))
        return GroupResult(key=group.key, seconds=seconds, lost=True, message="another run has it, nothing written")
    failpoint("after_record")
    return _result(group, outcomes, seconds)


def _unit(outcome: JobOutcome) -> UnitDraft:
    job = outcome.job
    return UnitDraft(
        key=unit_key_of(job),
        source_text=job.source_text,
        translated_text=outcome.translated_text or "",
        provider=outcome.engine_key or "",
        provider_version=outcome.engine_version,
        origin_call_id=outcome.call_id,
        qa_warnings="\n".join(outcome.qa_warnings) or None,
    )


def _event(outcome: JobOutcome, run_id: str) -> Event:
    return Event(
        job=outcome.job,
        event=RECORDED,
        from_status=JobStatus.RUNNING,
        to_status=outcome.status,
        actor="pipeline",
        run_id=run_id,
        reason=outcome.message or (FROM_MEMORY if outcome.reused else None),
    )


def _pause_provider(conn: Connection, provider: str, outcomes: Sequence[JobOutcome]) -> None:
    """Stop or pause the whole provider with the jobs that met the reason, in the same transaction."""
    for outcome in outcomes:
        if outcome.status is JobStatus.NEEDS_CREDENTIAL:
            open_circuit(conn, provider, outcome.message or "quota or credential")
            return
        if outcome.error_kind is ErrorKind.RATE_LIMITED and outcome.due_in_seconds:
            block_until(conn, provider, outcome.due_in_seconds, outcome.message or "rate limited")
            return


def _result(group: ClaimedGroup, outcomes: Sequence[JobOutcome], seconds: float) -> GroupResult:
    counts = Counter(outcome.status for outcome in outcomes)
    worst = next((outcome for outcome in outcomes if outcome.status is not JobStatus.COMPLETED), None)
    return GroupResult(
        key=group.key,
        completed=counts[JobStatus.COMPLETED],
        retried=counts[JobStatus.PENDING],
        failed=counts[JobStatus.FAILED],
        review=counts[JobStatus.NEEDS_REVIEW],
        credential=counts[JobStatus.NEEDS_CREDENTIAL],
        given_back=sum(outcome.given_back for outcome in outcomes),
        reused=sum(outcome.reused for outcome in outcomes),
        calls=sum(outcome.calls for outcome in outcomes),
        characters=sum(outcome.characters for outcome in outcomes),
        seconds=seconds,
        message=f"{worst.job.field_key}: {worst.message}" if worst and worst.message else None,
    )
