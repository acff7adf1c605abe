"""Read models as assets: partitions, backfills, what a materialisation shows, and languages that come and go."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import AssetMaterialization

from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.orchestration.asset_metadata import SAMPLE_BYTES, code_reference, masked, sample_table
from tm_pipeline.orchestration.assets import JOB_ASSET, external_assets, read_model_asset, read_model_assets
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.coverage import SampleRow
from tm_pipeline.services.tick import run_tick
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import count, edit, insert_rows, reserve_everything, shown

ALL = {"dagster/asset_partition_range_start": "en", "dagster/asset_partition_range_end": "ko"}
NAMES = {1: "로맨스 판타지 소설 모음", 2: "현대 판타지 소설 모음", 3: "무협 소설 모음집"}
HOSTILE = "<script>alert(1)</script> | [x](javascript:1) `code` \u202e\x00"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def translated(ctx: Context) -> Context:
    insert_rows(ctx, "category", [{"id": key, "name": name} for key, name in NAMES.items()])
    reserve_everything(ctx)
    run_tick(ctx, groups=20, drain=True, run_id="run")
    return ctx


def materialise(
    instance: dg.DagsterInstance, *, tags: dict[str, str] | None = None, **config: Any
) -> dg.ExecuteInProcessResult:
    """One run of the category read model over a range of partitions, as a backfill and the sensor launch it."""
    return dg.materialize(
        [read_model_asset(current_application().context.domain("category"))],
        instance=instance,
        resources={"pipeline": Pipeline()},
        tags=ALL if tags is None else tags,
        run_config={"ops": {"category_translation": {"config": config}}},
        raise_on_error=False,
    )


def by_partition(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    found: list[AssetMaterialization] = [
        event.step_materialization_data.materialization for event in result.get_asset_materialization_events()
    ]
    return {
        str(one.partition): {name: value.value for name, value in one.metadata.items()}
        for one in found
        if one.partition
    }


def test_one_run_backfills_a_domain_over_all_languages(translated: Context, instance: dg.DagsterInstance) -> None:
    result = materialise(instance)
    assert result.success
    partitions = by_partition(result)
    assert set(partitions) == {"en", "ja", "ko"}
    for numbers in partitions.values():
        assert numbers["dagster/row_count"] == numbers["rows_touched"] == numbers["covered"] == 3
        assert numbers["coverage_percent"] == 100.0
        assert numbers["published"] == 3


def test_a_sample_shows_that_there_is_a_text_and_not_what_it_says(
    translated: Context, instance: dg.DagsterInstance
) -> None:
    numbers = by_partition(materialise(instance))["en"]
    table = numbers["sample"]
    assert table.count("\n") == 4
    assert "| 1 | `name` | 로맨스… (13) |" in table
    for name in NAMES.values():
        assert name not in table
    assert len(table.encode()) <= SAMPLE_BYTES


def test_only_the_given_ids_are_rebuilt_and_shown(translated: Context, instance: dg.DagsterInstance) -> None:
    numbers = by_partition(materialise(instance, ids=[2]))["ja"]
    assert numbers["rows_touched"] == 1
    assert "| 2 | `name` |" in numbers["sample"]
    assert "| 1 |" not in numbers["sample"]


def test_ids_that_match_nothing_touch_nothing(translated: Context, instance: dg.DagsterInstance) -> None:
    result = materialise(instance, ids=[999])
    assert {numbers["rows_touched"] for numbers in by_partition(result).values()} == {0}


def test_a_run_of_what_is_due_measures_only_the_languages_that_it_touched(
    translated: Context, instance: dg.DagsterInstance
) -> None:
    materialise(instance)
    edit(translated, "category", 1, name="777")
    quiet = by_partition(materialise(instance, only_due=True))
    assert all("coverage_percent" not in numbers for numbers in quiet.values())
    reserve_everything(translated)
    touched = by_partition(materialise(instance, only_due=True))
    assert all(numbers["coverage_percent"] == 100.0 for numbers in touched.values())


def test_what_cannot_be_shown_lowers_the_coverage(translated: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(translated, "category", [{"id": 4, "name": "아직 번역되지 않은 이름"}])
    numbers = by_partition(materialise(instance))
    assert numbers["en"]["coverage_percent"] == 75.0
    assert numbers["ko"]["coverage_percent"] == 100.0


@pytest.fixture
def with_languages(ctx: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Context]:
    """The application again, with other target languages of one domain."""

    def build(*languages: str) -> Context:
        written = tmp_path / "domains.yaml"
        written.write_text(DOMAINS.format(languages=", ".join(languages)), encoding="utf-8")
        monkeypatch.setenv("TM_DOMAINS_FILE", str(written))
        current_application().context.db.dispose()
        current_application.cache_clear()
        return current_application().context

    return build


DOMAINS = """
domains:
  category:
    source:
      {{table: category, language_column: language_code, updated_at_column: updated_at, published: {{is_active: 1}}}}
    fields:
      - {{key: name}}
    read_model: {{table: category_translation, key_column: category_id, shape: value}}
    target_languages: [{languages}]
