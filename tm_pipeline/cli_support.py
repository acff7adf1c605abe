"""What the verbs of the command line share: options, the open database, checked arguments."""

import getpass
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from tm_pipeline.cli_output import emit
from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import ConfigurationError, SchemaError
from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services import operate
from tm_pipeline.services.context import Context
from tm_pipeline.services.intake import Scanned, scan
from tm_pipeline.settings import Settings
from tm_pipeline.store.doctor import examine
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import require_current
from tm_pipeline.store.sources import check_source
from tm_pipeline.wiring import application, load_registry

F = TypeVar("F", bound=Callable[..., Any])

EXIT_SOME_FAILED = 1
EXIT_USAGE = 2
EXIT_CONFIGURATION = 3


def json_option(command: F) -> F:
    """``--json`` as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def domain_option(command: F) -> F:
    """``--domain``."""
    return click.option("--domain", "-d", help="Only this domain.")(command)


def locale_option(command: F) -> F:
    """``--locale``."""
    return click.option("--locale", "-l", help="Only this target language.")(command)


def status_option(*default: JobStatus) -> Callable[[F], F]:
    """``--status`` as ``states``, repeatable."""
    choice = click.Choice([state.value for state in JobStatus], case_sensitive=False)
    text = "Only jobs in this state; may be repeated."
    return click.option(
        "--status", "-s", "states", type=choice, multiple=True, default=default, show_default=True, help=text
    )


def selection_options(command: F) -> F:
    """The filters and switches of the verbs that change many jobs."""
    command = click.option("--id", "ids", type=int, multiple=True, help="Only this job; repeatable.")(command)
    command = click.option("--reason", default="", help="Why; kept in the history.")(command)
    command = click.option("--dry-run", is_flag=True, help="Only count.")(command)
    return domain_option(locale_option(json_option(command)))


@contextmanager
def opened_database(env: Mapping[str, str] = os.environ) -> Iterator[tuple[Settings, Database]]:
    """The settings and the database alone, for verbs that must work before the schema is there."""
    settings = Settings.from_env(env)
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"TM_HOME {settings.home} cannot be made ({error.strerror}): name another.") from error
    db = open_database(settings.database_url.reveal())
    try:
        yield settings, db
    finally:
        db.dispose()


@contextmanager
def opened_context(env: Mapping[str, str] = os.environ) -> Iterator[Context]:
    """Everything that a verb needs, closed at the end; raises ``SchemaError`` for another schema."""
    ctx = application(env).context
    try:
        require_current(ctx.db)
        yield ctx
    finally:
        ctx.db.dispose()


def chosen_domains(ctx: Context, name: str | None) -> list[Domain]:
    """The domain ``name``, or all of them; raises ``UsageError`` for an unknown one."""
    return [ctx.domain(name)] if name else list(ctx.registry.domains.values())


def chosen_locale(ctx: Context, tag: str | None, domain: str | None) -> str | None:
    """``tag`` as it is stored; raises ``UsageError`` where nothing is translated into it."""
    if tag is None:
        return None
    return operate.known_languages(ctx, [tag], [domain] if domain else ())[0]


def actor() -> str:
    """Who acts, for the history."""
    return f"cli:{getpass.getuser()}"


def operate_on_jobs(action: Callable[..., operate.Acted], word: str, options: dict[str, Any]) -> int:
    """Run ``action`` of services/operate on the jobs that ``selection_options`` chose.

    Ids that name no such job are a failure: whoever typed them meant something.
    """
    domain, locale, dry_run = options["domain"], options["locale"], options["dry_run"]
    with opened_context() as ctx:
        selection = operate.select_jobs(
            ctx,
            statuses=options["states"],
            domains=[domain] if domain else (),
            target_languages=[locale] if locale else (),
            ids=options["ids"],
        )
        reason = options["reason"] or f"{word} from the command line"
        acted = action(ctx, selection, actor=actor(), reason=reason, dry_run=dry_run)
    said = f"{acted.matched} jobs would {word}." if dry_run else f"{acted.done} of {acted.matched} jobs: {word}."
    count = acted.matched if dry_run else acted.done
    emit({"jobs": count, "matched": acted.matched, "dry_run": dry_run}, options["as_json"], said)
    return EXIT_SOME_FAILED if options["ids"] and acted.matched < len(set(options["ids"])) else 0


def findings(settings: Settings, db: Database) -> list[tuple[bool, str, str, str]]:
    """Whether it is well, name, detail and remedy: of the server, the schema and every source table."""
    checks = examine(db, list(load_registry(settings)))
    return [(check.ok, check.name, check.detail, "" if check.ok else check.remedy) for check in checks]


def scan_each(ctx: Context, domains: Sequence[Domain], *, full: bool) -> tuple[list[Scanned], bool]:
    """Scan ``domains``; one whose tables do not fit is reported, and the others go on.

    Returns the scans and whether a domain had to be left out.
    """
    found, failed = [], False
    for domain in domains:
        try:
            found.append(scan(ctx, domain, full=full, on_page=_progress(domain)))
        except SchemaError as error:
            failed = True
            with ctx.db.read() as conn:
                problems = check_source(conn, domain) or [f"{domain.resource_type}: {error}"]
            for problem in problems:
                click.echo(f"tm-pipeline: {problem}", err=True)
    return found, failed


def _progress(domain: Domain) -> Callable[[int], None] | None:
    """Counts rows on a terminal's standard error; None where nobody looks."""
    if not sys.stderr.isatty():
        return None
    return lambda rows: click.echo(f"\r{domain.resource_type}: {rows} rows", nl=False, err=True)
