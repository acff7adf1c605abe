"""Assembles the code location from the settings and the domains; opens no connection.

Takes overrides, so that a test or an odd environment swaps a part instead of patching a module.
"""

import os
from collections.abc import Mapping
from typing import Any

import dagster as dg

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.orchestration.assets import external_assets, read_model_assets
from tm_pipeline.orchestration.io_manager import JsonOutputs
from tm_pipeline.orchestration.jobs import JOBS
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.schedules import build_schedules
from tm_pipeline.orchestration.sensors import build_sensors
from tm_pipeline.settings import Settings
from tm_pipeline.wiring import load_registry


def build_definitions(
    *,
    settings: Settings | None = None,
    registry: DomainRegistry | None = None,
    resources: Mapping[str, Any] | None = None,
) -> dg.Definitions:
    """The definitions of one code location."""
    settings = settings or Settings.from_env(os.environ)
    registry = registry or load_registry(settings)
    pipeline = Pipeline()
    return dg.Definitions(
        assets=[*external_assets(registry), *read_model_assets(registry)],
        jobs=list(JOBS),
        sensors=build_sensors(registry, automation=settings.automation),
        schedules=build_schedules(automation=settings.automation),
        executor=dg.in_process_executor,
        resources={"pipeline": pipeline, "json_outputs": JsonOutputs(pipeline=pipeline), **(resources or {})},
    )
