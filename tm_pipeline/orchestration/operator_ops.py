"""The ops by which a person acts on many texts; each is one service call and safe to run twice.

An action that found nothing fails with "0 of 0": whoever pressed it meant something.
"""

import dagster as dg

from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.jobs import JobSelection
from tm_pipeline.orchestration.assets import asset_name
from tm_pipeline.orchestration.config import (
    CancelConfig,
    JobSelectionConfig,
    RematerialiseConfig,
    RetranslateConfig,
    RetryConfig,
)
from tm_pipeline.orchestration.failures import how_to_act, nothing_matched, plainly
from tm_pipeline.orchestration.metadata import read_model_metadata
from tm_pipeline.orchestration.ops import OUTPUTS
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services import operate
from tm_pipeline.services.context import Context
from tm_pipeline.services.materialise import Materialised, materialise_due, request_rebuild
from tm_pipeline.services.retranslate import Order, Retranslated, retranslate
from tm_pipeline.services.status import read_model_rows

Counts = dict[str, int]


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "retry"})
def retry_stopped(context: dg.OpExecutionContext, config: RetryConfig, pipeline: Pipeline) -> dg.Output[Counts]:
    """Start stopped jobs again, with all their attempts; a dry run by default.

    **When it fails**: a word in the form does not exist (the first line lists the right ones), or nothing
    matches: `0 of 0`.
    """
    with plainly():
        selection = _selection(pipeline.context, config, config.statuses)
        acted = operate.retry(
            pipeline.context, selection, actor=context.run_id, reason=config.reason, dry_run=config.dry_run
        )
    return _acted(context, acted, selection, "started again", dry_run=config.dry_run)


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "cancel"})
def cancel_selected(context: dg.OpExecutionContext, config: CancelConfig, pipeline: Pipeline) -> dg.Output[Counts]:
    """Stop jobs; a running one stops within one call. A dry run by default.

    A scan does not bring a cancelled job back; a reader who meets the source text does, and so does
    `retry_jobs` with the state CANCELLED. **When it fails**: as in `retry_jobs`, or no condition was given
    beside the state.
    """
    with plainly():
        if not (config.domains or config.target_languages or config.resource_ids or config.job_ids):
            raise UsageError("Say which jobs to stop: give domains, target_languages, resource_ids or job_ids.")
        selection = _selection(pipeline.context, config, config.statuses)
        acted = operate.cancel(
            pipeline.context, selection, actor=context.run_id, reason=config.reason, dry_run=config.dry_run
        )
    return _acted(context, acted, selection, "stopped", dry_run=config.dry_run)


def _selection(ctx: Context, config: JobSelectionConfig, statuses: list[str]) -> JobSelection:
    return operate.select_jobs(
        ctx,
        statuses=statuses,
        domains=config.domains,
        target_languages=config.target_languages,
        resource_ids=config.resource_ids,
        ids=config.job_ids,
    )


def _acted(
    context: dg.OpExecutionContext, acted: operate.Acted, selection: JobSelection, done: str, *, dry_run: bool
) -> dg.Output[Counts]:
    if not acted.matched:
        raise nothing_matched("jobs", selection)
    context.log.info(f"{acted.done} of {acted.matched} jobs {done}{how_to_act(dry_run=dry_run)}: {selection}")
    counts = {"matched": acted.matched, done.replace(" ", "_"): acted.done}
    return dg.Output(counts, metadata={**counts, "selection": str(selection), "dry_run": dry_run})


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "retranslate"})
def retranslate_selected(
    context: dg.OpExecutionContext, config: RetranslateConfig, pipeline: Pipeline
) -> dg.Output[Counts]:
    """Pay once more for texts that are translated already; a dry run by default, which shows the characters.

    Readers keep the present translation until the new one is there. People's translations stay, unless
    `over_human` is set and a reason given. Other resources with the same text follow when their read model is
    written next: launch `rematerialise`. **When it fails**: a word in the form does not exist, no domain was
    given, or nothing matches: `0 of 0`.
    """
    with plainly():
        if not config.domains:
            raise UsageError(f"Name at least one domain: {', '.join(pipeline.context.registry.domains)}.")
        total = Retranslated()
        for name in config.domains:
            order = Order(
                resource_type=name,
                target_languages=config.target_languages,
                resource_ids=config.resource_ids,
                engine_key=config.engine or None,
                over_human=config.over_human,
            )
            total += retranslate(
                pipeline.context,
                order,
                actor=context.run_id,
                run_id=context.run_id,
                reason=config.reason or ("" if config.over_human else "ordered in the launchpad"),
                dry_run=config.dry_run,
            )
    if not total.matched:
        raise nothing_matched("texts", config.model_dump())
    context.log.info(
        f"{total.booked} of {total.matched} texts booked{how_to_act(dry_run=config.dry_run)}; "
        f"{total.kept_human} of a person kept, {total.waiting} waiting already, "
        f"at most {total.characters} characters to pay"
    )
    counts = {name: int(getattr(total, name)) for name in Retranslated.__dataclass_fields__}
    return dg.Output(counts, metadata={**counts, "dry_run": config.dry_run})


@dg.op(out=dg.Out(io_manager_key=OUTPUTS), tags={"kind": "rematerialise"})
def rematerialise_selected(
    context: dg.OpExecutionContext, config: RematerialiseConfig, pipeline: Pipeline
) -> dg.Output[Counts]:
    """Write read models again from source and memory; calls no engine, books what is missing.

    The same as materialising the assets, for domains with different languages in one run. **When it fails**: a
    word in the form does not exist, nothing matches, or rows were refused; the first line says why.
    """
    with plainly():
        ctx = pipeline.context
        operate.require_ids(config.resource_ids)
        chosen = config.domains or list(ctx.registry.domains)
        wanted = {name: operate.known_languages(ctx, config.target_languages, [name]) or None for name in chosen}
        marked = {
            name: request_rebuild(
                ctx, resource_type=name, locales=locales, ids=config.resource_ids or None, dry_run=config.dry_run
            )
            for name, locales in wanted.items()
        }
        if not sum(marked.values()):
            raise nothing_matched("read models", config.model_dump())
        done = [] if config.dry_run else [_write(context, ctx, name, config) for name, count in marked.items() if count]
    failed = [f"{key}: {reason}" for one in done for key, reason in one.failed]
    counts = {
        "matched": sum(marked.values()),
        "written": sum(one.written for one in done),
        "removed": sum(one.removed for one in done),
        "waiting": sum(one.waiting + one.rebooked for one in done),
        "failed": len(failed),
    }
    context.log.info(
        f"{counts['written']} of {counts['matched']} read models written{how_to_act(dry_run=config.dry_run)}"
    )
    if failed:
        raise dg.Failure(f"{len(failed)} rows were refused; first: {failed[0]}", metadata=counts, allow_retries=False)
    return dg.Output(counts, metadata=counts)


def _write(context: dg.OpExecutionContext, ctx: Context, name: str, config: RematerialiseConfig) -> Materialised:
    domain = ctx.domain(name)
    locales = operate.known_languages(ctx, config.target_languages, [name]) or list(domain.target_languages)
    done = materialise_due(ctx, resource_type=name, locales=locales, ids=config.resource_ids or None)
    rows = read_model_rows(ctx, name)
    for locale in locales:
        metadata = read_model_metadata(done, locale, rows.get(locale, 0))
        context.log_event(dg.AssetMaterialization(asset_name(domain), partition=locale, metadata=metadata))
    return done
