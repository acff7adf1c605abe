"""Exact numbers about the queue, for people (S80–S84); sensors decide on those of ``store/snapshots``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, distinct, func, literal, select

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.store.candidates import ClaimableDomain
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.read_models import count_rows
from tm_pipeline.store.refreshes import failing
from tm_pipeline.store.snapshots import due_snapshot
from tm_pipeline.store.tables import provider_call, translation_memory
from tm_pipeline.store.tables import translation_job as t

PENDING, RUNNING = JobStatus.PENDING.value, JobStatus.RUNNING.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What ``status`` shows; counts whole tables, so it is for people and slow metrics only."""

    jobs: Mapping[str, int]
    groups_due: int
    groups_running: int
    groups_waiting: int
    oldest_due_age_seconds: int
    provider_calls: Mapping[str, int]
    characters_billed: int
    completed_by_call: int
    memory_units: int
    read_models: Mapping[str, int]
    materialize_failures: int


def overview(conn: Connection, domains: Sequence[Domain], claimable: Sequence[ClaimableDomain]) -> Overview:
    """Count everything that ``status`` shows."""
    jobs = {row[0]: int(row[1]) for row in conn.execute(select(t.c.status, func.count()).group_by(t.c.status))}
    calls = {
        row[0]: (int(row[1]), int(row[2] or 0))
        for row in conn.execute(
            select(provider_call.c.state, func.count(), func.sum(provider_call.c.billed_units)).group_by(
                provider_call.c.state
            )
        )
    }
    snapshot = due_snapshot(conn, claimable)
    paid = select(func.count(distinct(provider_call.c.request_key))).where(
        provider_call.c.state == "DONE", provider_call.c.error_kind.is_(None)
    )
    return Overview(
        jobs=jobs,
        groups_due=_groups(conn, t.c.status == PENDING, t.c.next_retry_at <= now_seconds()),
        groups_running=_groups(conn, t.c.status == RUNNING),
        groups_waiting=_groups(conn, t.c.status == PENDING, t.c.next_retry_at > now_seconds()),
        oldest_due_age_seconds=snapshot.oldest_age_seconds,
        provider_calls={state: count for state, (count, _) in calls.items()},
        characters_billed=sum(units for _, units in calls.values()),
        completed_by_call=int(conn.execute(paid).scalar_one()),
        memory_units=int(conn.execute(select(func.count()).select_from(translation_memory)).scalar_one()),
        read_models={domain.read_model.table: sum(count_rows(conn, domain).values()) for domain in domains},
        materialize_failures=failing(conn),
    )


def _groups(conn: Connection, *conditions: object) -> int:
    groups = select(t.c.resource_type, t.c.resource_id, t.c.target_language).where(*conditions).distinct()  # type: ignore[arg-type]
    return int(conn.execute(select(func.count(literal(1))).select_from(groups.subquery())).scalar_one())
