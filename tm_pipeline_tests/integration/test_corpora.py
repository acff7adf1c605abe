"""Real text through the main job: names from the babel wheel always, game dialogue where TM_CORPUS_DIR is set."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from babel import Locale

from tm_pipeline.domain.placeholders import multiset
from tm_pipeline.domain.text import normalise
from tm_pipeline.ports import Engine
from tm_pipeline.providers.pseudo import PseudoProvider
from tm_pipeline.services.context import Context
from tm_pipeline.services.intake import scan
from tm_pipeline.services.status import status
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.invariants import violations
from tm_pipeline_tests.integration.conftest import OneEngine
from tm_pipeline_tests.product import insert_rows, shown

CORPUS = Path(os.environ.get("TM_CORPUS_DIR", ""))
Row = dict[str, object]
NAMES_STEP = 3  # every third name keeps the fast suite fast


@pytest.fixture
def pseudo_ctx(make_context: Callable[..., Context]) -> Context:
    """The test database with the offline engine: a corpus is about texts, not about HTTP."""
    base = make_context()
    return Context(
        db=base.db,
        registry=base.registry,
        engines=OneEngine(Engine(key="pseudo", provider=PseudoProvider())),
        detector=None,
        policy=base.policy,
        random=base.random,
    )


def translate_all(ctx: Context, resource_type: str) -> dict[str, int]:
    """Scan and drain one domain; returns job status → count."""
    scan(ctx, ctx.domain(resource_type), full=True)
    run_tick(ctx, groups=50, drain=True, run_id="corpus")
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}
    jobs = status(ctx)["jobs"]
    assert isinstance(jobs, dict)
    return jobs


def test_every_name_of_a_place_or_language_is_paid_once_per_distinct_text(pseudo_ctx: Context) -> None:
    korean = Locale("ko")
    names = [*korean.territories.values(), *korean.languages.values()]
    insert_rows(pseudo_ctx, "category", [{"id": number, "name": name} for number, name in enumerate(names, 1)])
    jobs = translate_all(pseudo_ctx, "category")
    assert set(jobs) == {"COMPLETED"}
    distinct = {normalise(name) for name in names}
    calls = status(pseudo_ctx)["provider_calls"]
    assert isinstance(calls, dict)
    assert calls["done"] == len(distinct) * 2
    assert len(shown(pseudo_ctx, "category")) == len(names) * 3


def corpus_rows(name: str) -> list[Row]:
    """The rows of one sample file, without its licence row."""
    lines = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if not row.get("_meta")]


@pytest.mark.corpus
def test_game_dialogue_keeps_its_markup_and_line_breaks(pseudo_ctx: Context) -> None:
    lines = [row for row in corpus_rows("wesnoth-dialogue.jsonl") if row.get("en")]
    rows = [{"id": number, "text": row["en"], "language_code": "en"} for number, row in enumerate(lines, 1)]
    insert_rows(pseudo_ctx, "game_line", rows)
    jobs = translate_all(pseudo_ctx, "game_line")
    assert set(jobs) == {"COMPLETED"}
    models = shown(pseudo_ctx, "game_line")
    for row in rows:
        source, korean = str(row["text"]), str(models[int(str(row["id"])), "ko"])
        assert multiset(korean) == multiset(source)
        assert normalise(korean).count("\n") == normalise(source).count("\n")


@pytest.mark.corpus
def test_real_names_reach_their_read_models(pseudo_ctx: Context) -> None:
    names = [str(row["ko"]) for row in corpus_rows("scalar-names.jsonl") if row.get("ko")][::NAMES_STEP]
    rows = [{"id": number, "name": name, "language_code": "ko"} for number, name in enumerate(names, 1)]
    insert_rows(pseudo_ctx, "category", rows)
    assert set(translate_all(pseudo_ctx, "category")) == {"COMPLETED"}
