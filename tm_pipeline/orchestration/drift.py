"""Warnings: what drifts away before it breaks, judged by numbers that a sensor can afford."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import dagster as dg

from tm_pipeline.orchestration.assets import HEALTH_ASSET, JOB_ASSET, SPEND_ASSET
from tm_pipeline.orchestration.check_results import WARN, Verdict, check_result
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.health import Numbers, drift_numbers
from tm_pipeline.settings import Settings

FAILURE_RATE, FEW_RECORDED = 0.1, 20
READ_MODEL_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A warning: its claim, its asset, what to do, and its judge."""

    name: str
    asset: str
    description: str
    judge: Callable[[Numbers, Context, Settings], Verdict]


def _waiting(numbers: Numbers, _ctx: Context, settings: Settings) -> Verdict:
    age, threshold = numbers["oldest_due_age_seconds"], 2 * settings.backlog_age_seconds
    return Verdict(
        passed=age <= threshold,
        words=f"the oldest due group has waited {age:,} s of {threshold:,} s",
        numbers={"oldest_due_age_seconds": age, "threshold": threshold},
    )


def _failing(numbers: Numbers, _ctx: Context, _settings: Settings) -> Verdict:
    recorded, failed = numbers["recorded"], numbers["failed"]
    rate = failed / recorded if recorded else 0.0
    return Verdict(
        passed=recorded < FEW_RECORDED or rate <= FAILURE_RATE,
        words=f"{failed:,} of {recorded:,} fields of the last hour need a person",
        numbers={"recorded": recorded, "failed": failed, "failure_rate": round(rate, 4), "threshold": FAILURE_RATE},
    )


def _unknown(numbers: Numbers, ctx: Context, _settings: Settings) -> Verdict:
    unknown, threshold = numbers["calls_unknown"], ctx.policy.max_in_flight
    return Verdict(
        passed=unknown <= threshold,
        words=f"{unknown:,} of {numbers['calls']:,} calls of the last hour may have been paid without a reply",
        numbers={"calls": numbers["calls"], "calls_unknown": unknown, "threshold": threshold},
    )


def _dirty(numbers: Numbers, _ctx: Context, _settings: Settings) -> Verdict:
    age = numbers["oldest_due_read_model_seconds"]
    return Verdict(
        passed=age <= READ_MODEL_SECONDS,
        words=f"the oldest due read model has waited {age:,} s of {READ_MODEL_SECONDS:,} s",
        numbers={"oldest_due_read_model_seconds": age, "threshold": READ_MODEL_SECONDS},
    )


DRIFT = (
    Drift(
        name="no_due_group_waits_too_long",
        asset=JOB_ASSET,
        description="No due group is older than twice `TM_BACKLOG_AGE_SECONDS`. Look whether `backlog_sensor` is on, "
        "runs are queued, or a provider is stopped (`stopped_domains` of `queue_health`).",
        judge=_waiting,
    ),
    Drift(
        name="few_jobs_fail",
        asset=JOB_ASSET,
        description=f"Of the fields recorded in the last hour at most {FAILURE_RATE:.0%} need a person, where there "
        f"are {FEW_RECORDED} or more. Open the newest red run, correct the cause, then launch `retry_jobs`.",
        judge=_failing,
    ),
    Drift(
        name="few_calls_end_unknown",
        asset=SPEND_ASSET,
        description="In the last hour no more calls ended without a reply than one crashed worker leaves "
        "(`TM_PROVIDER_MAX_IN_FLIGHT`). Each may have been paid: look for killed runs and lost connections.",
        judge=_unknown,
    ),
    Drift(
        name="no_read_model_waits_too_long",
        asset=HEALTH_ASSET,
        description=f"No read model has been due for more than {READ_MODEL_SECONDS // 60} minutes. Look whether "
        "`read_models_sensor` is on and its last run; the reasons are in `read_model_refresh`.",
        judge=_dirty,
    ),
)


def drift_checks() -> dg.AssetChecksDefinition:
    """The warnings as checks that a person may press."""
    specs = [dg.AssetCheckSpec(claim.name, asset=claim.asset, description=claim.description) for claim in DRIFT]

    @dg.multi_asset_check(
        name="drift",
        specs=specs,
        can_subset=True,
        description="Judges the numbers of the last hour. `queue_health_sensor` reports the same every ten minutes. "
        "**Red** means that the database did not answer; a warning says what to look at.",
    )
    def drift(context: dg.AssetCheckExecutionContext, pipeline: Pipeline) -> Iterator[dg.AssetCheckResult]:
        selected = {key.name for key in context.selected_asset_check_keys}
        for claim, verdict in judged(pipeline.context, pipeline.settings):
            if claim.name in selected:
                yield check_result(claim.name, claim.asset, WARN, verdict)

    return drift


def judged(ctx: Context, settings: Settings) -> list[tuple[Drift, Verdict]]:
    """Every warning with its verdict of this moment."""
    numbers = drift_numbers(ctx)
    return [(claim, claim.judge(numbers, ctx, settings)) for claim in DRIFT]


def drift_evaluations(ctx: Context, settings: Settings) -> list[dg.AssetCheckEvaluation]:
    """The same as events that need no run."""
    return [
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(claim.asset),
            check_name=claim.name,
            passed=verdict.passed,
            severity=WARN,
            description=verdict.words,
            metadata=dict(verdict.numbers),
        )
        for claim, verdict in judged(ctx, settings)
    ]
