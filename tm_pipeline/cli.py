"""The command line: every verb is one call of a service, shown as a table or as JSON.

Exit codes: 0 done; 1 a check or some items failed; 2 wrong usage; 3 configuration or connection.
"""

import os
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import click

from tm_pipeline.cli_operate import OPERATOR_VERBS
from tm_pipeline.cli_output import (
    emit,
    health,
    lines,
    print_demo,
    print_jobs,
    print_status,
    table,
)
from tm_pipeline.cli_support import (
    EXIT_CONFIGURATION,
    EXIT_SOME_FAILED,
    EXIT_USAGE,
    chosen_domains,
    chosen_locale,
    domain_option,
    findings,
    json_option,
    locale_option,
    opened_context,
    opened_database,
    scan_each,
    status_option,
)
from tm_pipeline.domain.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    TmPipelineError,
    UsageError,
)
from tm_pipeline.domain.jobs import STOPPED, JobStatus
from tm_pipeline.services.demo import demo_environment, run_demo
from tm_pipeline.services.intake import fold_requests
from tm_pipeline.services.materialise import materialise_due, request_rebuild
from tm_pipeline.services.read import is_published, read
from tm_pipeline.services.status import list_jobs, status
from tm_pipeline.services.sweep import sweep
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate, pending
from tm_pipeline.store.requests import append_request


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; an expected failure is one line on standard error."""
    try:
        result = verbs.main(args=arguments, prog_name="tm-pipeline", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except click.Abort:
        click.echo("Stopped.", err=True)
        return EXIT_SOME_FAILED
    except TmPipelineError as error:
        click.echo(f"tm-pipeline: {error}", err=True)
        if isinstance(error, (ConfigurationError, DatabaseUnavailableError)):
            return EXIT_CONFIGURATION
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_SOME_FAILED
    return result if isinstance(result, int) else 0


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="tm-pipeline")
def verbs() -> None:
    """Translate a product's texts through a translation memory. Settings are TM_* variables (README)."""


@verbs.command("migrate")
@click.option("--check", is_flag=True, help="Only say what is missing; exit 1 if something is.")
@click.option("--with-sample", is_flag=True, help="Make the sample product's source tables too.")
@json_option
def migrate_verb(check: bool, with_sample: bool, as_json: bool) -> int:
    """Bring the database to this version. Running it again changes nothing."""
    with opened_database() as (_, db):
        names = pending(db) if check else migrate(db, with_sample=with_sample)
    word = "missing" if check else "applied"
    emit({word: names}, as_json, lines(names, prefix=f"{word} ", otherwise="The database is up to date."))
    return EXIT_SOME_FAILED if check and names else 0


@verbs.command("doctor")
@json_option
def doctor_verb(as_json: bool) -> int:
    """Check server, schema and source tables; every finding says what to do."""
    with opened_database() as (settings, db):
        found = findings(settings, db)
    data = [dict(zip(("ok", "name", "detail", "remedy"), check, strict=True)) for check in found]
    emit(data, as_json, health(found))
    return 0 if all(ok for ok, *_ in found) else EXIT_SOME_FAILED


@verbs.command("demo")
def demo_verb() -> int:
    """Translate the sample product with real Dagster runs, in the home folder, at no cost."""
    env = demo_environment(os.environ)
    with opened_database(env) as (settings, db):
        migrate(db, with_sample=True)
    with opened_context(env) as ctx:
        shown = run_demo(ctx, env=env, home=settings.home, say=click.echo)
    print_demo(shown, settings.home)
    return 0


@verbs.command("scan")
@domain_option
@click.option("--full", is_flag=True, help="Compare every row, not only those changed since the last scan.")
@json_option
def scan_verb(domain: str | None, full: bool, as_json: bool) -> int:
    """Find new and changed texts in the source tables and book what the memory lacks."""
    with opened_context() as ctx:
        found, failed = scan_each(ctx, chosen_domains(ctx, domain), full=full)
    rows = [
        (one.resource_type, one.rows, one.withdrawn, booked.segments, booked.hits, booked.booked)
        for one in found
        for booked in [one.reserved]
    ]
    columns = ("domain", "rows", "withdrawn", "texts", "from memory", "booked")
    emit(found, as_json, table("Scanned", columns, rows))
    return EXIT_CONFIGURATION if failed else 0


@verbs.command("request")
@click.argument("resource_type", metavar="TYPE")
@click.argument("resource_id", metavar="ID", type=int)
@locale_option
@json_option
def request_verb(resource_type: str, resource_id: int, locale: str | None, as_json: bool) -> int:
    """Ask for the translation of one resource, as an application does through the outbox."""
    with opened_context() as ctx:
        target = chosen_locale(ctx, locale, resource_type)
        ctx.db.run(
            lambda conn: append_request(
                conn,
                resource_type=resource_type,
                resource_id=resource_id,
                target_language=target,
                reason="operator",
            )
        )
        folded = fold_requests(ctx)
        present = is_published(ctx, resource_type, resource_id)
    if not present:
        raise UsageError(f"There is no published {resource_type} with id {resource_id}; nothing was booked.")
    emit(
        folded,
        as_json,
        f"Asked. Booked now: {folded.reserved.booked} texts, {folded.reserved.hits} from memory.",
    )
    return EXIT_SOME_FAILED if folded.dead else 0


