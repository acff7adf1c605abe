"""What the queue looks like: ``status`` and ``jobs``, in the shapes of design §13 (S60, S80–S84)."""

from collections.abc import Sequence

from tm_pipeline.domain.jobs import Job, JobSelection, JobStatus
from tm_pipeline.services.claim import claimable_domains
from tm_pipeline.services.context import Context
from tm_pipeline.store import jobs as job_store
from tm_pipeline.store.heartbeat import last_seen_age_seconds
from tm_pipeline.store.overview import overview
from tm_pipeline.store.provider_states import load_states
from tm_pipeline.store.read_models import count_rows


def status(ctx: Context) -> dict[str, object]:
    """The numbers of ``status --json``; ages in seconds."""
    domains = list(ctx.registry)
    claimable = claimable_domains(ctx)
    with ctx.db.read() as conn:
        seen = overview(conn, domains, claimable)
        states = load_states(conn)
        age = last_seen_age_seconds(conn)
    calls = seen.provider_calls
    completed = seen.jobs.get(JobStatus.COMPLETED.value, 0)
    paid = seen.completed_by_call
    return {
        "jobs": seen.jobs,
        "groups": {"due": seen.groups_due, "running": seen.groups_running, "waiting": seen.groups_waiting},
        "oldest_due_age_seconds": seen.oldest_due_age_seconds,
        "provider_calls": {
            "total": sum(calls.values()),
            **{name: calls.get(name.upper(), 0) for name in ("done", "refused", "unknown", "in_flight")},
        },
        "characters_billed": seen.characters_billed,
        "memory_units": seen.memory_units,
        "memory_hit_rate": round((completed - paid) / completed, 4) if completed else None,
        "read_models": seen.read_models,
        "providers": {
            name: {
                "circuit": state.circuit if state else "CLOSED",
                "blocked_until": state.blocked_until.isoformat() if state and state.blocked_until else None,
                "reason": state.reason if state else None,
            }
            for name in ctx.engines.provider_names()
            for state in (states.get(name),)
        },
        "materialize_failures": seen.materialize_failures,
        "automation": {"last_seen_age_seconds": age},
    }


def list_jobs(
    ctx: Context,
    *,
    statuses: Sequence[JobStatus] | None = None,
    resource_type: str | None = None,
    target_language: str | None = None,
    limit: int = 100,
) -> list[dict[str, object]]:
    """Jobs as ``jobs --json`` prints them, in id order."""
    if resource_type is not None:
        ctx.domain(resource_type)
    with ctx.db.read() as conn:
        selection = JobSelection(
            statuses=statuses or (),
            resource_types=[resource_type] if resource_type else (),
            target_languages=[target_language] if target_language else (),
        )
        found = job_store.list_jobs(conn, selection, limit=limit)
    return [_as_dict(ctx, job) for job in found]


def _as_dict(ctx: Context, job: Job) -> dict[str, object]:
    known = ctx.registry.get(job.group.resource_type) is not None
    provider = job.engine_key or (ctx.engines.engine_for(job.group.resource_type).key if known else None)
    times = {
        name: value.isoformat() if value else None
        for name, value in (
            ("next_retry_at", job.next_retry_at),
            ("created_at", job.created_at),
            ("updated_at", job.updated_at),
        )
    }
    return {
        "id": job.id,
        "resource_type": job.group.resource_type,
        "resource_id": job.group.resource_id,
        "field_key": job.field_key,
        "source_language": job.source_language,
        "target_language": job.group.target_language,
        "source_text": job.source_text,
        "status": job.status.value,
        "provider": provider,
        "retry_count": job.retry_count,
        "error_kind": job.error_kind.value if job.error_kind else None,
        "last_error_message": job.last_error_message,
        **times,
    }


def read_model_rows(ctx: Context, resource_type: str) -> dict[str, int]:
    """Rows of a domain's read model by locale."""
    with ctx.db.read() as conn:
        return count_rows(conn, ctx.domain(resource_type))
