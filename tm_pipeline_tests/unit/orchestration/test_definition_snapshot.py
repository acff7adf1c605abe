"""Everything that links, saved launchpads, dashboards and alerts refer to: a change of it shows in review.

After a wanted change: ``pytest tm_pipeline_tests/unit/orchestration/test_definition_snapshot.py --snapshot-update``.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest
from pydantic_core import PydanticUndefined
from syrupy.assertion import SnapshotAssertion

from tm_pipeline.orchestration import config
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.settings import Settings

DEFS = build_definitions(settings=Settings.from_env({}))
REPOSITORY = DEFS.get_repository_def()
GRAPH = REPOSITORY.asset_graph
LAUNCHPADS = sorted(
    (value for value in vars(config).values() if isinstance(value, type) and issubclass(value, dg.Config)),
    key=lambda form: form.__name__,
)


def asset(key: dg.AssetKey) -> Mapping[str, Any]:
    node = GRAPH.get(key)
    return {
        "deps": sorted(parent.to_user_string() for parent in node.parent_keys),
        "group": node.group_name,
        "kinds": sorted(node.kinds),
        "owners": sorted(node.owners),
        "tags": {name: value for name, value in sorted(node.tags.items()) if not name.startswith("dagster/kind/")},
        "metadata": sorted(node.metadata),
        "partitions": list(node.partitions_def.get_partition_keys()) if node.partitions_def else None,
        "single_run_backfill": bool(node.backfill_policy and node.backfill_policy.max_partitions_per_run is None),
        "freshness": str(node.freshness_policy) if node.freshness_policy else None,
        "checks": {
            check.name: "blocking" if GRAPH.get(check).blocking else "warning"
            for check in sorted(GRAPH.asset_check_keys, key=lambda check: check.name)
            if check.asset_key == key
        },
    }


def test_assets(snapshot: SnapshotAssertion) -> None:
    assert {key.to_user_string(): asset(key) for key in sorted(GRAPH.get_all_asset_keys())} == snapshot


def test_jobs(snapshot: SnapshotAssertion) -> None:
    jobs = [job for job in REPOSITORY.get_all_jobs() if not job.name.startswith("__")]
    assert {
        job.name: {
            "ops": sorted(node.definition.name for node in job.nodes),
            "owners": sorted(job.owners or ()),
            "tags": dict(sorted(job.tags.items())),
        }
        for job in sorted(jobs, key=lambda job: job.name)
    } == snapshot


def test_sensors_and_schedules(snapshot: SnapshotAssertion) -> None:
    sensors = sorted(REPOSITORY.sensor_defs, key=lambda sensor: sensor.name)
    schedules = sorted(REPOSITORY.schedule_defs, key=lambda schedule: schedule.name)
    assert {
        "sensors": {
            sensor.name: {
                "type": sensor.sensor_type.value,
                "seconds": sensor.minimum_interval_seconds,
                "default": sensor.default_status.value,
                "owners": sorted(sensor.owners or ()),
            }
            for sensor in sensors
        },
        "schedules": {
            schedule.name: {
                "cron": schedule.cron_schedule,
                "job": schedule.job_name,
                "default": schedule.default_status.value,
                "owners": sorted(schedule.owners or ()),
            }
            for schedule in schedules
        },
    } == snapshot


@pytest.mark.parametrize("form", LAUNCHPADS, ids=[form.__name__ for form in LAUNCHPADS])
def test_launchpads(form: type[dg.Config], snapshot: SnapshotAssertion) -> None:
    defaults = {
        name: "required" if field.default is PydanticUndefined else field.default
        for name, field in sorted(form.model_fields.items())
    }
    assert defaults == snapshot
