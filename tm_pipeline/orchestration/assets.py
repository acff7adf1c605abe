"""Assets: source tables and queue as external assets, one materialisable read model per domain.

Read models are partitioned by target language and never call an engine. Everything is generated from
the domains: a new one in the domains file is a new pair of assets.
"""

from collections.abc import Sequence

import dagster as dg

from tm_pipeline.domain.domains import Domain, DomainRegistry, ReadModelShape
from tm_pipeline.orchestration.config import ReadModelConfig
from tm_pipeline.orchestration.metadata import failures_of, read_model_metadata
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM
from tm_pipeline.services.materialise import Materialised, materialise_due, request_rebuild
from tm_pipeline.services.status import read_model_rows

JOB_ASSET, MEMORY_ASSET = "translation_job", "translation_memory"
ROWS_CHECK = "every_due_row_was_written"


def asset_name(domain: Domain) -> str:
    """The name of a domain's read-model asset, which is also the name of its op in run configs."""
    return f"{domain.resource_type}_translation"


def external_assets(registry: DomainRegistry) -> list[dg.AssetSpec]:
    """The tables that others write, or the ops of a tick: shown for lineage, not materialisable."""
    sources = [_source_spec(domain) for domain in registry]
    queue = dg.AssetSpec(
        JOB_ASSET,
        deps=[spec.key for spec in sources],
        description="The durable queue: one row per field that waits, runs or ended. "
        "`tm-pipeline jobs` lists it; the job `retry_jobs` starts stopped ones again.",
        group_name="queue",
        kinds={"mysql"},
        owners=[PLATFORM],
        metadata={"dagster/table_name": JOB_ASSET},
        tags={"layer": "queue"},
    )
    memory = dg.AssetSpec(
        MEMORY_ASSET,
        deps=[JOB_ASSET],
        description="The translation memory: each text, language pair and engine once. "
        "Written by `translate_due_groups` and `drain_backlog`.",
        group_name="memory",
        kinds={"mysql"},
        owners=[LOCALIZATION],
        metadata={"dagster/table_name": MEMORY_ASSET},
        tags={"layer": "memory"},
    )
    return [*sources, queue, memory]


def _source_spec(domain: Domain) -> dg.AssetSpec:
    return dg.AssetSpec(
        f"source_{domain.resource_type}",
        description=f"The product's table `{domain.source.table}`: fields {', '.join(domain.field_keys)}. "
        "Read only; scanned by `reserve_translations`.",
        group_name="source",
        kinds={"mysql"},
        owners=[PLATFORM],
        tags={"domain": domain.resource_type},
        metadata={
            "dagster/table_name": domain.source.table,
            "dagster/column_schema": dg.TableSchema(
                [dg.TableColumn(domain.source.id_column, "bigint", "The resource's id.")]
                + [dg.TableColumn(spec.column, spec.kind.value, f"Field {spec.key}.") for spec in domain.fields]
            ),
        },
    )


def read_model_asset(domain: Domain) -> dg.AssetsDefinition:
    """The read model of one domain."""

    @dg.asset(
        name=asset_name(domain),
        deps=[MEMORY_ASSET],
        group_name="read_models",
        kinds={"mysql"},
        owners=[LOCALIZATION],
        tags={"domain": domain.resource_type},
        partitions_def=dg.StaticPartitionsDefinition(list(domain.target_languages)),
        backfill_policy=dg.BackfillPolicy.single_run(),
        check_specs=[_rows_check(domain)],
        metadata={"dagster/table_name": domain.read_model.table, "dagster/column_schema": _columns(domain)},
        description=(
            f"What readers of `{domain.resource_type}` see: one row per resource and language, assembled from the "
            "memory. **Materialise** a partition to rebuild it (no engine call, what is missing is booked); put ids "
            "into the launchpad to rebuild only those. Refreshed by `read_models_sensor` seconds after a translation. "
            "**When rows fail** they keep their own back-off, with the reason in `read_model_refresh`."
        ),
    )
    def read_model(
        context: dg.AssetExecutionContext, config: ReadModelConfig, pipeline: Pipeline
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        ctx, locales = pipeline.context, list(context.partition_keys)
        ids: Sequence[int] | None = config.ids or None
        if not config.only_due:
            marked = request_rebuild(ctx, resource_type=domain.resource_type, locales=locales, ids=ids)
            context.log.info(f"{marked} read models marked for a rebuild")
        # Marks of a language that was taken out of the domain belong to no partition and must go too.
        every_one = config.only_due and set(locales) == set(domain.target_languages)
        done = materialise_due(ctx, resource_type=domain.resource_type, locales=None if every_one else locales, ids=ids)
        rows = read_model_rows(ctx, domain.resource_type)
        for locale in locales:
            context.add_asset_metadata(read_model_metadata(done, locale, rows.get(locale, 0)), partition_key=locale)
        context.log.info(
            f"{done.written} written, {done.removed} removed, {done.waiting} waiting for jobs, "
            f"{done.rebooked} booked again, {len(done.failed)} failed"
        )
        return dg.MaterializeResult(check_results=[_checked(done, locales)])

    return read_model


def _rows_check(domain: Domain) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        ROWS_CHECK,
        asset=asset_name(domain),
        description="No read model of this run was refused, by its own limits or by the database. A refused row keeps "
        "its previous state and is tried again later; its reason says which field is too long or what the database "
        "answered.",
    )


def _checked(done: Materialised, locales: Sequence[str]) -> dg.AssetCheckResult:
    failed = [line for locale in locales for line in failures_of(done, locale)]
    return dg.AssetCheckResult(
        check_name=ROWS_CHECK,
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,
        description=failed[0] if failed else f"{done.written} rows written",
        metadata={"failed": len(failed)},
    )


def _columns(domain: Domain) -> dg.TableSchema:
    model = domain.read_model
    content = (
        dg.TableColumn("payload", "json", f"The texts by field key: {', '.join(domain.field_keys)}.")
        if model.shape is ReadModelShape.PAYLOAD
        else dg.TableColumn("value", "text", f"The text of {domain.field_keys[0]}.")
    )
    hot = [dg.TableColumn(column, "text", f"Repeats {key} for lists.") for column, key in model.hot_columns.items()]
    return dg.TableSchema(
        [
            dg.TableColumn(model.key_column, "bigint", "The resource's id."),
            dg.TableColumn("locale", "string", "The target language; unique together with the id."),
            content,
            *hot,
            dg.TableColumn("source_fingerprint", "string", "Of the source texts that this row was made from."),
            dg.TableColumn("source_version", "bigint", "The source row's version at that time."),
        ]
    )


def read_model_assets(registry: DomainRegistry) -> list[dg.AssetsDefinition]:
    """One asset per domain."""
    return [read_model_asset(domain) for domain in registry]
