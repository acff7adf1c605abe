"""The ops of intake and of the operator jobs; each is one service call and safe to run twice."""

import dagster as dg

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.orchestration.config import ProviderConfig, ReserveConfig, RetryConfig
from tm_pipeline.orchestration.metadata import reserved_metadata
from tm_pipeline.orchestration.ops import OUTPUTS
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.intake import fold_requests, scan
from tm_pipeline.services.operate import Selection, pause_provider, resume_provider, retry
from tm_pipeline.services.reserve import Reserved
from tm_pipeline.services.sweep import sweep

MOST_FOLDS = 40  # passes over the outbox in one run; what is left launches the next


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "intake"})
def reserve(context: dg.OpExecutionContext, config: ReserveConfig, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Fold the outbox, scan the source tables, book what the memory lacks. Pays for nothing.

    **When it fails**: the source table of a domain does not fit, or the database did not answer; the first
    line says which. The other domains were scanned all the same. Safe to run again at any time.
    """
    ctx = pipeline.context
    chosen = [ctx.domain(name) for name in config.domains] or list(ctx.registry)
    total = _fold(context, ctx)
    failpoint("op_folded")
    problems: list[str] = []
    for domain in chosen:
        try:
            scanned = scan(ctx, domain, full=config.full)
        except TmPipelineError as error:
            problems.append(f"{domain.resource_type}: {error}")
            continue
        context.log.info(f"{domain.resource_type}: {scanned.rows} rows seen, {scanned.reserved.booked} jobs booked")
        total += scanned.reserved + Reserved(withdrawn=scanned.withdrawn)
    metadata = reserved_metadata(total)
    if problems:
        raise dg.Failure(
            f"{len(problems)} of {len(chosen)} domains could not be scanned: {'; '.join(problems)}",
            metadata=metadata,
            allow_retries=False,
        )
    return dg.Output(metadata, metadata=metadata)


def _fold(context: dg.OpExecutionContext, ctx: Context) -> Reserved:
    """Fold until the outbox holds nothing that can be folded now."""
    total = Reserved()
    for _ in range(MOST_FOLDS):
        folded = fold_requests(ctx)
        total += folded.reserved
        if folded.requests:
            context.log.info(f"{folded.requests} outbox rows folded, {folded.dead} of them rejected")
        if folded.requests <= folded.reserved.deferred:
            break
    return total


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "sweep"})
def sweep_expired(context: dg.OpExecutionContext, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Return expired leases to the queue and mark lost calls as possibly paid; shows the from→to matrix.

    **When it fails**: the database did not answer; run it again.
    """
    swept = sweep(pipeline.context, actor=context.run_id)
    counts = {**swept.leases, "unknown_calls": swept.unknown_calls}
    return dg.Output(counts, metadata=counts)


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "retry"})
def retry_stopped(context: dg.OpExecutionContext, config: RetryConfig, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Start stopped jobs again; a dry run by default. `0 of 0` means that nothing matched.

    **When it fails**: a domain or state in the form does not exist; the first line lists the right ones.
    """
    unknown = [name for name in config.statuses if name not in {status.value for status in JobStatus}]
    if unknown:
        raise dg.Failure(f"unknown states {unknown}; use {', '.join(JobStatus)}", allow_retries=False)
    ctx = pipeline.context
    count = 0
    chosen: list[str | None] = [*config.domains] or [None]
    for name in chosen:
        selection = Selection(
            statuses=[JobStatus(status) for status in config.statuses],
            resource_type=ctx.domain(name).resource_type if name else None,
            target_language=config.target_language or None,
        )
        count += retry(ctx, selection, actor=context.run_id, reason=config.reason, dry_run=config.dry_run)
    done = 0 if config.dry_run else count
    context.log.info(f"{done} of {count} jobs started again")
    return dg.Output({"matched": count, "retried": done}, metadata={"matched": count, "retried": done})


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "provider"})
def stop_calls(context: dg.OpExecutionContext, config: ProviderConfig, pipeline: Pipeline) -> dg.Output[dict[str, str]]:
    """Stop new calls to a provider; a call in flight ends as it does.

    **When it fails**: there is no such provider in use; the first line lists them.
    """
    names = _providers(pipeline.context, config)
    for name in names:
        pause_provider(pipeline.context, name, actor=context.run_id, reason=config.reason)
    done = dict.fromkeys(names, "paused")
    return dg.Output(done, metadata=done)


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "provider"})
def allow_calls(
    context: dg.OpExecutionContext, config: ProviderConfig, pipeline: Pipeline
) -> dg.Output[dict[str, int]]:
    """Close the circuit of a provider and make the jobs due that it stopped; shows how many.

    **When it fails**: there is no such provider in use; the first line lists them.
    """
    names = _providers(pipeline.context, config)
    started = {name: resume_provider(pipeline.context, name, actor=context.run_id) for name in names}
    return dg.Output(started, metadata={f"{name}_jobs_started_again": count for name, count in started.items()})


def _providers(ctx: Context, config: ProviderConfig) -> list[str]:
    return [config.provider] if config.provider else list(ctx.engines.provider_names())
