"""The README is true: its commands run, its settings exist, its example of a domain is valid."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.registry import parse_domains
from tm_pipeline.services.demo import add_sample_rows
from tm_pipeline.services.intake import scan
from tm_pipeline.services.status import status
from tm_pipeline.wiring import application

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MARKED = re.compile(r"<!-- run -->\n```sh\n(.*?)```", re.DOTALL)


def commands() -> list[str]:
    return [line for block in MARKED.findall(README) for line in block.splitlines() if line.strip()]


@pytest.mark.acceptance
def test_the_marked_commands_of_the_readme_run_in_their_order(tmp_path: Path) -> None:
    found = commands()
    assert len(found) >= 8
    env = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    env |= {"TM_HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{env['PATH']}"}
    for command in found:
        done = subprocess.run(
            command, shell=True, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip() or not command.startswith("tm-pipeline"), f"{command} printed nothing"
        if command.startswith("tm-pipeline migrate"):  # a reader has run `make demo`, which fills the tables
            ctx = application(env).context
            add_sample_rows(ctx)
            ctx.db.dispose()


@pytest.mark.acceptance
def test_the_demonstration_translates_everything_by_dagster_runs_and_a_full_scan_then_books_nothing(
    tmp_path: Path,
) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TM_", "DAGSTER_"))}
    env |= {"TM_HOME": str(tmp_path), "TM_DATABASE_URL": "mysql://nobody@127.0.0.1:1/never_touched"}
    tool = str(Path(sys.executable).parent / "tm-pipeline")
    shown = subprocess.run(
        [tool, "demo"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "⟦en⟧" in shown.stdout
    del env["TM_DATABASE_URL"]
    ctx = application(env).context
    numbers: Any = status(ctx)
    booked = [scan(ctx, domain, full=True).reserved.booked for domain in ctx.registry]
    ctx.db.dispose()
    assert set(numbers["jobs"]) == {"COMPLETED"}
    assert numbers["memory_units"] < numbers["jobs"]["COMPLETED"]
    assert all(numbers["read_models"].values())
    assert booked == [0] * 8


def test_the_table_of_settings_is_complete() -> None:
    read = set(re.findall(r'"(TM_[A-Z_]+)"', (ROOT / "tm_pipeline" / "settings.py").read_text(encoding="utf-8")))
    described = set(re.findall(r"^\| `(TM_[A-Z_]+)` \|", README, re.MULTILINE))
    assert described == read


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_examples_of_a_domains_file_are_valid() -> None:
    page = (ROOT / "docs" / "adding-a-domain.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    novel, changed = (parse_domains(text, file_name="domains.yaml", base=BUILTIN) for text in examples)
    assert list(novel.domains) == ["novel"]
    content = changed.get("content")
    assert content is not None
    assert content.target_languages == ("en", "ja", "th")
