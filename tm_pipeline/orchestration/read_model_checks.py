"""Checks of one domain's read model: well formed, current, complete, covered."""

from collections.abc import Iterator, Sequence

import dagster as dg

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.orchestration.assets import asset_name
from tm_pipeline.orchestration.check_results import ERROR, WARN, Verdict, check_result
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.coverage import NAMED, Audit, audit_keys, audit_rows, coverage_of

COVERED_PERCENT = 95.0
REBUILD = "Materialise the named partitions; where it comes back, launch `reserve_translations` with `full`."


def read_model_checks_of(domain: Domain) -> dg.AssetChecksDefinition:
    """The checks of one domain's read model."""
    asset = asset_name(domain)

    @dg.multi_asset_check(
        name=f"{asset}_checks",
        specs=_specs(asset),
        can_subset=True,
        description="Compares the read model with its source and its domain; reads both tables. **Red**: read the "
        "description of the check that failed.",
    )
    def read_model_checks(context: dg.AssetCheckExecutionContext, pipeline: Pipeline) -> Iterator[dg.AssetCheckResult]:
        selected = {key.name for key in context.selected_asset_check_keys}
        for name, verdict in read_model_verdicts(pipeline.context, domain, selected).items():
            severity = WARN if name == "every_language_is_covered" else ERROR
            yield check_result(name, asset, severity, verdict)

    return read_model_checks


def _specs(asset: str) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            "payload_keys_match_the_domain",
            asset=asset,
            blocking=True,
            description="Every row holds exactly the domain's fields. After a change of the domain: materialise all "
            "partitions.",
        ),
        dg.AssetCheckSpec(
            "no_read_model_is_older_than_its_source",
            asset=asset,
            blocking=True,
            description="Every row shows the source that intake has seen, unless a job or a refresh mark says why not. "
            + REBUILD,
        ),
        dg.AssetCheckSpec(
            "no_text_is_lost",
            asset=asset,
            blocking=True,
            description="Every published resource has a row in each language, or a job or mark that says why not. "
            + REBUILD,
        ),
        dg.AssetCheckSpec(
            "every_language_is_covered",
            asset=asset,
            description=f"At least {COVERED_PERCENT:.0f} % of the published resources are shown in each language, "
            "without a field that needs a person. Look at the jobs that stopped: `retry_jobs` with `dry_run`.",
        ),
    ]


def read_model_verdicts(ctx: Context, domain: Domain, selected: set[str]) -> dict[str, Verdict]:
    """The verdicts of the selected claims about one read model."""
    found: dict[str, Verdict] = {}
    if "payload_keys_match_the_domain" in selected:
        keys = audit_keys(ctx, domain)
        words = f"{keys.wrong:,} of {keys.rows:,} rows differ{_named(keys.first)}"
        found["payload_keys_match_the_domain"] = Verdict(
            passed=not keys.wrong, words=words, numbers={"rows": keys.rows, "wrong": keys.wrong, "threshold": 0}
        )
    walked = {"no_read_model_is_older_than_its_source", "no_text_is_lost"} & selected
    audit = audit_rows(ctx, domain) if walked else Audit()
    for name, groups, what in (
        ("no_read_model_is_older_than_its_source", audit.stale, "older than their source"),
        ("no_text_is_lost", audit.lost, "not there"),
    ):
        if name in walked:
            found[name] = _audited(audit, groups, what)
    if "every_language_is_covered" in selected:
        found["every_language_is_covered"] = _covered(ctx, domain)
    return found


def _audited(audit: Audit, groups: Sequence[GroupKey], what: str) -> Verdict:
    return Verdict(
        passed=not groups,
        words=f"{len(groups):,} of {audit.judged:,} rows are {what}{_named([str(group) for group in groups])}",
        numbers={"judged": audit.judged, "offenders": len(groups), "threshold": 0},
    )


def _named(offenders: Sequence[str]) -> str:
    return f": {', '.join(offenders[:NAMED])}" if offenders else ""


def _covered(ctx: Context, domain: Domain) -> Verdict:
    found = coverage_of(ctx, domain, domain.target_languages)
    low = [f"{locale} {one.percent:g} %" for locale, one in found.items() if one.percent < COVERED_PERCENT]
    return Verdict(
        passed=not low,
        words=f"below {COVERED_PERCENT:g} %: {', '.join(low)}" if low else f"{len(found)} languages are covered",
        numbers={
            "threshold": COVERED_PERCENT,
            **{f"coverage_{locale}": one.percent for locale, one in found.items()},
            "published": max((one.published for one in found.values()), default=0),
        },
    )
