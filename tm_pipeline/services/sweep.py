"""The sweep: what a dead worker left behind (C38–C45, C55–C57; design §8)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services.context import Context
from tm_pipeline.store.calls import count_overdue_calls, expire_calls
from tm_pipeline.store.claims import sweep_expired
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import count_expired_leases
from tm_pipeline.store.refreshes import mark_refresh

REASON = "the worker stopped renewing its lease"
SWEEP_ROWS = 200  # at most, oldest first (C38)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The from→to matrix of expired leases, and the calls that became UNKNOWN."""

    leases: Mapping[str, int]
    unknown_calls: int


def sweep(ctx: Context, *, limit: int = SWEEP_ROWS, actor: str = "sweep") -> Swept:
    """Give back expired leases, and book calls whose worker died as possibly paid.

    An attempt is counted, so a job that kills its worker ends as FAILED.
    """
    moved = sweep_expired(ctx.db, max_retries=ctx.policy.max_retries, limit=limit)
    unknown = ctx.db.run(lambda conn: expire_calls(conn, limit=limit))

    def record(conn: Connection) -> None:
        ended = sorted({job.group for job, status in moved if status is JobStatus.FAILED})
        mark_refresh(conn, ended, reason="sweep")
        append_events(
            conn,
            [
                Event(job=job, event="lease_expired", to_status=status, actor=actor, reason=REASON)
                for job, status in moved
            ],
        )

    if moved:
        ctx.db.run(record)
    matrix = Counter(f"{JobStatus.RUNNING.value}→{status.value}" for _, status in moved)
    return Swept(leases=dict(matrix), unknown_calls=len(unknown))


def expired(ctx: Context) -> dict[str, int]:
    """What the next sweep would take back: leases that ended, calls whose worker did not come back."""
    with ctx.db.read() as conn:
        return {"expired_leases": count_expired_leases(conn), "overdue_calls": count_overdue_calls(conn)}
