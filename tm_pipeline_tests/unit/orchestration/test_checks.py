"""Checks: each claim fails when it is violated, with its numbers, and drift is judged without a run."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import insert, text, update

from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.orchestration.assets import ROWS_CHECK, external_assets, read_model_assets
from tm_pipeline.orchestration.checks import INVARIANTS, build_checks
from tm_pipeline.orchestration.drift import DRIFT, drift_evaluations
from tm_pipeline.orchestration.health import health_specs
from tm_pipeline.orchestration.read_model_checks import read_model_verdicts
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.services.materialise import materialise_all_due, request_rebuild
from tm_pipeline.services.tick import run_tick
from tm_pipeline.settings import Settings
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.invariants import named_queries
from tm_pipeline.store.tables import metadata, translation_job
from tm_pipeline_tests.product import insert_rows, reserve_everything

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
REGISTRY = builtin_registry()
DEFS = dg.Definitions(
    assets=[*external_assets(REGISTRY), *health_specs(), *read_model_assets(REGISTRY)],
    asset_checks=build_checks(REGISTRY),
    resources={"pipeline": Pipeline()},
)
READ_MODEL_CLAIMS = {
    "payload_keys_match_the_domain",
    "no_read_model_is_older_than_its_source",
    "no_text_is_lost",
    "every_language_is_covered",
}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def translated(ctx: Context) -> Context:
    insert_rows(ctx, "content", [{"id": key, "title": f"제목 {key}번", "updated_at": LONG_AGO} for key in range(1, 4)])
    reserve_everything(ctx)
    run_tick(ctx, groups=20, drain=True, run_id="run")
    materialise_all_due(ctx)
    change(ctx, "UPDATE sensor_watermark SET watermark = :at", at=datetime.now(UTC) + timedelta(minutes=1))
    return ctx


def change(ctx: Context, statement: str, **values: Any) -> None:
    with ctx.db.begin() as conn:
        conn.execute(text(statement), values)


def evaluate(
    instance: dg.DagsterInstance, asset: str, *names: str
) -> tuple[dg.ExecuteInProcessResult, dict[str, dg.AssetCheckEvaluation]]:
    """Press some checks of an asset, as the UI does."""
    job = DEFS.get_repository_def().get_implicit_global_asset_job_def()
    keys = {dg.AssetCheckKey(dg.AssetKey(asset), name) for name in names}
    result = job.get_subset(asset_check_selection=keys).execute_in_process(instance=instance, raise_on_error=False)
    return result, {one.check_name: one for one in result.get_asset_check_evaluations()}


def test_every_invariant_of_the_file_is_a_check_that_says_what_to_do() -> None:
    assert set(INVARIANTS) == set(named_queries())
    for name, (asset, words) in INVARIANTS.items():
        assert asset in {"translation_job", "translation_memory", "spend"}, name
        assert words.count(".") >= 2, name


def test_every_check_is_described_and_only_invariants_block() -> None:
    graph = DEFS.get_repository_def().asset_graph
    warnings = {claim.name for claim in DRIFT} | {"every_language_is_covered", "every_due_row_was_written"}
    for key in graph.asset_check_keys:
        node = graph.get(key)
        assert node.description, key
        assert node.blocking == (key.name not in warnings), key


def test_pressed_invariants_pass_on_a_sound_database(translated: Context, instance: dg.DagsterInstance) -> None:
    mine = [name for name, (asset, _) in INVARIANTS.items() if asset == "translation_job"]
    result, found = evaluate(instance, "translation_job", *mine)
    assert result.success
    assert {name for name, one in found.items() if one.passed} == set(mine)


def test_a_broken_invariant_is_an_error_with_its_number_and_the_others_still_pass(
    translated: Context, instance: dg.DagsterInstance
) -> None:
    with translated.db.begin() as conn:
        conn.execute(update(translation_job).values(claim_token="left behind"))
    names = ("only_running_jobs_hold_a_token", "every_status_is_known")
    result, found = evaluate(instance, "translation_job", *names)
    assert not result.success
    broken = found["only_running_jobs_hold_a_token"]
    assert (broken.passed, broken.severity, broken.blocking) == (False, dg.AssetCheckSeverity.ERROR, True)
    assert {name: value.value for name, value in broken.metadata.items()} == {"rows": 6, "threshold": 0}
    assert found["every_status_is_known"].passed


def test_a_broken_memory_stops_a_rebuild_in_the_same_run(translated: Context, instance: dg.DagsterInstance) -> None:
    change(translated, "UPDATE translation_memory SET translated_text = ''")
    job = DEFS.get_repository_def().get_implicit_global_asset_job_def()
    result = job.get_subset(
        asset_selection={dg.AssetKey("content_translation")},
        asset_check_selection={
            dg.AssetCheckKey(dg.AssetKey("translation_memory"), "no_unit_is_empty"),
            dg.AssetCheckKey(dg.AssetKey("content_translation"), ROWS_CHECK),
        },
    ).execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={"dagster/asset_partition_range_start": "en", "dagster/asset_partition_range_end": "ko"},
    )
    assert not result.success
    assert result.get_asset_materialization_events() == []


VIOLATIONS = {
    "payload_keys_match_the_domain": """UPDATE content_translation SET payload = '{"title": "x"}' WHERE id = 1""",
    "no_read_model_is_older_than_its_source": "UPDATE content SET title = '다른 제목' WHERE id = 1",
    "no_text_is_lost": "DELETE FROM content_translation WHERE content_id = 1",
    "every_language_is_covered": "DELETE FROM content_translation WHERE content_id = 1 AND locale = 'en'",
}


@pytest.mark.parametrize("name", sorted(VIOLATIONS))
def test_a_violated_claim_about_a_read_model_fails_its_check(
    translated: Context, instance: dg.DagsterInstance, name: str
) -> None:
    before, sound = evaluate(instance, "content_translation", *READ_MODEL_CLAIMS)
    assert before.success
    assert {one for one, found in sound.items() if found.passed} == READ_MODEL_CLAIMS
    change(translated, VIOLATIONS[name])
    _, found = evaluate(instance, "content_translation", *READ_MODEL_CLAIMS)
    assert not found[name].passed
    warning = name == "every_language_is_covered"
    assert found[name].severity is (dg.AssetCheckSeverity.WARN if warning else dg.AssetCheckSeverity.ERROR)
    assert "threshold" in found[name].metadata


def test_the_verdict_names_the_first_offenders(translated: Context) -> None:
    change(translated, "DELETE FROM content_translation WHERE content_id = 2")
    verdict = read_model_verdicts(translated, translated.domain("content"), {"no_text_is_lost"})["no_text_is_lost"]
    assert verdict.words == "3 of 9 rows are not there: content-2 → en, content-2 → ja, content-2 → ko"


def test_a_read_model_of_a_domain_without_times_is_not_judged(translated: Context) -> None:
    domain = translated.domain("content")
    timeless = replace(domain, source=replace(domain.source, updated_at_column=None))
    change(translated, "DELETE FROM content_translation")
    verdict = read_model_verdicts(translated, timeless, {"no_text_is_lost"})["no_text_is_lost"]
    assert verdict.passed
    assert verdict.numbers["judged"] == 0


def drift(ctx: Context, **settings: str) -> dict[str, dg.AssetCheckEvaluation]:
    return {one.check_name: one for one in drift_evaluations(ctx, Settings.from_env(settings))}


def test_nothing_drifts_in_a_quiet_pipeline(translated: Context) -> None:
    assert {name for name, one in drift(translated).items() if one.passed} == {claim.name for claim in DRIFT}


def test_a_group_that_has_been_due_for_too_long_is_a_warning(translated: Context) -> None:
    with translated.db.begin() as conn:
        conn.execute(update(translation_job).values(status="PENDING", next_retry_at=now_seconds(-3_700)))
    found = drift(translated)["no_due_group_waits_too_long"]
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.WARN
    assert found.metadata["threshold"].value == 3_600
    assert 3_700 <= int(str(found.metadata["oldest_due_age_seconds"].value)) < 3_800
    assert drift(translated, TM_BACKLOG_AGE_SECONDS="7200")["no_due_group_waits_too_long"].passed


@pytest.mark.parametrize(("recorded", "failed", "passed"), [(19, 19, True), (20, 2, True), (20, 3, False)])
def test_the_failure_rate_of_the_last_hour_is_a_warning_once_there_are_enough(
    ctx: Context, recorded: int, failed: int, *, passed: bool
) -> None:
    values = {"resource_type": "content", "resource_id": 1, "event": "recorded", "actor": "pipeline"}
    with ctx.db.begin() as conn:
        for number in range(recorded):
            status = "FAILED" if number < failed else "COMPLETED"
            conn.execute(
                insert(metadata.tables["translation_event"]).values(
                    **values, to_status=status, occurred_at=now_precise()
                )
            )
    found = drift(ctx)["few_jobs_fail"]
    assert found.passed is passed
    assert found.description == f"{failed} of {recorded} fields of the last hour need a person"


def test_more_unknown_calls_than_one_crash_leaves_are_a_warning(translated: Context) -> None:
    change(translated, "UPDATE provider_call SET state = 'UNKNOWN' WHERE id <= 4")
    assert drift(translated)["few_calls_end_unknown"].passed
    change(translated, "UPDATE provider_call SET state = 'UNKNOWN'")
    found = drift(translated)["few_calls_end_unknown"]
    assert not found.passed
    assert found.description == "6 of 6 calls of the last hour may have been paid without a reply"


def test_a_read_model_that_nobody_writes_is_a_warning(translated: Context) -> None:
    with translated.db.begin() as conn:
        conn.execute(
            insert(metadata.tables["read_model_refresh"]).values(
                resource_type="content",
                resource_id=1,
                target_language="en",
                reason="test",
                attempts=0,
                next_attempt_at=now_seconds(-1_000),
            )
        )
    assert not drift(translated)["no_read_model_waits_too_long"].passed


def test_a_person_may_press_a_warning_too(translated: Context, instance: dg.DagsterInstance) -> None:
    result, found = evaluate(instance, "translation_job", "few_jobs_fail", "no_due_group_waits_too_long")
    assert result.success
    assert {name: one.passed for name, one in found.items()} == {
        "few_jobs_fail": True,
        "no_due_group_waits_too_long": True,
    }


def test_a_refresh_launched_by_the_sensor_leaves_the_checks_out_that_read_whole_tables(
    translated: Context, instance: dg.DagsterInstance
) -> None:
    from tm_pipeline.orchestration.sensors import build_sensors

    request_rebuild(translated, resource_type="content")
    sensor = next(one for one in build_sensors(REGISTRY, automation=False) if one.name == "read_models_sensor")
    with dg.build_sensor_context(
        instance=instance, repository_def=DEFS.get_repository_def(), resources={"pipeline": Pipeline()}
    ) as context:
        [request] = sensor.evaluate_tick(context).run_requests or []
    assert request.asset_check_keys == [dg.AssetCheckKey(dg.AssetKey("content_translation"), ROWS_CHECK)]
