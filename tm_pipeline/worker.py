"""The code location of an extra host: ``dagster api grpc -m tm_pipeline.worker`` (docs/several-machines.md)."""

from tm_pipeline.orchestration.build import build_worker_definitions

defs = build_worker_definitions()
