"""What a person does to jobs and providers; every action leaves a ``translation_event`` (S59, S64, C37)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tm_pipeline.domain.errors import ErrorKind, UsageError
from tm_pipeline.domain.jobs import ACTIVE, UNFINISHED, Job, JobSelection, JobStatus
from tm_pipeline.domain.languages import canonical
from tm_pipeline.services.calls import request_keys
from tm_pipeline.services.context import Context
from tm_pipeline.store.calls import settle_doubtful_calls
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import cancel_jobs, count_jobs, lock_jobs, restart_jobs
from tm_pipeline.store.provider_states import close_circuit, pause
from tm_pipeline.store.requests import append_request

PAGE_JOBS = 500  # one transaction: a bulk action that is killed has done whole pages
IN_DOUBT = frozenset({ErrorKind.UNKNOWN_CALL, ErrorKind.OUTPUT_INVALID})
CANCELLABLE = tuple(sorted(UNFINISHED))
RETRYABLE = tuple(sorted(frozenset(JobStatus) - ACTIVE - {JobStatus.COMPLETED}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """How many jobs a selection has and how many the action changed; a dry run changes none."""

    matched: int
    done: int = 0

    def __add__(self, other: "Acted") -> "Acted":
        return Acted(matched=self.matched + other.matched, done=self.done + other.done)


def select_jobs(
    ctx: Context,
    *,
    statuses: Sequence[str],
    domains: Sequence[str] = (),
    target_languages: Sequence[str] = (),
    resource_ids: Sequence[int] = (),
    ids: Sequence[int] = (),
) -> JobSelection:
    """A selection from what a person typed; raises ``UsageError`` that lists the right words for a wrong one."""
    unknown = [name for name in statuses if name.upper() not in JobStatus.__members__]
    if unknown or not statuses:
        found = f"There is no state {unknown[0]!r}." if unknown else "No state was chosen."
        raise UsageError(f"{found} States: {', '.join(JobStatus)}.")
    require_ids([*resource_ids, *ids])
    return JobSelection(
        statuses=[JobStatus(name.upper()) for name in statuses],
        resource_types=[ctx.domain(name).resource_type for name in domains],
        target_languages=known_languages(ctx, target_languages, domains),
        resource_ids=resource_ids,
        ids=ids,
    )


def require_ids(ids: Sequence[int]) -> None:
    """Refuse numbers that can be no id."""
    wrong = [number for number in ids if number < 1]
    if wrong:
        raise UsageError(f"Ids are whole numbers from 1; got {', '.join(str(number) for number in wrong)}.")


def known_languages(ctx: Context, tags: Sequence[str], domains: Sequence[str] = ()) -> list[str]:
    """``tags`` as the domains write them; raises ``UsageError`` for one that nothing is translated into."""
    chosen = [ctx.domain(name) for name in domains] or list(ctx.registry)
    known = sorted({language for domain in chosen for language in domain.target_languages})
    return [_one_of(known, tag) for tag in tags]


def _one_of(known: Sequence[str], tag: str) -> str:
    with suppress(UsageError):
        if canonical(tag) in known:
            return canonical(tag)
    raise UsageError(f"Nothing here is translated into {tag!r}. Target languages: {', '.join(known)}.")


def retry(ctx: Context, selection: JobSelection, *, actor: str, reason: str, dry_run: bool = False) -> Acted:
    """Make stopped jobs due now with a fresh count of attempts.

    A person who retries has decided about the calls in doubt for these texts, so they stop counting.
    """
    _only(selection, RETRYABLE, "retried")

    def restart(conn: Connection, jobs: Sequence[Job]) -> int:
        settle_doubtful_calls(conn, _keys_in_doubt(ctx, jobs))
        restart_jobs(conn, [job.id for job in jobs])
        append_events(conn, [_event(job, "retried", JobStatus.PENDING, actor, reason) for job in jobs])
        return len(jobs)

    return _act(ctx, selection, restart, dry_run=dry_run)


def _keys_in_doubt(ctx: Context, jobs: Sequence[Job]) -> list[str]:
    return [
        key
        for job in jobs
        if job.error_kind in IN_DOUBT and ctx.registry.get(job.group.resource_type) is not None
        for key in request_keys(ctx.engines.engine_for(job.group.resource_type), job)
    ]


def cancel(ctx: Context, selection: JobSelection, *, actor: str, reason: str, dry_run: bool = False) -> Acted:
    """Stop jobs; a running one stops within one call, because its fence no longer holds."""
    _only(selection, CANCELLABLE, "cancelled")

    def stop(conn: Connection, jobs: Sequence[Job]) -> int:
        moved = cancel_jobs(conn, [job.id for job in jobs], error_kind=ErrorKind.OPERATOR, message=reason)
        append_events(conn, [_event(job, "cancelled", JobStatus.CANCELLED, actor, reason) for job in jobs])
        return moved

    return _act(ctx, selection, stop, dry_run=dry_run)


def _only(selection: JobSelection, allowed: Sequence[JobStatus], done: str) -> None:
    wrong = [status.value for status in selection.statuses if status not in allowed]
    if wrong or not selection.statuses:
        raise UsageError(f"Jobs can be {done} in these states: {', '.join(allowed)}; asked for {wrong or 'none'}.")


def _event(job: Job, event: str, to_status: JobStatus, actor: str, reason: str) -> Event:
    return Event(job=job, event=event, to_status=to_status, actor=actor, reason=reason)


def _act(
    ctx: Context, selection: JobSelection, change: Callable[[Connection, Sequence[Job]], int], *, dry_run: bool
) -> Acted:
    """Count, or change page after page, each in a transaction of its own."""
    if dry_run:
        with ctx.db.read() as conn:
            return Acted(matched=count_jobs(conn, selection))
    total, after_id = Acted(matched=0), 0
    while True:
        page, last_id = ctx.db.run(lambda conn, after=after_id: _one_page(conn, selection, change, after))  # type: ignore[misc]
        if not page.matched:
            return total
        total, after_id = total + page, last_id


def _one_page(
    conn: Connection, selection: JobSelection, change: Callable[[Connection, Sequence[Job]], int], after_id: int
) -> tuple[Acted, int]:
    jobs = lock_jobs(conn, selection, limit=PAGE_JOBS, after_id=after_id)
    if not jobs:
        return Acted(matched=0), after_id
    return Acted(matched=len(jobs), done=change(conn, jobs)), jobs[-1].id


def request_translation(ctx: Context, resource_type: str, resource_id: int, *, reason: str = "operator") -> None:
    """Append one outbox row, as an application would; raises ``UsageError`` for an unknown domain."""
    ctx.domain(resource_type)
    ctx.db.run(lambda conn: append_request(conn, resource_type=resource_type, resource_id=resource_id, reason=reason))


def pause_provider(ctx: Context, name: str, *, actor: str, reason: str) -> None:
    """Stop every new call to a provider until ``resume_provider``."""
    known_providers(ctx, name)
    ctx.db.run(lambda conn: pause(conn, name, actor, reason))


def resume_provider(ctx: Context, name: str, *, actor: str, dry_run: bool = False) -> int:
    """Close the circuit and make the jobs due that it stopped; returns how many, which is all a dry run does."""
    known_providers(ctx, name)
    if not dry_run:
        ctx.db.run(lambda conn: close_circuit(conn, name))
    stopped = [
        domain.resource_type
        for domain in ctx.registry
        if ctx.engines.engine_for(domain.resource_type).provider.name == name
    ]
    if not stopped:
        return 0
    waiting = JobSelection(statuses=(JobStatus.NEEDS_CREDENTIAL,), resource_types=stopped)
    acted = retry(ctx, waiting, actor=actor, reason=f"{name} resumed", dry_run=dry_run)
    return acted.matched if dry_run else acted.done


def known_providers(ctx: Context, name: str = "") -> Sequence[str]:
    """The provider of this name, or all in use for none; raises ``UsageError`` for one that no domain uses."""
    known = ctx.engines.provider_names()
    if name and name not in known:
        raise UsageError(f"There is no provider {name!r} in use. Providers: {', '.join(known)}.")
    return [name] if name else known
