"""The numbers that are plotted: counted in keys, or capped, so that a sensor may ask for them at any size.

Counts of jobs stop at ``COUNTED_JOBS``; a window looks at the newest ``WINDOW_ROWS`` rows of the history or the
ledger at most. Exact numbers of whole tables are those of ``store/overview``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, case, func, literal, select, union_all

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.store.calls import CallState
from tm_pipeline.store.clock import now_precise, now_seconds, read_now
from tm_pipeline.store.runs import FROM_MEMORY, RECORDED
from tm_pipeline.store.tables import provider_call as c
from tm_pipeline.store.tables import read_model_refresh as r
from tm_pipeline.store.tables import translation_event as e
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline.store.tables import translation_memory as m

COUNTED_JOBS = 100_000
COUNTED_CALLS = 1_000
WINDOW_ROWS = 20_000
WINDOW_LATENCIES = 5_000
RECENT_MARKS = 2_000  # marks that failed were put off, so they are among the latest of their domain
DUE, WAITING = "due", "waiting"
STATUS_INDEX = "FORCE INDEX (idx_translation_job_status_retry)"
SHOWN = (JobStatus.RUNNING, JobStatus.FAILED, JobStatus.NEEDS_REVIEW, JobStatus.NEEDS_CREDENTIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The refresh marks of one domain: ``failing`` were put off after a failure; ages in seconds."""

    failing: int
    oldest_due_age_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The fields that were recorded in a window, by what they became; ``reused`` of the completed cost nothing."""

    statuses: Mapping[str, int]
    reused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Calls of one provider in one state, with the characters sent and the units billed."""

    provider: str
    state: str
    calls: int
    characters: int
    billed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCount:
    """The units of one engine, pair and status."""

    status: str
    engine: str
    pair: str
    units: int


def count_jobs(conn: Connection) -> dict[str, int]:
    """Jobs that are due, wait, run or stopped, each counted up to ``COUNTED_JOBS``; finished ones are not counted."""
    pending = t.c.status == JobStatus.PENDING.value
    parts = [
        _capped(DUE, pending, t.c.next_retry_at <= now_seconds()),
        _capped(WAITING, pending, t.c.next_retry_at > now_seconds()),
        *(_capped(status.value.lower(), t.c.status == status.value) for status in SHOWN),
    ]
    return {row.name: int(row.amount) for row in conn.execute(union_all(*parts))}


def _capped(name: str, *conditions: Any) -> Select[Any]:
    rows = select(literal(1).label("one")).with_hint(t, STATUS_INDEX, "mysql").where(*conditions).limit(COUNTED_JOBS)
    columns: Any = (literal(name).label("name"), func.count().label("amount"))
    return select(*columns).select_from(rows.subquery(name))


def count_marks(conn: Connection, domains: Sequence[str]) -> dict[str, Marks]:
    """The marks of each domain."""
    now = read_now(conn)
    rows = conn.execute(union_all(*(_marks(name) for name in domains))).all() if domains else []
    return {
        row.name: Marks(
            failing=int(row.failing or 0),
            oldest_due_age_seconds=max(0, int((now - row.oldest).total_seconds())) if row.oldest else 0,
        )
        for row in rows
    }


def _marks(resource_type: str) -> Select[Any]:
    mine = r.c.resource_type == resource_type
    latest = (select(r.c.attempts).where(mine).order_by(r.c.next_attempt_at.desc()).limit(RECENT_MARKS)).subquery(
        "latest"
    )
    oldest = select(func.min(r.c.next_attempt_at)).where(mine).scalar_subquery()
    failing = func.sum(case((latest.c.attempts > 0, 1), else_=0))
    return select(literal(resource_type).label("name"), failing.label("failing"), oldest.label("oldest")).select_from(
        latest
    )


def recorded_lately(conn: Connection, seconds: int) -> Recorded:
    """What workers recorded in the last ``seconds``."""
    newest = (
        select(e.c.event, e.c.to_status, e.c.reason, e.c.occurred_at).order_by(e.c.id.desc()).limit(WINDOW_ROWS)
    ).subquery("newest")
    reused = func.sum(case((newest.c.reason == FROM_MEMORY, 1), else_=0))
    statement = (
        select(newest.c.to_status, func.count(), reused)
        .where(newest.c.event == RECORDED, newest.c.occurred_at >= now_precise(-seconds))
        .group_by(newest.c.to_status)
    )
    rows = conn.execute(statement).all()
    return Recorded(
        statuses={row[0]: int(row[1]) for row in rows},
        reused=sum(int(row[2] or 0) for row in rows if row[0] == JobStatus.COMPLETED.value),
    )


def spent_lately(conn: Connection, seconds: int) -> list[Spent]:
    """The calls that began in the last ``seconds``, by provider and state."""
    columns = (c.c.provider, c.c.state, c.c.characters, c.c.billed_units, c.c.started_at)
    newest = select(*columns).order_by(c.c.id.desc()).limit(WINDOW_ROWS).subquery("newest")
    statement = _spent(newest).where(newest.c.started_at >= now_precise(-seconds))
    return _summed(conn, statement)


def spent_in_all(conn: Connection) -> list[Spent]:
    """The whole ledger by provider and state, summed in its key."""
    return _summed(conn, _spent(c))


def _spent(rows: Any) -> Select[Any]:
    return select(
        rows.c.provider,
        rows.c.state,
        func.count().label("calls"),
        func.sum(rows.c.characters).label("characters"),
        func.sum(rows.c.billed_units).label("billed"),
    ).group_by(rows.c.provider, rows.c.state)


def _summed(conn: Connection, statement: Select[Any]) -> list[Spent]:
    return [
        Spent(
            provider=row.provider,
            state=row.state,
            calls=int(row.calls),
            characters=int(row.characters),
            billed=int(row.billed),
        )
        for row in conn.execute(statement)
    ]


def latencies_lately(conn: Connection, seconds: int) -> list[int]:
    """The times in ms of the newest calls of the last ``seconds``, sorted."""
    newest = select(c.c.latency_ms, c.c.started_at).order_by(c.c.id.desc()).limit(WINDOW_LATENCIES).subquery("newest")
    statement = select(newest.c.latency_ms).where(
        newest.c.started_at >= now_precise(-seconds), newest.c.latency_ms.is_not(None)
    )
    return sorted(int(row[0]) for row in conn.execute(statement))


def count_doubtful_calls(conn: Connection) -> int:
    """Calls that may have been paid and that no person has settled, counted up to ``COUNTED_CALLS``."""
    doubtful = select(c.c.id).where(c.c.state == CallState.UNKNOWN.value, c.c.settled_at.is_(None))
    return int(conn.execute(select(func.count()).select_from(doubtful.limit(COUNTED_CALLS).subquery())).scalar_one())


def count_units(conn: Connection) -> list[UnitCount]:
    """The memory by status, engine and pair, counted in its key."""
    columns = (m.c.status, m.c.provider, m.c.source_language, m.c.target_language)
    rows = conn.execute(select(*columns, func.count().label("units")).group_by(*columns))
    return [
        UnitCount(
            status=row.status,
            engine=row.provider,
            pair=f"{row.source_language}_{row.target_language}",
            units=int(row.units),
        )
        for row in rows
    ]
