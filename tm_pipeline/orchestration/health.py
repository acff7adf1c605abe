"""What an operator watches: numbers of queue and spend over time, and the invariants as a check.

The numbers come from a sensor and not from a run: a run costs three CPU seconds and forty rows.
"""

from collections.abc import Mapping

import dagster as dg

from tm_pipeline.orchestration.assets import JOB_ASSET
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM
from tm_pipeline.services.status import status
from tm_pipeline.store.invariants import violations

HEALTH_ASSET, SPEND_ASSET = "queue_health", "spend"
EVERY_SECONDS = 600


def health_specs() -> list[dg.AssetSpec]:
    """The assets that hold the numbers; Dagster plots them under their metadata."""
    return [
        dg.AssetSpec(
            HEALTH_ASSET,
            deps=[JOB_ASSET],
            description="Whether the queue keeps up: jobs by state, groups due, the oldest one's age in seconds. "
            "Reported by `queue_health_sensor` every ten minutes; see *Plots*.",
            group_name="queue",
            kinds={"mysql"},
            owners=[PLATFORM],
            tags={"layer": "queue"},
        ),
        dg.AssetSpec(
            SPEND_ASSET,
            deps=[JOB_ASSET],
            description="What was paid for: calls by state, characters billed, share of fields from the memory. "
            "`unknown` calls ended with their worker and may have been billed. "
            "Reported by `queue_health_sensor` every ten minutes; see *Plots*.",
            group_name="memory",
            kinds={"mysql"},
            owners=[LOCALIZATION],
            tags={"layer": "memory"},
        ),
    ]


def build_health_sensor(*, automation: bool) -> dg.SensorDefinition:
    """The sensor that reports both assets."""
    working = dg.DefaultSensorStatus.RUNNING if automation else dg.DefaultSensorStatus.STOPPED

    @dg.sensor(
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=working,
        owners=[PLATFORM],
        description="Report the numbers of queue and spend every ten minutes. Launches no run.",
    )
    def queue_health_sensor(pipeline: Pipeline) -> dg.SensorResult:
        numbers = status(pipeline.context)
        events = [
            dg.AssetMaterialization(HEALTH_ASSET, metadata=queue_numbers(numbers)),
            dg.AssetMaterialization(SPEND_ASSET, metadata=spend_numbers(numbers)),
        ]
        return dg.SensorResult(asset_events=events, skip_reason=f"reported: {_counts(numbers['groups'])}")

    return queue_health_sensor


def queue_numbers(numbers: Mapping[str, object]) -> dict[str, int | float]:
    """The queue's part of a status, flat."""
    return {
        **{f"jobs_{name.lower()}": value for name, value in _numbers(numbers["jobs"]).items()},
        **{f"groups_{name}": value for name, value in _numbers(numbers["groups"]).items()},
        **_numbers(
            {name: numbers[name] for name in ("oldest_due_age_seconds", "memory_units", "materialize_failures")}
        ),
    }


def spend_numbers(numbers: Mapping[str, object]) -> dict[str, int | float]:
    """The ledger's part of a status, flat."""
    return {
        **{f"calls_{name}": value for name, value in _numbers(numbers["provider_calls"]).items()},
        **_numbers({name: numbers[name] for name in ("characters_billed", "memory_hit_rate")}),
    }


def _numbers(found: object) -> dict[str, int | float]:
    if not isinstance(found, Mapping):
        return {}
    return {str(name): value for name, value in found.items() if isinstance(value, int | float)}


def _counts(groups: object) -> str:
    return ", ".join(f"{value} groups {name}" for name, value in _numbers(groups).items())


@dg.asset_check(
    asset=JOB_ASSET,
    description="Runs `sql/invariants.sql`: unit keys are unique, a group is held once, ended calls free their key, "
    "and so on. Reads whole tables: press it after an incident. **When it fails**, its metadata names the invariant; "
    "`tm-pipeline check` prints the same.",
)
def no_invariant_is_broken(pipeline: Pipeline) -> dg.AssetCheckResult:
    """Each query of the file must find no row."""
    with pipeline.context.db.read() as conn:
        found = violations(conn)
    broken = {name: rows for name, rows in found.items() if rows}
    return dg.AssetCheckResult(
        passed=not broken,
        description=", ".join(f"{name}: {rows} rows" for name, rows in broken.items())
        or f"{len(found)} invariants hold",
        metadata=dict(found),
    )
