"""Numbers that plot, a check of the invariants, and one clear line on a schema that does not fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef
from sqlalchemy import event, update

from tm_pipeline.domain.errors import SchemaError
from tm_pipeline.orchestration.health import build_health_sensor
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import Lane
from tm_pipeline.services.context import Context
from tm_pipeline.services.operate import pause_provider
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.tables import translation_job
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import insert_rows, reserve_everything

ROOT = Path(__file__).parents[3]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def evaluated(instance: dg.DagsterInstance) -> list[Any]:
    """The events of one evaluation of the sensor, as the daemon would get them."""
    resources = {"pipeline": Pipeline()}
    with dg.build_sensor_context(instance=instance, resources=resources) as context:
        data = build_health_sensor(automation=False).evaluate_tick(context)
    assert not data.run_requests
    assert data.skip_message is not None
    assert data.skip_message.startswith("reported: ")
    return list(data.asset_events)


def reported(instance: dg.DagsterInstance) -> dict[str, dict[str, Any]]:
    return {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.metadata.items()}
        for event in evaluated(instance)
        if isinstance(event, dg.AssetMaterialization | dg.AssetObservation)
    }


def test_queue_spend_and_memory_are_reported_as_numbers_without_a_run(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    numbers = reported(instance)
    assert numbers["queue_health"]["jobs_due"] == 2
    assert numbers["queue_health"]["groups_due"] == 2
    assert numbers["queue_health"]["oldest_due_age_seconds"] >= 0
    assert "memory_hit_rate" not in numbers["queue_health"]
    assert "call_p95_ms" not in numbers["queue_health"]
    assert numbers["spend"]["calls_total"] == 0
    assert numbers["spend"]["characters_billed"] == 0
    assert numbers["translation_memory"] == {"units": 0}


def test_every_number_plots(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}, {"id": 2, "name": "하나입니다"}])
    reserve_everything(ctx)
    run_tick(ctx, groups=20, drain=True, run_id="run")
    numbers = reported(instance)
    values = [value for found in numbers.values() for value in found.values()]
    assert all(isinstance(value, int | float) for value in values)
    assert numbers["queue_health"]["window_completed"] == 4
    assert numbers["queue_health"]["memory_hit_rate"] == 0.5
    assert numbers["queue_health"]["call_p95_ms"] >= 0
    assert numbers["spend"]["pseudo_calls"] == numbers["spend"]["window_calls_done"] == 2
    assert numbers["translation_memory"] == {
        "units": 2,
        "units_active": 2,
        "units_pseudo": 2,
        "units_ko_en": 1,
        "units_ko_ja": 1,
    }


def test_an_outage_shows_in_the_plots(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    pause_provider(ctx, "pseudo", actor="test", reason="outage")
    with ctx.db.begin() as conn:
        conn.execute(update(translation_job).values(next_retry_at=now_seconds(-7_300)))
    numbers = reported(instance)["queue_health"]
    assert numbers["oldest_due_age_seconds"] >= 7_300
    assert numbers["stopped_domains"] == len(ctx.registry.domains)
    with ctx.db.begin() as conn:
        conn.execute(update(translation_job).values(status="FAILED"))
    assert reported(instance)["queue_health"]["jobs_failed"] == 2


def test_drift_is_judged_at_each_report(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    with ctx.db.begin() as conn:
        conn.execute(update(translation_job).values(next_retry_at=now_seconds(-7_300)))
    judged = {one.check_name: one.passed for one in evaluated(instance) if isinstance(one, dg.AssetCheckEvaluation)}
    assert judged == {
        "no_due_group_waits_too_long": False,
        "few_jobs_fail": True,
        "few_calls_end_unknown": True,
        "no_read_model_waits_too_long": True,
    }


def test_a_report_counts_no_whole_table_of_jobs(ctx: Context, instance: dg.DagsterInstance) -> None:
    statements: list[str] = []

    def note(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(ctx.db.engine, "before_cursor_execute", note)
    evaluated(instance)
    event.remove(ctx.db.engine, "before_cursor_execute", note)
    about_jobs = [statement for statement in statements if "translation_job" in statement]
    assert about_jobs
    for statement in about_jobs:
        assert statement.count("translation_job \n") <= statement.count("LIMIT")


def test_a_schema_that_does_not_fit_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instance: dg.DagsterInstance
) -> None:
    monkeypatch.setenv("TM_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    current_application.cache_clear()
    with pytest.raises(SchemaError, match=r"^The database lacks .*\. Run tm-pipeline migrate\.$"):
        _ = Pipeline().context
    current_application().context.db.dispose()
    current_application.cache_clear()


@pytest.mark.parametrize("name", ["dagster.yaml", "dagster.mysql.yaml"])
def test_both_instance_files_are_valid_and_limit_every_lane(name: str, tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    ref = InstanceRef.from_dir(str(tmp_path))
    assert ref.settings["telemetry"] == {"enabled": False}
    concurrency: Any = ref.settings["concurrency"]
    limits = concurrency["runs"]["tag_concurrency_limits"]
    limited = {limit["value"] for limit in limits if limit["key"] == "tm/lane"}
    assert limited == {lane.value for lane in Lane} - {Lane.OPERATOR.value}


def test_the_instance_files_differ_in_their_storage_only() -> None:
    plain = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    mysql = yaml.safe_load((ROOT / "dagster.mysql.yaml").read_text(encoding="utf-8"))
    assert mysql.pop("storage") == {"mysql": {"mysql_url": {"env": "DAGSTER_MYSQL_URL"}}}
    assert mysql == plain
