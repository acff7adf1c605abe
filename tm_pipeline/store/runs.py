"""What one chain of runs holds and did, found by its root run id, and what there is of one group."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from tm_pipeline.domain.jobs import GroupKey, JobStatus
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.tables import provider_call, translation_event, translation_job

RECORDED = "recorded"
FROM_MEMORY = "memory"
LATENCIES = 10_000  # the newest of a run; percentiles of more would not differ


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounts:
    """The recorded fields of one group by what they became; ``reused`` of the completed were not paid for."""

    key: GroupKey
    statuses: dict[str, int]
    reused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """The ledger's rows of a chain: characters sent, units billed; latencies in ms, sorted."""

    calls: int
    characters: int
    billed: int
    latencies_ms: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """The jobs of a group by status; who holds a live lease on it; whether some of it is due now."""

    statuses: dict[str, int]
    held_by: str | None
    due: bool


def recorded_groups(conn: Connection, run_id: str) -> list[GroupCounts]:
    """What a chain recorded, group by group in the order of their record; of each field only what it became last."""
    e = translation_event
    last = (
        select(func.max(e.c.id).label("id"))
        .where(e.c.run_id == run_id, e.c.event == RECORDED)
        .group_by(e.c.job_id)
        .subquery("last_records")
    )
    statement = (
        select(
            e.c.resource_type,
            e.c.resource_id,
            e.c.target_language,
            e.c.to_status,
            func.count(),
            func.sum(case((e.c.reason == FROM_MEMORY, 1), else_=0)),
        )
        .join(last, last.c.id == e.c.id)
        .group_by(e.c.resource_type, e.c.resource_id, e.c.target_language, e.c.to_status)
        .order_by(func.min(e.c.id))
    )
    found: dict[GroupKey, tuple[dict[str, int], int]] = {}
    for resource_type, resource_id, language, status, count, reused in conn.execute(statement):
        key = GroupKey(resource_type=resource_type, resource_id=int(resource_id), target_language=language)
        statuses, before = found.get(key, ({}, 0))
        statuses[status] = statuses.get(status, 0) + int(count)
        found[key] = (statuses, before + int(reused or 0))
    return [GroupCounts(key=key, statuses=statuses, reused=reused) for key, (statuses, reused) in found.items()]


def calls_of_run(conn: Connection, run_id: str) -> CallCounts:
    """The calls that a chain opened."""
    c = provider_call
    calls, characters, billed = conn.execute(
        select(func.count(), func.sum(c.c.characters), func.sum(c.c.billed_units)).where(c.c.run_id == run_id)
    ).one()
    newest = (
        select(c.c.latency_ms)
        .where(c.c.run_id == run_id, c.c.latency_ms.is_not(None))
        .order_by(c.c.id.desc())
        .limit(LATENCIES)
    )
    latencies = sorted(int(row[0]) for row in conn.execute(newest))
    return CallCounts(
        calls=int(calls), characters=int(characters or 0), billed=int(billed or 0), latencies_ms=latencies
    )


def group_state(conn: Connection, key: GroupKey) -> GroupState:
    """What there is of a group now."""
    t = translation_job
    live = (t.c.status == JobStatus.RUNNING.value) & (t.c.lease_expires_at >= now_precise())
    due = (t.c.status == JobStatus.PENDING.value) & (t.c.next_retry_at <= now_seconds())
    statement = (
        select(t.c.status, func.count(), func.max(case((live, t.c.claimed_by))), func.max(case((due, 1), else_=0)))
        .where(
            t.c.resource_type == key.resource_type,
            t.c.resource_id == key.resource_id,
            t.c.target_language == key.target_language,
        )
        .group_by(t.c.status)
        .order_by(t.c.status)
    )
    rows = conn.execute(statement).all()
    return GroupState(
        statuses={row[0]: int(row[1]) for row in rows},
        held_by=next((row[2] for row in rows if row[2]), None),
        due=any(row[3] for row in rows),
    )
