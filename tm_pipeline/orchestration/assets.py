"""Assets: source tables and queue as external assets, one materialisable read model per domain.

Read models are partitioned by target language and never call an engine. Everything is generated from
the domains: a new one in the domains file is a new pair of assets.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from tm_pipeline.domain.domains import Domain, DomainRegistry
from tm_pipeline.orchestration.asset_metadata import (
    JOB_COLUMNS,
    MEMORY_COLUMNS,
    code_reference,
    coverage_metadata,
    read_model_schema,
    sample_table,
    source_schema,
    table_schema,
)
from tm_pipeline.orchestration.config import ReadModelConfig
from tm_pipeline.orchestration.metadata import failures_of, read_model_metadata
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LOCALIZATION, PLATFORM, RANGE_END, RANGE_START
from tm_pipeline.services.context import Context
from tm_pipeline.services.coverage import coverage_of, sample
from tm_pipeline.services.materialise import Materialised, materialise_due, request_rebuild
from tm_pipeline.services.status import read_model_rows

JOB_ASSET, MEMORY_ASSET = "translation_job", "translation_memory"
HEALTH_ASSET, SPEND_ASSET = "queue_health", "spend"
ROWS_CHECK = "every_due_row_was_written"
PARTITION = "dagster/partition"


def asset_name(domain: Domain) -> str:
    """The name of a domain's read-model asset, which is also the name of its op in run configs."""
    return f"{domain.resource_type}_translation"


def external_assets(registry: DomainRegistry, *, git_url: str = "") -> list[dg.AssetSpec]:
    """The tables that others write, or the ops of a tick: shown for lineage, not materialisable."""
    code = code_reference(external_assets, "how it is declared", git_url)
    sources = [_source_spec(domain, code) for domain in registry]
    queue = dg.AssetSpec(
        JOB_ASSET,
        deps=[spec.key for spec in sources],
        description="The durable queue: one row per field that waits, runs or ended. "
        "`tm-pipeline jobs` lists it; the job `retry_jobs` starts stopped ones again.",
        group_name="queue",
        kinds={"mysql"},
        owners=[PLATFORM],
        metadata={
            "dagster/table_name": JOB_ASSET,
            "dagster/column_schema": table_schema(JOB_ASSET, JOB_COLUMNS),
            **code,
        },
        tags={"layer": "queue"},
    )
    memory = dg.AssetSpec(
        MEMORY_ASSET,
        deps=[JOB_ASSET],
        description="The translation memory: each text, language pair and engine once. "
        "Written by `translate_due_groups` and `drain_backlog`. `queue_health_sensor` observes it every ten minutes: "
        "units by status, engine and language pair; see *Plots*.",
        group_name="memory",
        kinds={"mysql"},
        owners=[LOCALIZATION],
        metadata={
            "dagster/table_name": MEMORY_ASSET,
            "dagster/column_schema": table_schema(MEMORY_ASSET, MEMORY_COLUMNS),
            **code,
        },
        tags={"layer": "memory"},
    )
    return [*sources, queue, memory]


def _source_spec(domain: Domain, code: dict[str, Any]) -> dg.AssetSpec:
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
            "dagster/column_schema": source_schema(domain),
            **code,
        },
    )


def read_model_asset(domain: Domain, *, git_url: str = "") -> dg.AssetsDefinition:
    """The read model of one domain.

    It has no freshness policy: Dagster's counts from the last materialisation, and a read model with nothing due is
    fresh however long ago that was. The check ``no_read_model_waits_too_long`` looks at what is due instead.
    """

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
        metadata=_read_model_metadata(domain, git_url),
        description=_read_model_words(domain),
    )
    def read_model(
        context: dg.AssetExecutionContext, config: ReadModelConfig, pipeline: Pipeline
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        ctx, locales = pipeline.context, _locales(context, domain)
        ids: Sequence[int] | None = config.ids or None
        if not config.only_due:
            marked = request_rebuild(ctx, resource_type=domain.resource_type, locales=locales, ids=ids)
            context.log.info(f"{marked} read models marked for a rebuild")
        # Marks of a language that was taken out of the domain belong to no partition and must go too.
        every_one = set(locales) == set(domain.target_languages)
        done = materialise_due(ctx, resource_type=domain.resource_type, locales=None if every_one else locales, ids=ids)
        for locale, numbers in _partitions(ctx, domain, done, locales, config).items():
            context.add_asset_metadata(numbers, partition_key=locale)
        context.log.info(_in_words(done))
        return dg.MaterializeResult(check_results=[_checked(done, locales)])

    return read_model


def _read_model_metadata(domain: Domain, git_url: str) -> dict[str, Any]:
    return {
        "dagster/table_name": domain.read_model.table,
        "dagster/column_schema": read_model_schema(domain),
        **code_reference(read_model_asset, "how it is materialised", git_url),
    }


def _read_model_words(domain: Domain) -> str:
    return (
        f"What readers of `{domain.resource_type}` see: one row per resource and language, assembled from the "
        "memory. **Materialise** a partition to rebuild it (no engine call, what is missing is booked); put ids "
        "into the launchpad to rebuild only those. Refreshed by `read_models_sensor` seconds after a translation. "
        "**When rows fail** they keep their own back-off, with the reason in `read_model_refresh`."
    )


def _locales(context: dg.AssetExecutionContext, domain: Domain) -> list[str]:
    """The languages of the run; a run of other times may name one that the domain no longer has."""
    try:
        return list(context.partition_keys)
    except (dg.DagsterInvalidInvocationError, dg.DagsterInvariantViolationError) as error:
        tags = context.run.tags
        asked = sorted({tags[name] for name in (PARTITION, RANGE_START, RANGE_END) if name in tags})
        raise dg.Failure(
            f"{asset_name(domain)} has the languages {', '.join(domain.target_languages)}; this run asks for "
            f"{', '.join(asked) or 'none'}. Launch it from the asset's page, where the present ones are to choose. "
            "Rows of a language that is gone are removed when all partitions are materialised.",
            allow_retries=False,
        ) from error


def _partitions(
    ctx: Context, domain: Domain, done: Materialised, locales: Sequence[str], config: ReadModelConfig
) -> dict[str, dict[str, Any]]:
    """The metadata of each partition; coverage and samples only where this run changed or rebuilt something."""
    rows = read_model_rows(ctx, domain.resource_type)
    everywhere = done.removed or not config.only_due
    touched = [locale for locale in locales if everywhere or done.rows_by_locale.get(locale)]
    covered = coverage_of(ctx, domain, touched)
    found = {}
    for locale in locales:
        found[locale] = read_model_metadata(done, locale, rows.get(locale, 0))
        if locale in covered:
            shown = sample_table(sample(ctx, domain, locale, config.ids))
            found[locale] |= {**coverage_metadata(covered[locale]), "sample": dg.MetadataValue.md(shown)}
    return found


def _in_words(done: Materialised) -> str:
    return (
        f"{done.written} written, {done.removed} removed, {done.waiting} waiting for jobs, "
        f"{done.rebooked} booked again, {len(done.failed)} failed"
    )


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


def read_model_assets(registry: DomainRegistry, *, git_url: str = "") -> list[dg.AssetsDefinition]:
    """One asset per domain."""
    return [read_model_asset(domain, git_url=git_url) for domain in registry]
