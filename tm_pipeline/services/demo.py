"""The demonstration: the sample product, real Dagster runs over it, and what came out.

It always uses the SQLite file of the home folder and the ``pseudo`` engine, whatever is configured:
a first try must neither touch a product's database nor cost anything.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tm_pipeline.domain.errors import ConfigurationError, TmPipelineError
from tm_pipeline.services.context import Context
from tm_pipeline.services.demo_data import SampleRow, sample_rows
from tm_pipeline.services.read import read
from tm_pipeline.services.status import status
from tm_pipeline.store.sample_rows import add_missing_rows

OVERRIDDEN = ("TM_DATABASE_URL", "TM_DOMAINS_FILE", "TM_PROVIDER", "TM_FAILPOINTS")
GROUPS_A_RUN = 60  # about eight seconds of work in one run
MOST_RUNS = 10
ROWS_SHOWN = 2  # per domain, and one of each further language
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One field of one resource: its source text and its text per language."""

    resource_type: str
    field: str
    source: str
    translations: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """What the demonstration shows at its end."""

    shown: Sequence[Shown]
    status: Mapping[str, Any]


def demo_environment(env: Mapping[str, str]) -> dict[str, str]:
    """``env`` without what could reach a product's database or cost money."""
    return {name: value for name, value in env.items() if name not in OVERRIDDEN}


def add_sample_rows(ctx: Context) -> int:
    """Insert the sample product's rows that are not there yet; returns how many."""
    added = 0
    for resource_type in dict.fromkeys(row.resource_type for row in sample_rows()):
        domain = ctx.domain(resource_type)
        rows = [_columns(ctx, row) for row in sample_rows() if row.resource_type == resource_type]
        added += ctx.db.run(partial(add_missing_rows, domain=domain, rows=rows))
    return added


def _columns(ctx: Context, row: SampleRow) -> dict[str, str | int | None]:
    source = ctx.domain(row.resource_type).source
    columns: dict[str, str | int | None] = {source.id_column: row.id}
    if source.language_column:
        columns[source.language_column] = row.language
    fields = {spec.key: spec.column for spec in ctx.domain(row.resource_type).fields}
    return columns | {fields.get(key, key): value for key, value in row.values.items()}


def prepare_dagster_home(home: Path) -> Path:
    """A Dagster home under ``home`` with the shipped instance file; returns its folder."""
    folder = home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    for shipped in (ROOT / "dagster.yaml", Path(__file__).parents[1] / "_instance" / "dagster.yaml"):
        if shipped.exists():
            shutil.copyfile(shipped, folder / "dagster.yaml")
            return folder
    raise ConfigurationError(f"dagster.yaml is missing in {ROOT}: install the package again.")


class DagsterRuns:
    """Starts real Dagster runs in processes of their own, on the home of the demonstration."""

    def __init__(self, ctx: Context, env: Mapping[str, str], home: Path, say: Callable[[str], None]) -> None:
        self._ctx = ctx
        self._home = prepare_dagster_home(home)
        self._env = {**env, "TM_HOME": str(home), "DAGSTER_HOME": str(self._home)}
        self._say = say

    def reserve(self) -> None:
        """Scan the source tables and book what the memory lacks."""
        self._run("Run reserve_translations: find the texts, book what is missing", _job("reserve_translations"))

    def translate(self) -> None:
        """Translate until nothing is due."""
        config = self._home / "demo-run.json"
        config.write_text(json.dumps({"ops": {"claim_groups": {"config": {"max_groups": GROUPS_A_RUN}}}}))
        for _ in range(MOST_RUNS):
            numbers: Any = status(self._ctx)
            due = numbers["groups"]["due"]
            if not due:
                return
            title = f"Run translate_due_groups: {due} groups are due"
            self._run(title, [*_job("translate_due_groups"), "-c", str(config)])

    def materialise(self, languages: Sequence[str]) -> None:
        """Write every read model in every language."""
        for language in languages:
            arguments = ["asset", "materialize", "-m", "tm_pipeline.definitions"]
            selected = ["--select", "group:read_models", "--partition", language]
            self._run(f"Materialise the read models in {language}", [*arguments, *selected])

    def _run(self, title: str, arguments: Sequence[str]) -> None:
        self._say(f"{title} …")
        begun = time.monotonic()
        log = self._home / "demo.log"
        with log.open("ab") as output:
            command = [sys.executable, "-m", "dagster", *arguments]
            done = subprocess.run(command, env=self._env, stdout=output, stderr=output, check=False)  # noqa: S603
        if done.returncode != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise TmPipelineError(f"{title}: the run failed. The end of {log}:\n{tail}")
        self._say(f"    done in {time.monotonic() - begun:.0f} s")


def _job(name: str) -> list[str]:
    return ["job", "execute", "-m", "tm_pipeline.definitions", "-j", name]


def target_languages(ctx: Context) -> list[str]:
    """Every language that some domain is translated into, in the order of the domains."""
    return list(dict.fromkeys(language for domain in ctx.registry for language in domain.target_languages))


def report(ctx: Context) -> DemoReport:
    """A few texts of every domain with their translations, and the numbers."""
    chosen: list[SampleRow] = []
    for row in sample_rows():
        part = [other for other in chosen if other.resource_type == row.resource_type]
        if len(part) < ROWS_SHOWN or row.language not in {other.language for other in part}:
            chosen.append(row)
    shown = [_shown(ctx, row) for row in chosen]
    return DemoReport(shown=shown, status=status(ctx))


def _shown(ctx: Context, row: SampleRow) -> Shown:
    domain = ctx.domain(row.resource_type)
    key = domain.field_keys[0]
    translations = {}
    for language in domain.target_languages:
        reading = read(ctx, row.resource_type, row.id, language, book=False)
        if language != row.language:
            translations[language] = reading.fields.get(key, "") if reading.origin == "read_model" else ""
    return Shown(
        resource_type=row.resource_type,
        field=f"{row.id}.{key}",
        source=row.values.get(key) or "",
        translations=translations,
    )


def run_demo(ctx: Context, *, env: Mapping[str, str], home: Path, say: Callable[[str], None]) -> DemoReport:
    """Do everything on a migrated database with the sample's source tables; running it again pays nothing."""
    say(f"The sample product is in {home / 'tm.db'}: {add_sample_rows(ctx)} new rows.")
    runs = DagsterRuns(ctx, env, home, say)
    runs.reserve()
    runs.translate()
    runs.materialise(target_languages(ctx))
    return report(ctx)
