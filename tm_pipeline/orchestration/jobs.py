"""Jobs: how the ops are put together, in which lane, under which limit.

All run in one process: a step in a process of its own costs two to three CPU seconds, one in the same
process a twentieth of that.
"""

from collections.abc import Callable

import dagster as dg

from tm_pipeline.orchestration import beta, config, intake_ops, operator_ops, ops, upkeep_ops
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM, Lane, lane_tags

beta.accept()


def _job(lane: Lane, *, owner: str, **forms: dg.Config) -> Callable[[Callable[[], None]], dg.JobDefinition]:
    """A job in ``lane``; ``forms`` are the ops' configurations that its launchpad opens with."""

    def build(compose: Callable[[], None]) -> dg.JobDefinition:
        return dg.job(
            tags=lane_tags(lane), executor_def=dg.in_process_executor, owners=[owner], config=dg.RunConfig(ops=forms)
        )(compose)

    return build


@_job(Lane.TICK, owner=LOCALIZATION, claim_groups=config.ClaimConfig())
def translate_due_groups() -> None:
    """**One tick**: claim due groups, translate and record each, settle.

    Launched by `fixed_delay_sensor`; safe to launch by hand or twice, because a group is held by one
    run at a time. Takes about three seconds beside the engine's time. A red group needs a person:
    open it, correct the cause, *re-execute from failure*.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@_job(Lane.BACKLOG, owner=LOCALIZATION, claim_groups=config.drain_form())
def drain_backlog() -> None:
    """**A backlog run**: the ops of a tick over many groups, some in each step, worked on in threads.

    Launched by `backlog_sensor` while more waits than a tick can take; several may run, on several hosts.
    Red and *re-execute from failure* mean the same as in a tick.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@_job(Lane.IMMEDIATE, owner=LOCALIZATION, claim_groups=config.ClaimConfig())
def translate_immediate() -> None:
    """**An immediate run**: the ops of a tick, over the domains with `immediate: true` alone.

    Launched by `immediate_sensor` as soon as one of their groups is due, one run at a time. The ordinary tick
    may take such groups too: a group is held by one run. Red and *re-execute from failure* mean the same as in
    a tick.
    """
    ops.settle_tick(ops.claim_groups().map(ops.translate_and_record).collect())


@_job(Lane.INTAKE, owner=PLATFORM, reserve=config.ReserveConfig())
def reserve_translations() -> None:
    """**Intake**: fold the outbox and scan the source tables; books jobs, pays for nothing.

    Launched by `source_change_sensor`. Set `full: true` to reconcile whole tables by hash, for instance
    after rows were changed without their `updated_at`.
    """
    intake_ops.reserve()


@_job(Lane.OPERATOR, owner=PLATFORM, sweep_expired=config.SweepConfig())
def sweep_stuck() -> None:
    """**Sweep**: give back the work of dead workers. Every tick does it too; press it when one hangs."""
    intake_ops.sweep_expired()


@_job(Lane.OPERATOR, owner=LOCALIZATION, retry_stopped=config.RetryConfig())
def retry_jobs() -> None:
    """**Retry** stopped jobs by domain, language, id and state. Counts only, until `dry_run` is false."""
    operator_ops.retry_stopped()


@_job(Lane.OPERATOR, owner=LOCALIZATION, cancel_selected=config.CancelConfig())
def cancel_jobs() -> None:
    """**Cancel** a wrong batch by domain, language, id and state. Counts only, until `dry_run` is false."""
    operator_ops.cancel_selected()


@_job(Lane.OPERATOR, owner=LOCALIZATION, retranslate_selected=config.RetranslateConfig())
def retranslate() -> None:
    """**Translate again** what is translated already: it is paid for once more.

    By domain, language, id and engine. Shows texts and characters only, until `dry_run` is false. Readers keep the
    present translation until the new one is there; people's translations stay unless told otherwise.
    """
    operator_ops.retranslate_selected()


@_job(Lane.OPERATOR, owner=LOCALIZATION, rematerialise_selected=config.RematerialiseConfig())
def rematerialise() -> None:
    """**Write read models again** from source and memory, at no cost. Counts only, until `dry_run` is false."""
    operator_ops.rematerialise_selected()


@_job(Lane.OPERATOR, owner=PLATFORM, stop_calls=config.ProviderConfig())
def pause_provider() -> None:
    """**Pause** a provider: no new call until `resume_provider`. What is due waits, nothing fails."""
    upkeep_ops.stop_calls()


@_job(Lane.OPERATOR, owner=PLATFORM, allow_calls=config.ProviderConfig())
def resume_provider() -> None:
    """**Resume** a provider after its quota, key or host was corrected; its stopped jobs become due."""
    upkeep_ops.allow_calls()


@_job(Lane.OPERATOR, owner=PLATFORM, prune_old_runs=config.PruneConfig())
def prune_runs() -> None:
    """**Forget old runs** of Dagster; the history of texts and calls stays. Counts only, until `dry_run` is false."""
    upkeep_ops.prune_old_runs()


CLAIMING_JOBS = (translate_due_groups, drain_backlog, translate_immediate)
OPERATOR_JOBS = (
    sweep_stuck,
    retry_jobs,
    cancel_jobs,
    retranslate,
    rematerialise,
    pause_provider,
    resume_provider,
    prune_runs,
)
JOBS = (*CLAIMING_JOBS, reserve_translations, *OPERATOR_JOBS)
