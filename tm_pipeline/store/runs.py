"""What one chain of runs holds and did, found by its root run id."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.store.tables import provider_call, translation_event

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


def recorded_groups(conn: Connection, run_id: str) -> list[GroupCounts]:
    """What a chain recorded, group by group in the order of their first record."""
    e = translation_event
    statement = (
        select(
            e.c.resource_type,
            e.c.resource_id,
            e.c.target_language,
            e.c.to_status,
            func.count(),
            func.sum(case((e.c.reason == FROM_MEMORY, 1), else_=0)),
        )
        .where(e.c.run_id == run_id, e.c.event == RECORDED)
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
