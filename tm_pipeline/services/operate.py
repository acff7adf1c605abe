"""What a person does to jobs and providers; every action leaves a ``translation_event`` (S59, S64, C37)."""

from collections.abc import Sequence
from dataclasses import dataclass

from tm_pipeline.domain.errors import ErrorKind, UsageError
from tm_pipeline.domain.jobs import ACTIVE, STOPPED, UNFINISHED, Job, JobStatus
from tm_pipeline.services.context import Context
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import cancel_jobs, list_jobs, retry_jobs
from tm_pipeline.store.provider_states import close_circuit, pause
from tm_pipeline.store.requests import append_request

BULK_LIMIT = 1_000
PAGE_JOBS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which jobs an action is for; None means any."""

    statuses: Sequence[JobStatus] = tuple(sorted(STOPPED))
    resource_type: str | None = None
    target_language: str | None = None
    ids: Sequence[int] | None = None


def matching(ctx: Context, selection: Selection, *, limit: int = BULK_LIMIT) -> list[Job]:
    """The jobs of a selection, at most ``limit``: what a dry run shows."""
    with ctx.db.read() as conn:
        found: list[Job] = []
        after_id = 0
        while len(found) < limit:
            page = list_jobs(
                conn,
                statuses=selection.statuses,
                resource_type=selection.resource_type,
                target_language=selection.target_language,
                ids=selection.ids,
                limit=PAGE_JOBS,
                after_id=after_id,
            )
            found.extend(page)
            if len(page) < PAGE_JOBS:
                break
            after_id = page[-1].id
    return found[:limit]


def retry(ctx: Context, selection: Selection, *, actor: str, reason: str, dry_run: bool = False) -> int:
    """Make the jobs due now with a fresh count of attempts; returns how many."""
    if set(selection.statuses) & (ACTIVE | {JobStatus.COMPLETED}):
        raise UsageError(f"Only {', '.join(sorted(STOPPED))}, SUPERSEDED or CANCELLED jobs can be retried.")
    jobs = matching(ctx, selection)
    if dry_run or not jobs:
        return len(jobs)

    def write(conn: Connection) -> int:
        moved = retry_jobs(conn, statuses=selection.statuses, ids=[job.id for job in jobs], limit=BULK_LIMIT)
        append_events(
            conn,
            [Event(job=job, event="retried", to_status=JobStatus.PENDING, actor=actor, reason=reason) for job in moved],
        )
        return len(moved)

    return ctx.db.run(write)


def cancel(ctx: Context, selection: Selection, *, actor: str, reason: str, dry_run: bool = False) -> int:
    """Stop jobs; a running one stops within one call, because its fence no longer holds."""
    jobs = [job for job in matching(ctx, selection) if job.status in UNFINISHED]
    if dry_run or not jobs:
        return len(jobs)

    def write(conn: Connection) -> int:
        moved = cancel_jobs(conn, [job.id for job in jobs], error_kind=ErrorKind.OPERATOR, message=reason)
        append_events(
            conn,
            [
                Event(job=job, event="cancelled", to_status=JobStatus.CANCELLED, actor=actor, reason=reason)
                for job in jobs
            ],
        )
        return moved

    return ctx.db.run(write)


def request_translation(ctx: Context, resource_type: str, resource_id: int, *, reason: str = "operator") -> None:
    """Append one outbox row, as an application would; raises ``UsageError`` for an unknown domain."""
    ctx.domain(resource_type)
    ctx.db.run(lambda conn: append_request(conn, resource_type=resource_type, resource_id=resource_id, reason=reason))


def pause_provider(ctx: Context, name: str, *, actor: str, reason: str) -> None:
    """Stop every new call to a provider until ``resume_provider``."""
    _check_provider(ctx, name)
    ctx.db.run(lambda conn: pause(conn, name, actor, reason))


def resume_provider(ctx: Context, name: str, *, actor: str) -> int:
    """Close the circuit and make the jobs due that it stopped; returns how many."""
    _check_provider(ctx, name)
    ctx.db.run(lambda conn: close_circuit(conn, name))
    stopped = [
        domain.resource_type
        for domain in ctx.registry
        if ctx.engines.engine_for(domain.resource_type).provider.name == name
    ]
    return sum(
        retry(
            ctx,
            Selection(statuses=(JobStatus.NEEDS_CREDENTIAL,), resource_type=resource_type),
            actor=actor,
            reason=f"{name} resumed",
        )
        for resource_type in stopped
    )


def _check_provider(ctx: Context, name: str) -> None:
    known = ctx.engines.provider_names()
    if name not in known:
        raise UsageError(f"There is no provider {name!r} in use. Providers: {', '.join(known)}.")
