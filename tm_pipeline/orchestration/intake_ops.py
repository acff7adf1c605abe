"""The ops of intake and sweep: what is new is booked, what a dead worker held is given back."""

import dagster as dg

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.orchestration.config import ReserveConfig, SweepConfig
from tm_pipeline.orchestration.failures import plainly
from tm_pipeline.orchestration.metadata import reserved_metadata
from tm_pipeline.orchestration.ops import OUTPUTS
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.intake import fold_requests, scan
from tm_pipeline.services.reserve import Reserved
from tm_pipeline.services.sweep import expired, sweep

MOST_FOLDS = 40  # passes over the outbox in one run; what is left launches the next


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "intake"})
def reserve(context: dg.OpExecutionContext, config: ReserveConfig, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Fold the outbox, scan the source tables, book what the memory lacks. Pays for nothing.

    **When it fails**: the source table of a domain does not fit, or the database did not answer; the first
    line says which. The other domains were scanned all the same. Safe to run again at any time.
    """
    with plainly():
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
def sweep_expired(context: dg.OpExecutionContext, config: SweepConfig, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Return expired leases to the queue and mark lost calls as possibly paid; shows the from→to matrix.

    **When it fails**: the database did not answer; run it again.
    """
    with plainly():
        if config.dry_run:
            counts = expired(pipeline.context)
        else:
            swept = sweep(pipeline.context, actor=context.run_id)
            counts = {**swept.leases, "unknown_calls": swept.unknown_calls}
    context.log.info(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return dg.Output(counts, metadata=counts)
