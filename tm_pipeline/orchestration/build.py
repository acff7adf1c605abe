"""Assembles the code locations from the settings and the domains; opens no connection.

Takes overrides, so that a test or an odd environment swaps a part instead of patching a module.
"""

import os
import platform
from collections.abc import Mapping
from typing import Any

import dagster as dg

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.orchestration.alerts import build_alert_sensors
from tm_pipeline.orchestration.assets import external_assets, read_model_assets
from tm_pipeline.orchestration.automation import build_automation_check
from tm_pipeline.orchestration.checks import build_checks
from tm_pipeline.orchestration.claiming_sensors import build_claiming_sensors
from tm_pipeline.orchestration.health import build_health_sensor, health_specs
from tm_pipeline.orchestration.io_manager import JsonOutputs
from tm_pipeline.orchestration.jobs import CLAIMING_JOBS, JOBS
from tm_pipeline.orchestration.resources import ClaimingRun, Pipeline
from tm_pipeline.orchestration.schedules import build_schedules
from tm_pipeline.orchestration.sensors import build_sensors
from tm_pipeline.orchestration.tags import tag_value
from tm_pipeline.settings import Settings
from tm_pipeline.wiring import load_registry


def build_definitions(
    *,
    settings: Settings | None = None,
    registry: DomainRegistry | None = None,
    resources: Mapping[str, Any] | None = None,
) -> dg.Definitions:
    """The definitions of the main code location."""
    settings = settings or Settings.from_env(os.environ)
    registry = registry or load_registry(settings)
    sensors = [
        *build_sensors(registry, automation=settings.automation),
        *build_claiming_sensors(automation=settings.automation, host=_host()),
        build_health_sensor(automation=settings.automation),
        *build_alert_sensors(automation=settings.automation),
    ]
    schedules = build_schedules(automation=settings.automation)
    return dg.Definitions(
        assets=[
            *external_assets(registry, git_url=settings.git_url),
            *health_specs(git_url=settings.git_url),
            *read_model_assets(registry, git_url=settings.git_url),
        ],
        asset_checks=[*build_checks(registry), build_automation_check(sensors, schedules)],
        jobs=list(JOBS),
        sensors=sensors,
        schedules=schedules,
        executor=dg.in_process_executor,
        resources={**_resources(), **(resources or {})},
    )


def build_worker_definitions(
    *, settings: Settings | None = None, host: str | None = None, resources: Mapping[str, Any] | None = None
) -> dg.Definitions:
    """The definitions of an extra host's code location: it drains the backlog, and nothing exists twice.

    No assets, because one asset may be defined in one location only; no ticks, because their delay is counted once.
    """
    settings = settings or Settings.from_env(os.environ)
    return dg.Definitions(
        jobs=list(CLAIMING_JOBS),
        sensors=build_claiming_sensors(automation=settings.automation, host=host or _host()),
        executor=dg.in_process_executor,
        resources={**_resources(), **(resources or {})},
    )


def _host() -> str:
    return tag_value(platform.node() or "localhost")


def _resources() -> dict[str, Any]:
    pipeline = Pipeline()
    return {"pipeline": pipeline, "run": ClaimingRun(), "json_outputs": JsonOutputs(pipeline=pipeline)}
