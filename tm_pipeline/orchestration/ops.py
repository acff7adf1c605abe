"""The ops of a tick, of intake and of the operator jobs: unpack config, call one service, show the result.

Red means that a person is needed. A fault that was booked for a later try ends green with
``retry_scheduled`` in its metadata, so that "re-execute from failure" is the operator's retry of exactly
the groups that need one. No Dagster retry policy repeats paid work.
"""

import re
from collections.abc import Iterator
from typing import Any

import dagster as dg

from tm_pipeline.domain.jobs import GroupKey, JobStatus
from tm_pipeline.orchestration.config import ClaimConfig, ReserveConfig, RetryConfig
from tm_pipeline.orchestration.metadata import as_output, group_metadata, reserved_metadata, tick_summary
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.claim import claim_groups as claim
from tm_pipeline.services.claim import reacquire, release_run
from tm_pipeline.services.intake import fold_requests, scan
from tm_pipeline.services.operate import Selection, retry
from tm_pipeline.services.reserve import Reserved
from tm_pipeline.services.sweep import sweep
from tm_pipeline.services.work import work_group

_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9_]")


def root_run_id(context: dg.OpExecutionContext) -> str:
    """The first run of a chain of re-executions: it owns what any run of the chain claims."""
    return context.run.root_run_id or context.run_id


def mapping_key(key: GroupKey) -> str:
    """The group in Dagster's alphabet for mapping keys."""
    return _NOT_IN_A_KEY.sub("_", f"{key.resource_type}_{key.resource_id}_{key.target_language}")


@dg.op(out=dg.DynamicOut(io_manager_key="json_outputs"), tags={"kind": "claim"})
def claim_groups(
    context: dg.OpExecutionContext, config: ClaimConfig, pipeline: Pipeline
) -> Iterator[dg.DynamicOutput[dict[str, Any]]]:
    """Claim the next due groups: each becomes one `translate_and_record` step.

    **When it fails**: the database did not answer. Nothing is claimed or the claim expires by itself;
    re-execute from failure, or wait for the next tick.
    """
    ctx = pipeline.context
    sweep(ctx, actor=context.run_id)
    groups = claim(
        ctx,
        limit=config.max_groups,
        claimed_by=root_run_id(context),
        domains=config.domains or None,
        target_languages=config.target_languages or None,
    )
    context.log.info(f"claimed {len(groups)} groups")
    for group in groups:
        value = {
            "resource_type": group.key.resource_type,
            "resource_id": group.key.resource_id,
            "target_language": group.key.target_language,
        }
        yield dg.DynamicOutput(value, mapping_key=mapping_key(group.key), metadata={"jobs": len(group.jobs)})


@dg.op(out=dg.Out(io_manager_key="json_outputs"), tags={"kind": "translate"})
def translate_and_record(
    context: dg.OpExecutionContext, pipeline: Pipeline, group: dict[str, Any]
) -> dg.Output[dict[str, Any]]:
    """Translate one group through the memory and record it in one transaction.

    **Green** with `retry_scheduled`: the engine had a passing fault, the jobs wait for their back-off.
    **Red**: a person is needed; the first line says for what. Correct the cause, then *re-execute from
    failure*: it retries exactly these groups and pays for nothing that was paid already.
    """
    ctx, key = pipeline.context, GroupKey(**group)
    run_id = root_run_id(context)
    held = reacquire(ctx, key, claimed_by=run_id, include_failed=context.run.parent_run_id is not None)
    if held is None:
        context.log.info(f"{key}: another run has it or it is done, nothing written")
        nothing = {
            "completed": 0,
            "retry_scheduled": 0,
            "from_memory": 0,
            "provider_calls": 0,
            "characters": 0,
        }
        return dg.Output({"group": str(key), "seconds": 0.0, **nothing}, metadata={"already_settled": True})
    result = work_group(ctx, held, run_id=run_id)
    context.log.info(
        f"{key}: {len(held.jobs)} fields, {result.completed} completed, {result.reused} from memory, "
        f"{result.calls} calls, {result.characters} characters, {result.seconds:.1f} s"
    )
    if result.needs_person:
        raise dg.Failure(
            f"{key} needs a person: {result.message}", metadata=group_metadata(result), allow_retries=False
        )
    return dg.Output(as_output(result), metadata=group_metadata(result))


@dg.op(out=dg.Out(io_manager_key="json_outputs"), tags={"kind": "settle"})
def settle_tick(
    context: dg.OpExecutionContext, pipeline: Pipeline, groups: list[dict[str, Any]]
) -> dg.Output[dict[str, Any]]:
    """Give back what this run still holds and write its summary.

    Reads the database, not its inputs, so it is right after any crash or resume. **When it fails**: the
    database did not answer; re-execute from failure.
    """
    released = release_run(pipeline.context, root_run_id(context))
    summary = tick_summary(groups, released)
    context.log.info(f"{summary['groups']} groups, {summary['completed']} fields completed, {released} released")
    counts = {name: value for name, value in summary.items() if isinstance(value, int | float)}
    return dg.Output(counts, metadata=summary)


@dg.op(out=dg.Out(io_manager_key="json_outputs"), tags={"kind": "intake"})
def reserve(context: dg.OpExecutionContext, config: ReserveConfig, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Fold the outbox, scan the source tables, book what the memory lacks. Pays for nothing.

    **When it fails**: a source table or column is missing, or the database did not answer; the first
    line says which. Safe to run again at any time.
    """
    ctx = pipeline.context
    for name in config.domains:
        ctx.domain(name)
    total = fold_requests(ctx).reserved
    for domain in ctx.registry:
        if config.domains and domain.resource_type not in config.domains:
            continue
        scanned = scan(ctx, domain, full=config.full)
        context.log.info(f"{domain.resource_type}: {scanned.rows} rows seen, {scanned.reserved.booked} jobs booked")
        total += scanned.reserved + Reserved(withdrawn=scanned.withdrawn)
    return dg.Output(reserved_metadata(total), metadata=reserved_metadata(total))


@dg.op(out=dg.Out(io_manager_key="json_outputs"), tags={"kind": "sweep"})
def sweep_expired(context: dg.OpExecutionContext, pipeline: Pipeline) -> dg.Output[dict[str, int]]:
    """Return expired leases to the queue and mark lost calls as possibly paid; shows the from→to matrix.

    **When it fails**: the database did not answer; run it again.
    """
    swept = sweep(pipeline.context, actor=context.run_id)
    counts = {**swept.leases, "unknown_calls": swept.unknown_calls}
    return dg.Output(counts, metadata=counts)


@dg.op(out=dg.Out(io_manager_key="json_outputs"), tags={"kind": "retry"})
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
            statuses=[JobStatus(name) for name in config.statuses],
            resource_type=ctx.domain(name).resource_type if name else None,
            target_language=config.target_language or None,
        )
        count += retry(ctx, selection, actor=context.run_id, reason=config.reason, dry_run=config.dry_run)
    done = 0 if config.dry_run else count
    context.log.info(f"{done} of {count} jobs started again")
    return dg.Output({"matched": count, "retried": done}, metadata={"matched": count, "retried": done})
