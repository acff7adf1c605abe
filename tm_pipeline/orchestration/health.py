"""What an operator watches: numbers of queue, spending and memory over time, and drift as warnings.

They come from a sensor and not from a run: a run costs three CPU seconds and forty rows.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from tm_pipeline.orchestration.asset_metadata import code_reference
from tm_pipeline.orchestration.assets import HEALTH_ASSET, JOB_ASSET, MEMORY_ASSET, SPEND_ASSET
from tm_pipeline.orchestration.drift import drift_evaluations
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM
from tm_pipeline.services.health import WINDOW_SECONDS, memory_numbers, queue_numbers, spend_numbers

EVERY_SECONDS = WINDOW_SECONDS
# The sensor materialises both assets whether or not there is work, so their age is that of the automation.
REPORTED = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=60), warn_window=timedelta(minutes=20))

QUEUE_WORDS = (
    "Whether the queue keeps up, reported by `queue_health_sensor` every ten minutes; see *Plots*.\n\n"
    "| number | meaning |\n| --- | --- |\n"
    "| `jobs_due`, `jobs_waiting` | may be claimed now, wait for their back-off |\n"
    "| `jobs_running` | leased by a worker |\n"
    "| `jobs_failed`, `jobs_needs_review`, `jobs_needs_credential` | need a person |\n"
    "| `oldest_due_age_seconds` | how long the oldest due group has waited |\n"
    "| `memory_hit_rate`, `failure_rate`, `window_…` | of what was recorded in the last ten minutes |\n"
    "| `call_p50_ms`, `call_p95_ms` | of the calls of the last ten minutes |\n"
    "| `materialize_failures` | read models whose last write failed |\n"
    "| `calls_unsettled` | may have been paid, and nobody has settled them |\n\n"
    "Counts of jobs stop at 100,000, groups at 1,000 jobs a domain; `tm-pipeline status` is exact. "
    "**Not fresh**: the sensor or the daemon does not work."
)
SPEND_WORDS = (
    "What was paid for, reported by `queue_health_sensor` every ten minutes; see *Plots*. Calls by state, "
    "characters sent and billed: in all, for each provider, and in the last ten minutes (`window_…`, at "
    "most the newest 20,000 calls). `calls_unknown` ended with their worker and may have been billed; of "
    "these, `calls_unsettled` count against their text until a person retries it."
)


def health_specs(*, git_url: str = "") -> list[dg.AssetSpec]:
    """The assets that hold the numbers; Dagster plots them under their metadata."""
    code: Mapping[str, Any] = code_reference(build_health_sensor, "what reports it", git_url)
    return [
        dg.AssetSpec(
            HEALTH_ASSET,
            deps=[JOB_ASSET],
            description=QUEUE_WORDS,
            group_name="queue",
            kinds={"mysql"},
            owners=[PLATFORM],
            tags={"layer": "queue"},
            metadata=code,
            freshness_policy=REPORTED,
        ),
        dg.AssetSpec(
            SPEND_ASSET,
            deps=[JOB_ASSET],
            description=SPEND_WORDS,
            group_name="memory",
            kinds={"mysql"},
            owners=[LOCALIZATION],
            tags={"layer": "memory"},
            metadata=code,
            freshness_policy=REPORTED,
        ),
    ]


def build_health_sensor(*, automation: bool) -> dg.SensorDefinition:
    """The sensor that reports the numbers and the drift."""
    working = dg.DefaultSensorStatus.RUNNING if automation else dg.DefaultSensorStatus.STOPPED

    @dg.sensor(
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=working,
        owners=[PLATFORM],
        description="Report the numbers of queue, spending and memory every ten minutes, and judge the checks of "
        "drift by them. Launches no run and counts no whole table.",
    )
    def queue_health_sensor(pipeline: Pipeline) -> dg.SensorResult:
        ctx = pipeline.context
        queue = queue_numbers(ctx)
        events: list[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation] = [
            dg.AssetMaterialization(HEALTH_ASSET, metadata=queue),
            dg.AssetMaterialization(SPEND_ASSET, metadata=spend_numbers(ctx)),
            dg.AssetObservation(MEMORY_ASSET, metadata=memory_numbers(ctx)),
            *drift_evaluations(ctx, pipeline.settings),
        ]
        return dg.SensorResult(asset_events=events, skip_reason=f"reported: {_in_words(queue)}")

    return queue_health_sensor


def _in_words(queue: Mapping[str, int | float]) -> str:
    stopped = sum(queue[f"jobs_{name}"] for name in ("failed", "needs_review", "needs_credential"))
    return (
        f"{queue['jobs_due']} jobs due, {queue['jobs_waiting']} waiting for back-off, "
        f"{queue['jobs_running']} running, {stopped} need a person"
    )
