"""The ops of upkeep: providers paused and resumed, old runs forgotten."""

import dagster as dg

from tm_pipeline.orchestration.config import ProviderConfig, PruneConfig
from tm_pipeline.orchestration.failures import how_to_act, plainly
from tm_pipeline.orchestration.ops import OUTPUTS
from tm_pipeline.orchestration.prune import prune
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services import operate

Counts = dict[str, int]


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "provider"})
def stop_calls(context: dg.OpExecutionContext, config: ProviderConfig, pipeline: Pipeline) -> dg.Output[dict[str, str]]:
    """Stop new calls to a provider; a call in flight ends as it does.

    **When it fails**: there is no such provider in use; the first line lists them.
    """
    with plainly():
        names = operate.known_providers(pipeline.context, config.provider)
        for name in [] if config.dry_run else names:
            operate.pause_provider(pipeline.context, name, actor=context.run_id, reason=config.reason)
    done = dict.fromkeys(names, "would be paused" if config.dry_run else "paused")
    return dg.Output(done, metadata=done)


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "provider"})
def allow_calls(context: dg.OpExecutionContext, config: ProviderConfig, pipeline: Pipeline) -> dg.Output[Counts]:
    """Close the circuit of a provider and make the jobs due that it stopped; shows how many.

    **When it fails**: there is no such provider in use; the first line lists them.
    """
    with plainly():
        started = {
            name: operate.resume_provider(pipeline.context, name, actor=context.run_id, dry_run=config.dry_run)
            for name in operate.known_providers(pipeline.context, config.provider)
        }
    word = "jobs_to_start" if config.dry_run else "jobs_started_again"
    return dg.Output(started, metadata={f"{name}_{word}": count for name, count in started.items()})


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "prune"})
def prune_old_runs(context: dg.OpExecutionContext, config: PruneConfig, pipeline: Pipeline) -> dg.Output[Counts]:
    """Delete old runs from Dagster's storage with their logs and outputs; a dry run by default.

    The history of every text stays: `translation_event` and `provider_call` are never pruned. Kept: young and
    live runs, the newest of each job, whole chains of re-executions, each asset's last materialisation.
    **When it fails**: a storage did not answer; launch it again, it goes on where it stopped.
    """
    with plainly():
        counts = prune(
            pipeline.context,
            context.instance,
            older_than_days=config.older_than_days,
            keep_of_each_job=config.keep_of_each_job,
            most=config.most,
            dry_run=config.dry_run,
        )
    acting = how_to_act(dry_run=config.dry_run)
    context.log.info(f"{counts['deleted']} of {counts['matched']} runs deleted{acting}")
    return dg.Output(counts, metadata=counts)
