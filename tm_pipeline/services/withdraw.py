"""Deleted and unpublished resources: their jobs stop, their read models go, the memory stays (T19)."""

from collections.abc import Sequence

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.domain.jobs import UNFINISHED, GroupKey, JobStatus
from tm_pipeline.services.context import Context
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import cancel_jobs, jobs_of_resources
from tm_pipeline.store.read_models import fingerprints
from tm_pipeline.store.refreshes import mark_refresh

MESSAGE = "The resource was deleted or unpublished."


def withdraw(ctx: Context, domain: Domain, ids: Sequence[int]) -> int:
    """Cancel the unfinished jobs of ``ids`` and have their read models removed; returns how many had any.

    The read-model rows go through ``read_model_refresh`` like every other change, so that a
    materialisation that read the row before it vanished cannot bring it back.
    """
    if not ids:
        return 0

    def write(conn: Connection) -> int:
        jobs = [job for job in jobs_of_resources(conn, domain.resource_type, list(ids)) if job.status in UNFINISHED]
        shown = [
            GroupKey(resource_type=domain.resource_type, resource_id=resource_id, target_language=locale)
            for resource_id, locale in fingerprints(conn, domain, list(ids))
        ]
        cancel_jobs(conn, [job.id for job in jobs], error_kind=ErrorKind.WITHDRAWN, message=MESSAGE)
        mark_refresh(conn, shown, reason="withdrawn")
        append_events(
            conn,
            [
                Event(job=job, event="withdrawn", to_status=JobStatus.CANCELLED, actor="intake", reason=MESSAGE)
                for job in jobs
            ],
        )
        return len({job.group.resource_id for job in jobs} | {key.resource_id for key in shown})

    return ctx.db.run(write)
