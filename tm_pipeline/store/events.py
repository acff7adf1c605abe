"""The append-only history of what changed, by whom and why (C72)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert

from tm_pipeline.domain.jobs import Job, JobStatus
from tm_pipeline.store.tables import translation_event as t

REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of one job; ``job`` is the job as it was, ``from_status`` overrides the state it was read in."""

    job: Job
    event: str
    to_status: JobStatus
    actor: str
    from_status: JobStatus | None = None
    run_id: str | None = None
    reason: str | None = None


def append_events(conn: Connection, events: Sequence[Event]) -> None:
    """Append history rows in the transaction of the change itself; the column's default is the database's now."""
    if not events:
        return
    conn.execute(
        insert(t),
        [
            {
                "resource_type": event.job.group.resource_type,
                "resource_id": event.job.group.resource_id,
                "field_key": event.job.field_key,
                "target_language": event.job.group.target_language,
                "job_id": event.job.id,
                "event": event.event,
                "from_status": (event.from_status or event.job.status).value,
                "to_status": event.to_status.value,
                "actor": event.actor,
                "run_id": event.run_id,
                "reason": event.reason[:REASON_CHARACTERS] if event.reason else None,
            }
            for event in events
        ],
    )