"""


def test_a_language_added_in_the_configuration_is_backfilled_and_what_it_lacks_is_booked(
    translated: Context, instance: dg.DagsterInstance, with_languages: Callable[..., Context]
) -> None:
    ctx = with_languages("en", "ja", "ko", "fr")
    before = count(ctx, "translation_job")
    first = materialise(instance, tags={"dagster/partition": "fr"})
    assert first.success
    assert by_partition(first)["fr"]["coverage_percent"] == 0.0
    assert count(ctx, "translation_job") == before + 3
    run_tick(ctx, groups=20, drain=True, run_id="run")
    second = by_partition(materialise(instance, tags={"dagster/partition": "fr"}))["fr"]
    assert (second["coverage_percent"], second["dagster/row_count"]) == (100.0, 3)


@pytest.mark.parametrize("tags", [{"dagster/partition": "fr"}, {}])
def test_a_run_of_a_language_that_is_gone_fails_with_one_clear_line(
    translated: Context, instance: dg.DagsterInstance, tags: dict[str, str]
) -> None:
    failed = materialise(instance, tags=tags)
    assert not failed.success
    [event] = failed.get_step_failure_events()
    details = event.step_failure_data.user_failure_data
    assert details is not None
    assert str(details.description).startswith(
        f"category_translation has the languages en, ja, ko; this run asks for {tags.get('dagster/partition', 'none')}."
    )


def test_a_rebuild_of_every_language_removes_the_rows_of_one_that_is_gone(
    translated: Context, instance: dg.DagsterInstance, with_languages: Callable[..., Context]
) -> None:
    materialise(instance)
    ctx = with_languages("en", "ko")
    assert materialise(instance).success
    assert {locale for _, locale in shown(ctx, "category")} == {"en", "ko"}


def test_a_masked_text_shows_a_few_letters_at_most_a_third_and_its_length() -> None:
    assert masked("로맨스 판타지") == "로맨… (7)"
    assert masked("홍길동") == "홍… (3)"
    assert masked("김") == "… (1)"
    assert masked("") == "… (0)"
    assert masked("a" * 12_345) == "aaa… (12,345)"


@pytest.mark.parametrize("text", [HOSTILE, "|" * 90, "\n\n# heading\n", "e\u0301" * 50, "*bold* _it_", "&lt;b&gt;"])
def test_no_character_of_a_masked_text_can_be_read_as_markup(text: str) -> None:
    table = sample_table([SampleRow(resource_id=1, field_key="name", source=text, target=text)])
    cells = [cell.strip() for cell in table.splitlines()[-1].split("|")[1:-1]]
    assert cells[:2] == ["1", "`name`"]
    for cell in cells[2:]:
        assert not set(cell) & set("<>[]`*_#&|\n\u202e\x00")


def test_a_sample_never_exceeds_its_size() -> None:
    rows = [SampleRow(resource_id=10**18, field_key="k" * 80, source="가" * 9, target="가" * 9)] * 100
    assert len(sample_table(rows).encode()) <= SAMPLE_BYTES


def test_the_queue_and_the_memory_show_every_column_of_the_code() -> None:
    for spec in external_assets(builtin_registry()):
        schema = spec.metadata["dagster/column_schema"]
        assert isinstance(schema, dg.TableSchema)
        assert len(schema.columns) >= 2
    queue = next(spec for spec in external_assets(builtin_registry()) if spec.key == dg.AssetKey(JOB_ASSET))
    columns = {column.name: column for column in queue.metadata["dagster/column_schema"].columns}
    assert columns["status"].description
    assert not columns["status"].constraints.nullable
    assert columns["claim_token"].constraints.nullable


def test_an_asset_leads_to_its_code_on_disk_or_in_the_repository() -> None:
    local = code_reference(read_model_asset, "code", "")["dagster/code_references"].code_references[0]
    assert Path(local.file_path).name == "assets.py"
    linked = code_reference(read_model_asset, "code", "https://git.example/tm/blob/main/")
    url = linked["dagster/code_references"].code_references[0].url
    assert url.startswith("https://git.example/tm/blob/main/tm_pipeline/orchestration/assets.py#L")
    for asset in read_model_assets(builtin_registry(), git_url="https://git.example/tm"):
        assert "dagster/code_references" in asset.metadata_by_key[asset.key]


def test_nothing_private_is_in_the_metadata_of_a_run(translated: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(
        translated, "category", [{"id": 7, "name": HOSTILE.replace("\x00", ""), "updated_at": datetime.now(UTC)}]
    )
    reserve_everything(translated)
    run_tick(translated, groups=20, drain=True, run_id="run")
    numbers = by_partition(materialise(instance, ids=[7]))["en"]
    assert "script" not in numbers["sample"]
    assert "javascript" not in numbers["sample"]
