"""The verbs by which a person acts on jobs, translations, providers and old runs."""

import json
import os
import subprocess
import sys
from typing import Any

import click

from tm_pipeline.cli_output import emit, print_providers
from tm_pipeline.cli_support import (
    EXIT_SOME_FAILED,
    actor,
    json_option,
    locale_option,
    opened_context,
    operate_on_jobs,
    selection_options,
    status_option,
)
from tm_pipeline.domain.errors import ConfigurationError, TmPipelineError, UsageError
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services import operate
from tm_pipeline.services.retranslate import Order, retranslate
from tm_pipeline.services.status import status


@click.command("retry")
@status_option(JobStatus.FAILED, JobStatus.NEEDS_CREDENTIAL)
@selection_options
def retry_verb(**options: Any) -> int:
    """Start stopped jobs again, with all their attempts."""
    return operate_on_jobs(operate.retry, "start again", options)


@click.command("cancel")
@status_option(JobStatus.PENDING)
@selection_options
def cancel_verb(**options: Any) -> int:
    """Stop jobs; a scan does not bring them back, a request does."""
    return operate_on_jobs(operate.cancel, "stop", options)


@click.command("retranslate")
@click.argument("domain", metavar="DOMAIN")
@locale_option
@click.option("--id", "ids", type=int, multiple=True, help="Only this resource; may be repeated.")
@click.option("--engine", help="Only texts whose present translation is from this engine, such as papago.")
@click.option("--over-human", is_flag=True, help="Also replace what a person translated; needs --reason.")
@click.option("--reason", default="", help="Why; kept in the history.")
@click.option("--dry-run", is_flag=True, help="Only count texts and characters.")
@json_option
def retranslate_verb(
    *,
    domain: str,
    locale: str | None,
    ids: tuple[int, ...],
    engine: str | None,
    over_human: bool,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Pay once more for finished translations; readers keep the present ones until the new ones are there."""
    order = Order(
        resource_type=domain,
        target_languages=[locale] if locale else (),
        resource_ids=ids,
        engine_key=engine,
        over_human=over_human,
    )
    why = reason or ("" if over_human else "ordered on the command line")
    with opened_context() as ctx:
        done = retranslate(ctx, order, actor=actor(), reason=why, dry_run=dry_run)
    act = "would be booked" if dry_run else "booked"
    count = done.matched - done.kept_human if dry_run else done.booked
    said = (
        f"{count} of {done.matched} texts {act}; {done.kept_human} of a person kept, {done.waiting} waiting already, "
        f"at most {done.characters} characters to pay."
    )
    emit(done, as_json, said)
    return 0 if done.matched else EXIT_SOME_FAILED


@click.command("provider")
@click.argument("action", type=click.Choice(["list", "pause", "resume"]))
@click.argument("name", required=False)
@click.option("--reason", default="", help="Why; shown wherever the pause is shown.")
@json_option
def provider_verb(*, action: str, name: str | None, reason: str, as_json: bool) -> int:
    """List the providers, or stop and resume paying one."""
    with opened_context() as ctx:
        if name is None and action != "list":
            raise UsageError(f"Name one of these providers: {', '.join(ctx.engines.provider_names())}.")
        if name and action == "pause":
            operate.pause_provider(ctx, name, actor=actor(), reason=reason or "paused by an operator")
        elif name and action == "resume":
            operate.resume_provider(ctx, name, actor=actor())
        states: Any = status(ctx)["providers"]
    emit(states, as_json, lambda out: print_providers(out, states))
    return 0


@click.command("prune-runs")
@click.option("--older-than", "days", type=click.IntRange(min=1), default=90, show_default=True, help="In days.")
@click.option("--keep", type=click.IntRange(min=6), default=20, show_default=True, help="Newest runs of each job.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@json_option
def prune_runs_verb(*, days: int, keep: int, dry_run: bool, as_json: bool) -> int:
    """Delete old Dagster runs; the history of texts and calls stays in the database."""
    if not os.environ.get("DAGSTER_HOME"):
        raise ConfigurationError("DAGSTER_HOME is not set: name the home of the Dagster instance to prune.")
    form = {"older_than_days": days, "keep_of_each_job": keep, "dry_run": dry_run}
    # Dagster is imported in a process of its own: the command line stays free of it.
    command = [sys.executable, "-m", "tm_pipeline.orchestration.prune", json.dumps(form)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own module
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise TmPipelineError(f"The runs were not pruned: {last[0]}")
    counts = json.loads(done.stdout)
    emit(counts, as_json, f"{counts['deleted']} of {counts['matched']} old runs deleted.")
    return 0


OPERATOR_VERBS = (retry_verb, cancel_verb, retranslate_verb, provider_verb, prune_runs_verb)
