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
from tm_pipeline.domain.ticks import idle_reason
from tm_pipeline.orchestration.config import ClaimConfig
from tm_pipeline.orchestration.failures import plainly
from tm_pipeline.orchestration.metadata import group_line, step_metadata, step_output
from tm_pipeline.orchestration.resources import ClaimingRun, Pipeline
from tm_pipeline.orchestration.run_summary import run_summary, summary_line
from tm_pipeline.services.claim import claim_groups as claim
from tm_pipeline.services.claim import release_run
from tm_pipeline.services.context import Context
from tm_pipeline.services.due import tick_snapshot
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.operate import known_languages
from tm_pipeline.services.record import GroupResult
from tm_pipeline.services.resume import LeftGroup, take_again
from tm_pipeline.services.sweep import sweep
from tm_pipeline.services.work import work_group, work_groups

OUTPUTS = "json_outputs"
SHOWN_LEFT = 5
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9_]")


def mapping_key(key: GroupKey) -> str:
    """The group in Dagster's alphabet for mapping keys."""
    return _NOT_IN_A_KEY.sub("_", f"{key.resource_type}_{key.resource_id}_{key.target_language}")


@dg.op(out=dg.DynamicOut(io_manager_key=OUTPUTS), tags={"kind": "claim"})
def claim_groups(
    context: dg.OpExecutionContext, config: ClaimConfig, pipeline: Pipeline, run: ClaimingRun
) -> Iterator[dg.DynamicOutput[dict[str, Any]]]:
    """Claim the next due groups: each becomes one `translate_and_record` step.

    **When it fails**: a word in the form does not exist (the first line lists the right ones), or the database did
    not answer. Nothing is claimed, or the claim is given back at the end of the run; re-execute from failure, or
    wait for the next tick.
    """
    with plainly():
        groups = _claim(context, config, pipeline.context, run)
    failpoint("op_claimed")
    for first in range(0, len(groups), config.groups_per_step):
        part = groups[first : first + config.groups_per_step]
        key = mapping_key(part[0].key) if config.groups_per_step == 1 else f"groups_{first + 1}_to_{first + len(part)}"
        value = {"groups": [asdict(group.key) for group in part], "max_seconds": config.max_seconds}
        metadata = {"groups": len(part), "jobs": sum(len(group.jobs) for group in part)}
        yield dg.DynamicOutput(value, mapping_key=key, metadata=metadata)


def _claim(
    context: dg.OpExecutionContext, config: ClaimConfig, ctx: Context, run: ClaimingRun
) -> Sequence[ClaimedGroup]:
    domains = [ctx.domain(name).resource_type for name in config.domains] or None
    languages = known_languages(ctx, config.target_languages, config.domains) or None
    release_run(ctx, run.owner)  # what this op held when it failed in an earlier run of the chain
    swept = sweep(ctx, actor=context.run_id)
    groups = claim(ctx, limit=config.max_groups, claimed_by=run.owner, domains=domains, target_languages=languages)
    context.log.info(f"claimed {len(groups)} groups; swept {dict(swept.leases) or 'nothing'}")
    if not groups:
        snapshot = tick_snapshot(ctx, domains)
        waits = idle_reason(
            snapshot.due_groups,
            snapshot.waiting,
            snapshot.next_due_seconds,
            stopped_domains=snapshot.stopped_domains,
        )
        limited = f", these languages only: {', '.join(languages)}" if languages else ""
        context.log.info(f"nothing to do{limited}: {waits}")
    return groups


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "translate"})
def translate_and_record(
    context: dg.OpExecutionContext, pipeline: Pipeline, run: ClaimingRun, claimed: dict[str, Any]
) -> dg.Output[list[dict[str, Any]]]:
    """Translate groups through the memory and record each in one transaction.

    **Green** with `retry_scheduled`: the engine had a passing fault, the jobs wait for their back-off.
    **Green** with `already_settled`: somebody else does or did this work, or nobody wants it any more; `left_alone`
    says why. **Red**: a person is needed; the first line says for what. Correct the cause, then *re-execute from
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
        held, left = take_again(ctx, keys, claimed_by=run.owner, include_failed=retried)
        for group in left:
            context.log.info(str(group))
        results = _work(context, ctx, held, run, claimed["max_seconds"])
    except Exception as error:
        name = type(error).__name__
        raise dg.Failure(f"{_named(keys)} needs a person: {name}: {error}", allow_retries=False) from error
    metadata = {**step_metadata(results), **_left(left), "engines": _engines(ctx, held)}
    stopped = [result for result in results if result.needs_person]
    if stopped:
        more = f" and {len(stopped) - 1} more groups need" if len(stopped) > 1 else " needs"
        raise dg.Failure(
            f"{stopped[0].key}{more} a person: {stopped[0].message}", metadata=metadata, allow_retries=False
        )
    return dg.Output(step_output(results), metadata=metadata)


def _work(
    context: dg.OpExecutionContext, ctx: Context, held: Sequence[ClaimedGroup], run: ClaimingRun, max_seconds: int
) -> list[GroupResult]:
    def ended(result: GroupResult) -> None:
        context.log.info(group_line(result))

    in_time = partial(run.in_time, max_seconds)
    if len(held) == 1:
        return [work_group(ctx, held[0], run_id=run.owner, keep_going=in_time, ended=ended)]
    return work_groups(ctx, held, run_id=run.owner, keep_going=in_time, ended=ended)


def _left(left: Sequence[LeftGroup]) -> dict[str, Any]:
    if not left:
        return {"already_settled": 0}
    rest = len(left) - SHOWN_LEFT
    lines = [
        *(f"- {group}" for group in left[:SHOWN_LEFT]),
        *([f"- … and {rest} more, see the log"] if rest > 0 else []),
    ]
    return {"already_settled": len(left), "left_alone": dg.MetadataValue.md("\n".join(lines))}


def _engines(ctx: Context, held: Sequence[ClaimedGroup]) -> str:
    """Which engines were asked: after a change of settings a re-execution may ask another one than before."""
    return ", ".join(sorted({ctx.engines.engine_for(group.key.resource_type).key for group in held})) or "none"


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
    with plainly():
        released = release_run(pipeline.context, run.owner)
        failpoint("op_settled")
        summary = run_summary(pipeline.context, run.owner, released)
    context.log.info(summary_line(summary))
    run.settled()
    counts = {name: value for name, value in summary.items() if isinstance(value, int | float)}
    return dg.Output(counts, metadata=summary)
