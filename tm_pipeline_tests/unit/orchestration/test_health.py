"""Numbers that plot, a check of the invariants, and one clear line on a schema that does not fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef
from sqlalchemy import update

from tm_pipeline.domain.errors import SchemaError
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.health import no_invariant_is_broken
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.settings import Settings
from tm_pipeline.store.tables import metadata
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import insert_rows, reserve_everything

ROOT = Path(__file__).parents[3]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def reported(instance: dg.DagsterInstance) -> dict[str, dict[str, Any]]:
    repository = build_definitions(settings=Settings.from_env({})).get_repository_def()
    resources = {"pipeline": Pipeline()}
    with dg.build_sensor_context(instance=instance, repository_def=repository, resources=resources) as context:
        data = repository.get_sensor_def("queue_health_sensor").evaluate_tick(context)
    assert not data.run_requests
    return {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.metadata.items()}
        for event in data.asset_events
        if isinstance(event, dg.AssetMaterialization)
    }


def test_queue_and_spend_are_reported_as_numbers_without_a_run(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    numbers = reported(instance)
    assert numbers["queue_health"]["jobs_pending"] == 2
    assert numbers["queue_health"]["groups_due"] == 2
    assert numbers["queue_health"]["oldest_due_age_seconds"] >= 0
    assert numbers["spend"]["calls_total"] == 0
    assert numbers["spend"]["characters_billed"] == 0


def test_the_check_names_the_invariant_that_is_broken(ctx: Context) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    sound = no_invariant_is_broken(pipeline=Pipeline())
    assert isinstance(sound, dg.AssetCheckResult)
    assert sound.passed
    jobs = metadata.tables["translation_job"]
    with ctx.db.begin() as conn:
        conn.execute(update(jobs).values(claim_token="left behind"))
    broken = no_invariant_is_broken(pipeline=Pipeline())
    assert isinstance(broken, dg.AssetCheckResult)
    assert not broken.passed
    assert broken.description == "only_running_jobs_hold_a_token: 2 rows"


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
    assert {limit["value"] for limit in limits if limit["key"] == "tm/lane"} == {
        "tick",
        "backlog",
        "intake",
        "read_models",
    }


def test_the_instance_files_differ_in_their_storage_only() -> None:
    plain = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    mysql = yaml.safe_load((ROOT / "dagster.mysql.yaml").read_text(encoding="utf-8"))
    assert mysql.pop("storage") == {"mysql": {"mysql_url": {"env": "DAGSTER_MYSQL_URL"}}}
    assert mysql == plain
