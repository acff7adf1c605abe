"""Jobs: how the ops are put together, in which lane, under which limit.

All run in one process: a step in a process of its own costs two to three CPU seconds, one in the same
process a twentieth of that.
"""

from collections.abc import Callable

import dagster as dg

from tm_pipeline.orchestration import beta, operator_ops, ops
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM, Lane, lane_tags

beta.accept()


def _job(lane: Lane, *, owner: str) -> Callable[[Callable[[], None]], dg.JobDefinition]:
    def build(compose: Callable[[], None]) -> dg.JobDefinition:
        return dg.job(tags=lane_tags(lane), executor_def=dg.in_process_executor, owners=[owner])(compose)

    return build


@_job(Lane.TICK, owner=LOCALIZATION)
def translate_due_groups() -> None:
    """**One tick**: claim due groups, translate and record each, settle.

    Launched by `fixed_delay_sensor`; safe to launch by hand or twice, because a group is held by one
    run at a time. Takes about three seconds beside the engine's time. A red group needs a person:
    open it, correct the cause, *re-execute from failure*.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@_job(Lane.BACKLOG, owner=LOCALIZATION)
def drain_backlog() -> None:
    """**A backlog run**: the ops of a tick over many groups, some in each step, worked on in threads.

    Launched by `backlog_sensor` while more waits than a tick can take; several may run, on several hosts.
    Red and *re-execute from failure* mean the same as in a tick.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@_job(Lane.INTAKE, owner=PLATFORM)
def reserve_translations() -> None:
    """**Intake**: fold the outbox and scan the source tables; books jobs, pays for nothing.

    Launched by `source_change_sensor`. Set `full: true` to reconcile whole tables by hash, for instance
    after rows were changed without their `updated_at`.
    """
    operator_ops.reserve()


@_job(Lane.OPERATOR, owner=PLATFORM)
def sweep_stuck() -> None:
    """**Sweep**: give back the work of dead workers. Every tick does it too; press it when one hangs."""
    operator_ops.sweep_expired()


@_job(Lane.OPERATOR, owner=LOCALIZATION)
def retry_jobs() -> None:
    """**Retry** stopped jobs by domain, language and state. Counts only, until `dry_run` is false."""
    operator_ops.retry_stopped()


@_job(Lane.OPERATOR, owner=PLATFORM)
def pause_provider() -> None:
    """**Pause** a provider: no new call until `resume_provider`. What is due waits, nothing fails."""
    operator_ops.stop_calls()


@_job(Lane.OPERATOR, owner=PLATFORM)
def resume_provider() -> None:
    """**Resume** a provider after its quota, key or host was corrected; its stopped jobs become due."""
    operator_ops.allow_calls()


CLAIMING_JOBS = (translate_due_groups, drain_backlog)
JOBS = (*CLAIMING_JOBS, reserve_translations, sweep_stuck, retry_jobs, pause_provider, resume_provider)
