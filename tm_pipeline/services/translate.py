"""Translating one claimed group, field after field: memory → stored reply → paid call (S53, S69, S74).

No transaction is open while an engine is called. What a fault means for a job is decided in ``verdict``.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tm_pipeline.domain.errors import (
    InvalidSourceError,
    OutputInvalidError,
    ProviderError,
    ProviderStoppedError,
    RateLimitedError,
)
from tm_pipeline.domain.jobs import ClaimedGroup, Job, JobOutcome, JobStatus
from tm_pipeline.domain.languages import same_language
from tm_pipeline.domain.qa import Severity, check
from tm_pipeline.domain.text import NORMALIZATION_VERSION, source_hash
from tm_pipeline.ports import Engine
from tm_pipeline.services.calls import (
    CallInFlightError,
    CallLimitError,
    Reply,
    known_calls,
    obtain,
    pieces_of,
    request_key,
)
from tm_pipeline.services.context import Context
from tm_pipeline.services.verdict import deferred, outcome_of_error, released
from tm_pipeline.store.calls import Call, mark_reply_invalid
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.memory import Unit, UnitKey, find_units, unit_key_of


def translate_group(
    ctx: Context, group: ClaimedGroup, *, run_id: str, keep_going: Callable[[], bool]
) -> list[JobOutcome]:
    """One outcome per job of ``group``.

    Jobs after ``keep_going`` turned false, or after the provider stopped, are released without burning an attempt.
    """
    engine = ctx.engines.engine_for(group.key.resource_type)
    units = _memory(ctx, group, engine)
    outcomes: list[JobOutcome] = []
    open_jobs: list[Job] = []
    for job in group.jobs:
        reused = _without_a_call(job, units)
        if reused is None:
            open_jobs.append(job)
        else:
            outcomes.append(reused)
    pieces = {job.id: pieces_of(engine, job) for job in open_jobs}
    keys = [request_key(engine, job, piece) for job in open_jobs for piece in pieces[job.id]]
    ledger = known_calls(ctx, keys)
    paid: dict[str, Reply] = {}
    paused: ProviderError | None = None
    for job in open_jobs:
        if paused is not None or not keep_going():
            outcomes.append(released(job, paused))
            continue
        outcome, paused = _translate_job(
            ctx, engine, job, pieces[job.id], ledger, paid, run_id=run_id, going=keep_going
        )
        outcomes.append(outcome)
    return outcomes


def _memory(ctx: Context, group: ClaimedGroup, engine: Engine) -> Mapping[UnitKey, Unit]:
    keys = {unit_key_of(job) for job in group.jobs}
    with ctx.db.read() as conn:
        return find_units(conn, keys, engine.key, NORMALIZATION_VERSION)


def _without_a_call(job: Job, units: Mapping[UnitKey, Unit]) -> JobOutcome | None:
    """The outcome of a job that costs nothing: a bad row, the same language, or a memory hit."""
    if source_hash(job.source_text) != job.source_hash:
        error = InvalidSourceError(
            "The stored text does not belong to its hash (too long for its column, or written by other rules). "
            "Book the resource again from its source row."
        )
        return outcome_of_error(job, error, max_retries=0, backoff=lambda _attempt: 0)
    if same_language(job.source_language, job.group.target_language):
        return JobOutcome(
            job=job, status=JobStatus.COMPLETED, retry_count=job.retry_count, reused=True, engine_key=None
        )
    unit = units.get(unit_key_of(job))
    if unit is None or unit.source_text != job.source_text:
        return None
    return JobOutcome(
        job=job,
        status=JobStatus.COMPLETED,
        retry_count=job.retry_count,
        reused=True,
        engine_key=unit.provider,
    )


def _translate_job(
    ctx: Context,
    engine: Engine,
    job: Job,
    pieces: Sequence[str],
    ledger: Mapping[str, Sequence[Call]],
    paid: dict[str, Reply],
    *,
    run_id: str,
    going: Callable[[], bool],
) -> tuple[JobOutcome, ProviderError | None]:
    """The job's outcome, and the error that stops the whole provider where there is one.

    ``paid`` holds the replies of this group, so that equal texts in two of its fields cost one call. A long text
    stops between two pieces; the ledger keeps those that were paid.
    """
    decide = functools.partial(outcome_of_error, job, max_retries=ctx.policy.max_retries, backoff=ctx.backoff)
    replies: list[Reply] = []
    try:
        for piece in pieces:
            if replies and not going():
                return released(job, None), None
            key = request_key(engine, job, piece)
            reply = paid.get(key) or obtain(ctx, engine, job, piece, ledger.get(key, ()), run_id=run_id)
            paid[key] = replace(reply, replayed=True, characters=0)
            replies.append(reply)
        return _accepted(engine, job, replies), None
    except CallInFlightError as error:
        return deferred(job, str(error), seconds=max(1, ctx.policy.lease_seconds // 8)), None
    except CallLimitError as error:
        return decide(error), None
    except OutputInvalidError as error:
        _refuse_replies(ctx, replies, str(error))
        return decide(error), None
    except ProviderError as error:
        return decide(error), error if isinstance(error, RateLimitedError | ProviderStoppedError) else None


def _refuse_replies(ctx: Context, replies: Sequence[Reply], message: str) -> None:
    def write(conn: Connection) -> None:
        for reply in replies:
            mark_reply_invalid(conn, reply.call_id, message)

    if replies:
        ctx.db.run(write)


def _accepted(engine: Engine, job: Job, replies: Sequence[Reply]) -> JobOutcome:
    """The completed outcome of joined replies; raises ``OutputInvalidError`` where a check refuses them."""
    text = "".join(reply.text for reply in replies)
    findings = check(job.source_text, text)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise OutputInvalidError("; ".join(f"{finding.check}: {finding.message}" for finding in errors))
    return JobOutcome(
        job=job,
        status=JobStatus.COMPLETED,
        retry_count=job.retry_count,
        translated_text=text,
        engine_key=engine.key,
        engine_version=engine.provider.version,
        call_id=replies[-1].call_id if replies else None,
        reused=all(reply.replayed for reply in replies),
        calls=sum(not reply.replayed for reply in replies),
        characters=sum(reply.characters for reply in replies),
        qa_warnings=tuple(f"{finding.check}: {finding.message}" for finding in findings),
    )