@verbs.command("tick")
@click.option("--groups", type=click.IntRange(min=1), default=5, envvar="TM_GROUPS_PER_TICK", help="At most so many.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Take no new group after this time.")
@click.option("--drain", is_flag=True, help="Go on until nothing is due.")
@json_option
def tick_verb(groups: int, seconds: float | None, drain: bool, as_json: bool) -> int:
    """Do one tick without Dagster: intake, translation and read models."""
    with opened_context() as ctx:
        run_id = f"{os.uname().nodename}:{os.getpid()}:{uuid4().hex}"
        summary: Any = run_tick(ctx, groups=groups, seconds=seconds, drain=drain, run_id=run_id).as_dict()
    emit(summary, as_json, table("Tick", ("", ""), summary.items()))
    return EXIT_SOME_FAILED if any(summary["jobs"].get(state.value) for state in STOPPED) else 0


@verbs.command("status")
@json_option
def status_verb(as_json: bool) -> int:
    """Show the queue, the calls, the memory and the read models."""
    with opened_context() as ctx:
        data: Any = status(ctx)
    emit(data, as_json, lambda out: print_status(out, data))
    return 0


@verbs.command("jobs")
@status_option()
@domain_option
@locale_option
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@json_option
def jobs_verb(states: tuple[str, ...], domain: str | None, locale: str | None, limit: int, as_json: bool) -> int:
    """List jobs with their reason for waiting or failing."""
    with opened_context() as ctx:
        jobs = list_jobs(
            ctx,
            statuses=[JobStatus(state) for state in states] or None,
            resource_type=domain,
            target_language=chosen_locale(ctx, locale, domain),
            limit=limit,
        )
    emit(jobs, as_json, lambda out: print_jobs(out, jobs))
    return 0


@verbs.command("materialize")
@click.argument("domain", metavar="DOMAIN")
@locale_option
@click.option("--id", "ids", type=int, multiple=True, help="Only this resource; may be repeated.")
@json_option
def materialize_verb(domain: str, locale: str | None, ids: tuple[int, ...], as_json: bool) -> int:
    """Write read models again from source and memory; never calls a provider."""
    with opened_context() as ctx:
        target = chosen_locale(ctx, locale, domain)
        locales = [target] if target else None
        request_rebuild(ctx, resource_type=domain, locales=locales, ids=ids or None)
        done = materialise_due(ctx, resource_type=domain, locales=locales, ids=ids or None)
    counts = f"{done.written} written, {done.removed} removed, {done.waiting} wait for translations"
    failed = [f"{key}: {message}" for key, message in done.failed]
    emit(done, as_json, "\n".join([f"{domain}: {counts}, {len(failed)} failed.", *failed]))
    return EXIT_SOME_FAILED if failed else 0


@verbs.command("read")
@click.argument("resource_type", metavar="TYPE")
@click.argument("resource_id", metavar="ID", type=int)
@click.argument("locale", metavar="LOCALE")
@json_option
def read_verb(resource_type: str, resource_id: int, locale: str, as_json: bool) -> int:
    """Show what a reader sees now; a missing translation is booked, never waited for."""
    with opened_context() as ctx:
        reading = read(ctx, resource_type, resource_id, locale)
    stale = ", stale" if reading.stale else ""
    title = f"{reading.resource_type}-{reading.resource_id} in {reading.locale}: from {reading.origin}{stale}"
    emit(reading, as_json, table(title, ("field", "text"), reading.fields.items(), limit=10_000))
    return 0


@verbs.command("sweep")
@json_option
def sweep_verb(as_json: bool) -> int:
    """Take back what dead workers held; calls without an end become UNKNOWN."""
    with opened_context() as ctx:
        swept = sweep(ctx)
    rows = [*swept.leases.items(), ("calls → UNKNOWN", swept.unknown_calls)]
    emit(swept, as_json, table("Swept", ("change", "rows"), rows))
    return 0


@verbs.command("check")
@json_option
def check_verb(as_json: bool) -> int:
    """Run the invariants of sql/invariants.sql; every one must find nothing."""
    with opened_context() as ctx, ctx.db.read() as conn:
        found = violations(conn)
    rows = (("ok" if not count else "BROKEN", name, count) for name, count in found.items())
    emit(found, as_json, table("Invariants", ("", "invariant", "rows"), rows))
    return EXIT_SOME_FAILED if any(found.values()) else 0


for verb in OPERATOR_VERBS:
    verbs.add_command(verb)
