"""The ops of a run that translates: unpack config, call one service, show the result.

Red means that a person is needed. A fault that was booked for a later try ends green with
``retry_scheduled`` in its metadata, so that "re-execute from failure" is the operator's retry of exactly
the groups that need one. No Dagster retry policy repeats paid work.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import dagster as dg

from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey
from tm_pipeline.orchestration.config import ClaimConfig
from tm_pipeline.orchestration.metadata import group_line, report_metadata, step_metadata, step_output
from tm_pipeline.orchestration.resources import ClaimingRun, Pipeline
from tm_pipeline.services.claim import claim_groups as claim
from tm_pipeline.services.claim import reacquire, release_run
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.record import GroupResult
from tm_pipeline.services.run_report import report_run
from tm_pipeline.services.sweep import sweep
from tm_pipeline.services.work import work_group, work_groups

OUTPUTS = "json_outputs"
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9_]")


def mapping_key(key: GroupKey) -> str:
    """The group in Dagster's alphabet for mapping keys."""
    return _NOT_IN_A_KEY.sub("_", f"{key.resource_type}_{key.resource_id}_{key.target_language}")


@dg.op(out=dg.DynamicOut(io_manager_key=OUTPUTS), tags={"kind": "claim"})
def claim_groups(
    context: dg.OpExecutionContext, config: ClaimConfig, pipeline: Pipeline, run: ClaimingRun
) -> Iterator[dg.DynamicOutput[dict[str, Any]]]:
    """Claim the next due groups: each becomes one `translate_and_record` step.

    **When it fails**: the database did not answer. Nothing is claimed, or the claim is given back by
    `run_failure_release`; re-execute from failure, or wait for the next tick.
    """
    ctx = pipeline.context
    release_run(ctx, run.owner)  # what this op held when it failed in an earlier run of the chain
    swept = sweep(ctx, actor=context.run_id)
    groups = claim(
        ctx,
        limit=config.max_groups,
        claimed_by=run.owner,
        domains=[ctx.domain(name).resource_type for name in config.domains] or None,
        target_languages=config.target_languages or None,
    )
    failpoint("op_claimed")
    context.log.info(f"claimed {len(groups)} groups; swept {dict(swept.leases) or 'nothing'}")
    for first in range(0, len(groups), config.groups_per_step):
        part = groups[first : first + config.groups_per_step]
        key = mapping_key(part[0].key) if config.groups_per_step == 1 else f"groups_{first + 1}_to_{first + len(part)}"
        value = {"groups": [asdict(group.key) for group in part], "max_seconds": config.max_seconds}
        metadata = {"groups": len(part), "jobs": sum(len(group.jobs) for group in part)}
        yield dg.DynamicOutput(value, mapping_key=key, metadata=metadata)


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "translate"})
def translate_and_record(
    context: dg.OpExecutionContext, pipeline: Pipeline, run: ClaimingRun, claimed: dict[str, Any]
) -> dg.Output[list[dict[str, Any]]]:
    """Translate groups through the memory and record each in one transaction.

    **Green** with `retry_scheduled`: the engine had a passing fault, the jobs wait for their back-off.
    **Red**: a person is needed; the first line says for what. Correct the cause, then *re-execute from
    failure*: it retries exactly these groups and pays for nothing that was paid already.
    """
    ctx = pipeline.context
    keys = [GroupKey(**key) for key in claimed["groups"]]
    in_time = partial(run.in_time, claimed["max_seconds"])
    if not in_time():
        context.log.info(f"{_named(keys)}: the time of this run is over; given back at its end")
        return dg.Output([], metadata={"out_of_time": True})
    try:
        # Only a person re-executes: their run also takes the jobs that had failed for good.
        retried = context.run.parent_run_id is not None
        held = [taken for key in keys if (taken := reacquire(ctx, key, claimed_by=run.owner, include_failed=retried))]
        results = _work(ctx, held, run, claimed["max_seconds"])
    except Exception as error:
        name = type(error).__name__
        raise dg.Failure(f"{_named(keys)} needs a person: {name}: {error}", allow_retries=False) from error
    for result in results:
        context.log.info(group_line(result))
    if len(held) < len(keys):
        context.log.info(f"{len(keys) - len(held)} of {len(keys)} groups: another run has it or it is done")
    metadata = {**step_metadata(results), "already_settled": len(keys) - len(held)}
    stopped = [result for result in results if result.needs_person]
    if stopped:
        more = f" and {len(stopped) - 1} more groups need" if len(stopped) > 1 else " needs"
        raise dg.Failure(
            f"{stopped[0].key}{more} a person: {stopped[0].message}", metadata=metadata, allow_retries=False
        )
    return dg.Output(step_output(results), metadata=metadata)


def _work(ctx: Context, held: Sequence[ClaimedGroup], run: ClaimingRun, max_seconds: int) -> list[GroupResult]:
    in_time = partial(run.in_time, max_seconds)
    if len(held) == 1:
        return [work_group(ctx, held[0], run_id=run.owner, keep_going=in_time)]
    return work_groups(ctx, held, run_id=run.owner, keep_going=in_time)


def _named(keys: Sequence[GroupKey]) -> str:
    return str(keys[0]) if len(keys) == 1 else f"{keys[0]} … {keys[-1]}"


@dg.op(
    ins={"worked": dg.In(dg.Nothing, description="All steps before; their results are read from the database.")},
    out=dg.Out(io_manager_key=OUTPUTS),
    tags={"kind": "settle"},
)
def settle_tick(context: dg.OpExecutionContext, pipeline: Pipeline, run: ClaimingRun) -> dg.Output[dict[str, Any]]:
    """Give back what this run still holds and write its summary.

    Reads the database, not its inputs, so it is right after any crash or resume; the summary counts the
    whole chain of re-executions. **When it fails**: the database did not answer; re-execute from failure.
    """
    released = release_run(pipeline.context, run.owner)
    failpoint("op_settled")
    summary = report_metadata(report_run(pipeline.context, run.owner), released)
    context.log.info(
        f"{summary['groups']} groups, {summary['completed']} fields completed, {summary['from_memory']} of them from "
        f"memory, {summary['provider_calls']} calls, {summary['characters']} characters; {released} jobs given back"
    )
    counts = {name: value for name, value in summary.items() if isinstance(value, int | float)}
    return dg.Output(counts, metadata=summary)
