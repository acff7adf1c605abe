"""Assets: source tables and queue as external assets, one materialisable read model per domain.

Read models are partitioned by target language and never call an engine. Everything is generated from
the domains: a new one in the domains file is a new pair of assets.
"""

from collections.abc import Sequence

import dagster as dg

from tm_pipeline.domain.domains import Domain, DomainRegistry
from tm_pipeline.orchestration.config import ReadModelConfig
from tm_pipeline.orchestration.metadata import read_model_metadata
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM, Lane, lane_tags
from tm_pipeline.services.materialise import materialise_due, request_rebuild
from tm_pipeline.services.status import read_model_rows

JOB_ASSET, MEMORY_ASSET = "translation_job", "translation_memory"


def external_assets(registry: DomainRegistry) -> list[dg.AssetSpec]:
    """The tables that others write, or the ops of a tick: shown for lineage, not materialisable."""
    sources = [
        dg.AssetSpec(
            f"source_{domain.resource_type}",
            description=f"The product's table `{domain.source.table}`: fields {', '.join(domain.field_keys)}. "
            "Read only; scanned by `reserve_translations`.",
            group_name="source",
            kinds={"mysql"},
            owners=[PLATFORM],
            tags={"domain": domain.resource_type},
            metadata={"dagster/table_name": domain.source.table},
        )
        for domain in registry
    ]
    queue = dg.AssetSpec(
        JOB_ASSET,
        deps=[spec.key for spec in sources],
        description="The durable queue: one row per field that waits, runs or ended. "
        "`tm-pipeline jobs` lists it; the job `retry_jobs` starts stopped ones again.",
        group_name="queue",
        kinds={"mysql"},
        owners=[PLATFORM],
        metadata={"dagster/table_name": JOB_ASSET},
    )
    memory = dg.AssetSpec(
        MEMORY_ASSET,
        deps=[JOB_ASSET],
        description="The translation memory: each text, language pair and engine once. "
        "Written by `translate_due_groups`.",
        group_name="memory",
        kinds={"mysql"},
        owners=[LOCALIZATION],
        metadata={"dagster/table_name": MEMORY_ASSET},
    )
    return [*sources, queue, memory]


def read_model_asset(domain: Domain) -> dg.AssetsDefinition:
    """The read model of one domain."""

    @dg.asset(
        name=domain.read_model.table,
        deps=[MEMORY_ASSET],
        group_name="read_models",
        kinds={"mysql"},
        owners=[LOCALIZATION],
        tags={"domain": domain.resource_type},
        partitions_def=dg.StaticPartitionsDefinition(list(domain.target_languages)),
        backfill_policy=dg.BackfillPolicy.single_run(),
        op_tags=lane_tags(Lane.READ_MODELS),
        metadata={"dagster/table_name": domain.read_model.table},
        description=(
            f"What readers of `{domain.resource_type}` see: one row per resource and language, assembled from the "
            "memory. **Materialise** a partition to rebuild it (no engine call, what is missing is booked); put ids "
            "into the launchpad to rebuild only those. Refreshed by `read_models_sensor` seconds after a translation. "
            "**When rows fail** they keep their own back-off, with the reason in `read_model_refresh`."
        ),
    )
    def read_model(context: dg.AssetExecutionContext, config: ReadModelConfig, pipeline: Pipeline) -> None:
        ctx, locales = pipeline.context, list(context.partition_keys)
        ids: Sequence[int] | None = config.ids or None
        if not config.only_due:
            marked = request_rebuild(ctx, resource_type=domain.resource_type, locales=locales, ids=ids)
            context.log.info(f"{marked} read models marked for a rebuild")
        done = materialise_due(ctx, resource_type=domain.resource_type, locales=locales, ids=ids)
        rows = read_model_rows(ctx, domain.resource_type)
        for locale in locales:
            context.add_asset_metadata(read_model_metadata(done, locale, rows.get(locale, 0)), partition_key=locale)
        context.log.info(
            f"{done.written} written, {done.removed} removed, {done.waiting} waiting for jobs, "
            f"{done.rebooked} booked again, {len(done.failed)} failed"
        )

    return read_model


def read_model_assets(registry: DomainRegistry) -> list[dg.AssetsDefinition]:
    """One asset per domain."""
    return [read_model_asset(domain) for domain in registry]
