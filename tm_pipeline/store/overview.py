"""Numbers about the queue: exact ones for people, capped and indexed ones for sensors (S80–S84)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, distinct, func, literal, select, union_all

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.store.candidates import DUE_INDEX, ClaimableDomain
from tm_pipeline.store.clock import now_seconds, read_now
from tm_pipeline.store.read_models import count_rows
from tm_pipeline.store.refreshes import failing
from tm_pipeline.store.tables import provider_call, translation_memory
from tm_pipeline.store.tables import translation_job as t

SNAPSHOT_ROWS = 1_000  # due rows of a domain that a sensor looks at; a backlog beyond it is a backlog anyway
PENDING, RUNNING = JobStatus.PENDING.value, JobStatus.RUNNING.value


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSnapshot:
    """What a sensor decides on. Counts stop at ``SNAPSHOT_ROWS`` rows a domain; ages and waits in seconds."""

    due_groups: int
    waiting: int
    oldest_age_seconds: int
    next_due_seconds: int | None


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


def due_snapshot(conn: Connection, domains: Sequence[ClaimableDomain]) -> DueSnapshot:
    """Due groups of the claimable domains, jobs in back-off, oldest due age and next due time: three statements."""
    now = read_now(conn)
    scans = [_due(domain.resource_type) for domain in domains]
    parts = [select(scan.subquery(f"d{number}")) for number, scan in enumerate(scans)]
    rows = conn.execute(union_all(*parts)).all() if parts else []
    later = (
        select(t.c.next_retry_at)
        .where(t.c.status == PENDING, t.c.next_retry_at > now_seconds())
        .order_by(t.c.next_retry_at)
        .limit(SNAPSHOT_ROWS)
    )
    waiting = conn.execute(later).all()
    return DueSnapshot(
        due_groups=len({row[:3] for row in rows}),
        waiting=len(waiting),
        oldest_age_seconds=max((_seconds(row.next_retry_at, now) for row in rows), default=0),
        next_due_seconds=max(0, -_seconds(waiting[0][0], now)) if waiting else None,
    )


def _due(resource_type: str) -> Select[Any]:
    """The oldest due rows of one domain by its own index, so that a paused domain's backlog is never walked."""
    return (
        select(t.c.resource_type, t.c.resource_id, t.c.target_language, t.c.next_retry_at)
        .where(t.c.resource_type == resource_type, t.c.status == PENDING, t.c.next_retry_at <= now_seconds())
        .with_hint(t, DUE_INDEX, "mysql")
        .order_by(t.c.next_retry_at, t.c.id)
        .limit(SNAPSHOT_ROWS)
    )


def _seconds(then: datetime, now: datetime) -> int:
    return int((now - then).total_seconds())


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
