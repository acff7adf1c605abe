"""Jobs: how the ops are put together, in which lane, under which limit.

All run in one process: a step in a process of its own costs two to three CPU seconds, one in the same
process a twentieth of that.
"""

import dagster as dg

from tm_pipeline.orchestration import ops
from tm_pipeline.orchestration.tags import Lane, lane_tags


@dg.job(tags=lane_tags(Lane.TICK), executor_def=dg.in_process_executor)
def translate_due_groups() -> None:
    """**One tick**: claim due groups, translate and record each, settle.

    Launched by `fixed_delay_sensor`; safe to launch by hand or twice, because a group is held by one
    run at a time. Takes about three seconds beside the engine's time. A red group needs a person:
    open it, correct the cause, *re-execute from failure*.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@dg.job(tags=lane_tags(Lane.INTAKE), executor_def=dg.in_process_executor)
def reserve_translations() -> None:
    """**Intake**: fold the outbox and scan the source tables; books jobs, pays for nothing.

    Launched by `source_change_sensor`. Set `full: true` to reconcile whole tables by hash, for instance
    after rows were changed without their `updated_at`.
    """
    ops.reserve()


@dg.job(tags=lane_tags(Lane.OPERATOR), executor_def=dg.in_process_executor)
def sweep_stuck() -> None:
    """**Sweep**: give back the work of dead workers. Every tick does it too; press it when one hangs."""
    ops.sweep_expired()


@dg.job(tags=lane_tags(Lane.OPERATOR), executor_def=dg.in_process_executor)
def retry_jobs() -> None:
    """**Retry** stopped jobs by domain, language and state. Counts only, until `dry_run` is false."""
    ops.retry_stopped()


JOBS = (translate_due_groups, reserve_translations, sweep_stuck, retry_jobs)
