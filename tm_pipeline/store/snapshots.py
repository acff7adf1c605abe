"""The numbers that sensors decide on: capped, indexed, one statement each whatever the number of domains.

Counts stop at ``SNAPSHOT_ROWS`` rows a domain: a backlog beyond it is a backlog anyway. The database counts,
so that a sensor fetches two rows a domain and not a thousand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, func, literal, select, union_all

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.store.candidates import DUE_INDEX, ClaimableDomain
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.tables import read_model_refresh, sensor_watermark, source_table
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline.store.watermarks import Watermark

SNAPSHOT_ROWS = 1_000
PENDING = JobStatus.PENDING.value
DUE, WAITING = 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSnapshot:
    """What is due and what waits. Ages and waits in seconds; ``stopped_domains`` may not call their provider now."""

    due_groups: int
    waiting: int
    oldest_age_seconds: int
    next_due_seconds: int | None
    stopped_domains: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshSnapshot:
    """Domains with due refresh marks, marks in back-off, and when the next of these is due."""

    due_domains: tuple[str, ...]
    waiting: int
    next_due_seconds: int | None


def due_snapshot(conn: Connection, domains: Sequence[ClaimableDomain], *, stopped_domains: int = 0) -> DueSnapshot:
    """Due groups, jobs in back-off, oldest due age and next due time of ``domains``, in one statement."""
    rows = _numbers(conn, [part for domain in domains for part in _job_parts(domain.resource_type)])
    due, waiting = _of(rows, DUE), _of(rows, WAITING)
    return DueSnapshot(
        due_groups=sum(row.amount for row in due),
        waiting=sum(row.amount for row in waiting),
        oldest_age_seconds=max((_seconds(row.first, row.now) for row in due), default=0),
        next_due_seconds=_next(waiting),
        stopped_domains=stopped_domains,
    )


def _job_parts(resource_type: str) -> tuple[Select[Any], Select[Any]]:
    """The oldest due rows and the next waiting ones of a domain by its own index: another's backlog is never walked."""
    mine = (t.c.resource_type == resource_type, t.c.status == PENDING)
    columns = (t.c.resource_id, t.c.target_language, t.c.next_retry_at)
    scan = select(*columns).with_hint(t, DUE_INDEX, "mysql").order_by(t.c.next_retry_at).limit(SNAPSHOT_ROWS)
    due = scan.where(*mine, t.c.next_retry_at <= now_seconds()).subquery("due")
    groups = (
        select(func.min(due.c.next_retry_at).label("at")).group_by(due.c.resource_id, due.c.target_language)
    ).subquery("groups_due")
    later = scan.where(*mine, t.c.next_retry_at > now_seconds()).subquery("later")
    return _part(resource_type, DUE, groups, groups.c.at), _part(resource_type, WAITING, later, later.c.next_retry_at)


def refresh_snapshot(conn: Connection, domains: Sequence[str]) -> RefreshSnapshot:
    """Due and waiting refresh marks of ``domains``, in one statement."""
    r = read_model_refresh
    parts = []
    for name in domains:
        scan = select(r.c.next_attempt_at).where(r.c.resource_type == name).order_by(r.c.next_attempt_at)
        due = scan.where(r.c.next_attempt_at <= now_seconds()).limit(1).subquery("due")
        later = scan.where(r.c.next_attempt_at > now_seconds()).limit(SNAPSHOT_ROWS).subquery("later")
        parts += [_part(name, DUE, due, due.c.next_attempt_at), _part(name, WAITING, later, later.c.next_attempt_at)]
    rows = _numbers(conn, parts)
    waiting = _of(rows, WAITING)
    return RefreshSnapshot(
        due_domains=tuple(row.resource_type for row in _of(rows, DUE)),
        waiting=sum(row.amount for row in waiting),
        next_due_seconds=_next(waiting),
    )


def watermarks(conn: Connection) -> tuple[Mapping[str, Watermark], datetime | None]:
    """Every domain's watermark, and the database's now; None where there is no watermark at all."""
    w = sensor_watermark
    rows = conn.execute(select(w.c.resource_type, w.c.watermark, w.c.last_full_at, _now())).all()
    marks = {row.resource_type: Watermark(watermark=row.watermark, last_full_at=row.last_full_at) for row in rows}
    return marks, _aware(rows[0].now) if rows else None


def latest_changes(conn: Connection, domains: Sequence[Domain]) -> Mapping[str, datetime]:
    """The newest ``updated_at`` of each source table that has one and a row, in one statement."""
    parts = []
    for domain in domains:
        if domain.source.updated_at_column is not None:
            changed = source_table(domain).c[domain.source.updated_at_column]
            newest = select(changed).order_by(changed.desc()).limit(1).scalar_subquery()
            parts.append(select(literal(domain.resource_type).label("resource_type"), newest.label("changed")))
    rows = conn.execute(union_all(*parts)).all() if parts else []
    return {row.resource_type: row.changed for row in rows if row.changed is not None}


def _part(resource_type: str, kind: int, rows: Any, at: Any) -> Select[Any]:
    return select(
        literal(resource_type).label("resource_type"),
        literal(kind).label("kind"),
        func.count().label("amount"),
        func.min(at).label("first"),
        _now(),
    ).select_from(rows)


def _numbers(conn: Connection, parts: Sequence[Select[Any]]) -> Sequence[Any]:
    return conn.execute(union_all(*parts)).all() if parts else []


def _of(rows: Sequence[Any], kind: int) -> list[Any]:
    return [row for row in rows if row.kind == kind and row.amount]


def _next(waiting: Sequence[Any]) -> int | None:
    return min((max(0, -_seconds(row.first, row.now)) for row in waiting), default=None)


def _now() -> Any:
    return now_precise().label("now")


def _aware(moment: Any) -> datetime:
    parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _seconds(then: datetime, now: datetime) -> int:
    return int((_aware(now) - then).total_seconds())
