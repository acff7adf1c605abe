"""The Dagster code location (``workspace.yaml`` names this module)."""

from tm_pipeline.orchestration.build import build_definitions

defs = build_definitions()
