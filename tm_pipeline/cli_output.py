"""How the command line shows things: one JSON document for programs, tables for people."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tm_pipeline.services.demo import DemoReport
from tm_pipeline.store.heartbeat import seen_words

Renderable = str | Table | Callable[[Console], None]

CELL_CHARACTERS = 60  # longer texts are cut in tables, never in JSON


def emit(data: object, as_json: bool, human: Renderable) -> None:  # noqa: FBT001 - the flag is what it decides
    """Print ``data`` as JSON, or ``human`` for a person."""
    if as_json:
        click.echo(json.dumps(plain(data), ensure_ascii=False, indent=2))
    elif isinstance(human, str):
        click.echo(human)
    elif isinstance(human, Table):
        console().print(human)
    else:
        human(console())


def lines(items: Sequence[str], *, prefix: str, otherwise: str) -> str:
    """One item a line, or ``otherwise`` where there is none."""
    return "\n".join(f"{prefix}{item}" for item in items) or otherwise


def console() -> Console:
    """A console on the present standard output; colours and width follow the terminal."""
    return Console(highlight=False, soft_wrap=False)


def plain(value: object) -> Any:
    """``value`` in the types that JSON knows; keys that are not text are spelt out."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, (date, Path)) else value


def short(value: object, limit: int = CELL_CHARACTERS) -> str:
    """``value`` on one line of at most ``limit`` characters."""
    text = "" if value is None else " ".join(str(plain(value)).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], limit: int = CELL_CHARACTERS) -> Table:
    """A table whose cells are plain text: markup in a source text stays as it is."""
    result = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    for column in columns:
        result.add_column(column, overflow="fold")
    for row in rows:
        result.add_row(*(_cell(value, limit) for value in row))
    return result


def _cell(value: object, limit: int) -> str:
    # A backslash before the bracket is how rich is told to leave text such as [b] alone.
    return short(value, limit).replace("[", r"\[")


def print_status(out: Console, data: Mapping[str, Any]) -> None:
    """The queue, the money and the read models at one look."""
    groups = data.get("groups", {})
    calls = data.get("provider_calls", {})
    out.print(table("Jobs", ("status", "jobs"), sorted(data.get("jobs", {}).items())))
    out.print(
        f"Groups: {groups.get('due', 0)} due, {groups.get('running', 0)} running, "
        f"{groups.get('waiting', 0)} waiting; the oldest is due since "
        f"{data.get('oldest_due_age_seconds') or 0} s."
    )
    out.print(
        f"Provider calls: {calls.get('total', 0)} ({calls.get('done', 0)} done, "
        f"{calls.get('refused', 0)} refused, {calls.get('unknown', 0)} unknown, "
        f"{calls.get('in_flight', 0)} in flight); {data.get('characters_billed', 0)} characters billed."
    )
    rate = data.get("memory_hit_rate")
    out.print(
        f"Memory: {data.get('memory_units', 0)} units" + ("." if rate is None else f", hit rate {float(rate):.0%}.")
    )
    out.print(table("Read models", ("table", "rows"), sorted(data.get("read_models", {}).items())))
    print_providers(out, data.get("providers", {}))
    failures = data.get("materialize_failures") or 0
    if failures:
        out.print(f"Read models that could not be written: {failures}. Each one is tried again by itself.")
    seen = data.get("automation", {}).get("last_seen_age_seconds")
    out.print("No automation has worked here yet." if seen is None else f"{seen_words(seen).capitalize()}.")


def health(checks: Sequence[tuple[bool, str, str, str]]) -> str:
    """One line a check, never cut: whether it is well, its name, what was found and what to do."""
    return "\n".join(
        f"{'ok   ' if ok else 'WRONG'} {name}: {detail}" + (f"\n      → {remedy}" if remedy else "")
        for ok, name, detail, remedy in checks
    )


def print_providers(out: Console, states: Mapping[str, Mapping[str, Any]]) -> None:
    """Who may be called; an open circuit says why and since when."""
    rows = [
        (name, state.get("circuit"), state.get("blocked_until"), state.get("reason"))
        for name, state in sorted(states.items())
    ]
    out.print(table("Providers", ("provider", "circuit", "blocked until", "reason"), rows))


def print_jobs(out: Console, jobs: Sequence[Mapping[str, Any]]) -> None:
    """One line a job, with what it waits for."""
    rows = [
        (
            job["id"],
            f"{job['resource_type']}-{job['resource_id']}.{job['field_key']}",
            f"{job['source_language']} → {job['target_language']}",
            job["status"],
            job["retry_count"],
            short(job["source_text"], 30),
            job.get("last_error_message") or job.get("error_kind"),
        )
        for job in jobs
    ]
    out.print(table(f"{len(rows)} jobs", ("id", "field", "pair", "status", "tries", "source", "why"), rows))


def print_demo(report: DemoReport, home: Path) -> None:
    """The end of `make demo`: texts, saved calls, where to look and what to try."""
    out = console()
    for resource_type in dict.fromkeys(shown.resource_type for shown in report.shown):
        part = [shown for shown in report.shown if shown.resource_type == resource_type]
        languages = list(dict.fromkeys(language for shown in part for language in shown.translations))
        rows = [(s.field, s.source, *(s.translations.get(one, "as it is") for one in languages)) for s in part]
        out.print(table(resource_type, ("field", "source", *languages), rows))
    tool = ".venv/bin/tm-pipeline"
    jobs = sum(report.status["jobs"].values())
    units = report.status["memory_units"]
    saved = f" ({1 - units / jobs:.0%} saved)" if jobs else ""
    click.echo(
        f"\n{jobs} texts to translate, {units} of them distinct: only these went to the engine{saved}.\n"
        f"Provider calls: {report.status['provider_calls']['done']} "
        "(a text longer than the engine takes needs several).\n"
        "The engine is `pseudo`: it marks and accents texts. README: how to use a real one.\n\n"
        "Look at it:      make dev             (Dagster UI on the same data, http://127.0.0.1:3000)\n"
        f"What is where:   {tool} status\n"
        f"As a reader:     {tool} read content 4 en\n"
        f"Pay nothing:     {tool} scan --full    (books nothing: all is in the memory)\n"
        f"Change a text:   edit a row of `content` in {home / 'tm.db'}, then\n"
        f"                 {tool} scan && {tool} tick"
    )
