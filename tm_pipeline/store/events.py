"""The append-only history of what changed, by whom and why (C72)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert

from tm_pipeline.domain.jobs import GroupKey, JobStatus
from tm_pipeline.store.tables import translation_event as t

REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of one job."""

    group: GroupKey
    field_key: str | None
    job_id: int | None
    event: str
    from_status: JobStatus | None
    to_status: JobStatus | None
    actor: str
    run_id: str | None
    reason: str | None


def append_events(conn: Connection, events: Sequence[Event]) -> None:
    """Append history rows in the transaction of the change itself; the column's default is the database's now."""
    if not events:
        return
    conn.execute(
        insert(t),
        [
            {
                "resource_type": event.group.resource_type,
                "resource_id": event.group.resource_id,
                "field_key": event.field_key,
                "target_language": event.group.target_language,
                "job_id": event.job_id,
                "event": event.event,
                "from_status": event.from_status.value if event.from_status else None,
                "to_status": event.to_status.value if event.to_status else None,
                "actor": event.actor,
                "run_id": event.run_id,
                "reason": event.reason[:REASON_CHARACTERS] if event.reason else None,
            }
            for event in events
        ],
    )
