"""What sensors decide, on a real queue and an instance in memory."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test
from sqlalchemy import update

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.ticks import RunTick, SkipTick
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.sensors import tick_decision
from tm_pipeline.services.claim import claim_groups
from tm_pipeline.services.context import Context
from tm_pipeline.services.operate import request_translation
from tm_pipeline.services.work import work_groups
from tm_pipeline.settings import Settings
from tm_pipeline.store.heartbeat import last_seen_age_seconds
from tm_pipeline.store.provider_states import open_circuit
from tm_pipeline.store.tables import metadata, source_table
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import edit, insert_rows, reserve_everything

STARTED = dg.DagsterRunStatus.STARTED
TICK = {"tm/lane": "tick"}
RESOURCES = {"pipeline": Pipeline()}
BY_READ_MODELS = {"tm/trigger": "read_models_sensor"}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def evaluate(
    name: str, instance: dg.DagsterInstance, *, registry: DomainRegistry | None = None, cursor: str | None = None
) -> Any:
    """The execution data of one evaluation, as the daemon would get it."""
    repository = build_definitions(settings=Settings.from_env({}), registry=registry).get_repository_def()
    with dg.build_sensor_context(
        instance=instance, repository_def=repository, resources=RESOURCES, cursor=cursor
    ) as context:
        return repository.get_sensor_def(name).evaluate_tick(context)


def skipped(name: str, instance: dg.DagsterInstance) -> str:
    """Why it skips; asserts that it launches nothing."""
    data = evaluate(name, instance)
    assert data.run_requests in (None, [])
    return str(data.skip_message)


def requested(name: str, instance: dg.DagsterInstance) -> dg.RunRequest:
    """The one run it launches."""
    requests: Sequence[dg.RunRequest] = evaluate(name, instance).run_requests or []
    assert len(requests) == 1
    return requests[0]


def names_to_translate(ctx: Context, *names: str) -> None:
    insert_rows(ctx, "category", [{"id": number, "name": name} for number, name in enumerate(names, 1)])
    reserve_everything(ctx)


def test_a_tick_is_skipped_with_numbers_when_nothing_is_due(ctx: Context, instance: dg.DagsterInstance) -> None:
    assert skipped("fixed_delay_sensor", instance) == "0 due, 0 waiting for back-off"


def test_the_first_tick_follows_none(ctx: Context, instance: dg.DagsterInstance) -> None:
    names_to_translate(ctx, "하나입니다")
    request = requested("fixed_delay_sensor", instance)
    assert request.run_key == "tick-after-none"
    assert request.tags["tm/trigger"] == "fixed_delay_sensor"
    assert request.run_config == {"ops": {"claim_groups": {"config": {"max_groups": 5}}}}


@pytest.mark.parametrize("status", ["NOT_STARTED", "STARTING", "STARTED", "CANCELING"])
def test_a_tick_never_starts_beside_a_live_one(ctx: Context, instance: dg.DagsterInstance, status: str) -> None:
    names_to_translate(ctx, "하나입니다")
    create_run_for_test(instance, "translate_due_groups", status=dg.DagsterRunStatus(status), tags=TICK)
    assert skipped("fixed_delay_sensor", instance) == "a tick is running (1)"


def test_the_delay_counts_from_the_end_of_the_last_tick_and_its_successor_has_its_key(
    ctx: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    names_to_translate(ctx, "하나입니다", "둘입니다", "셋입니다")
    job = build_definitions(settings=Settings.from_env({})).get_job_def("translate_due_groups")
    ended = job.execute_in_process(
        instance=instance, run_config={"ops": {"claim_groups": {"config": {"max_groups": 1}}}}
    )
    assert ended.success
    reason = skipped("fixed_delay_sensor", instance)
    assert reason.startswith("5 due, next tick in ")
    assert 500 < int(reason.split()[-2]) <= 600
    monkeypatch.setenv("TM_FIXED_DELAY_MS", "0")
    current_application.cache_clear()
    assert requested("fixed_delay_sensor", instance).run_key == f"tick-after-{ended.run_id}"


def test_the_schedule_takes_the_same_decision_as_the_sensor(ctx: Context, tmp_path: Path) -> None:
    repository = build_definitions(settings=Settings.from_env({})).get_repository_def()
    schedule = repository.get_schedule_def("ten_minute_schedule")

    def evaluated(kept: dg.DagsterInstance) -> Any:
        with dg.build_schedule_context(
            instance=kept,
            repository_def=repository,
            resources=RESOURCES,
            scheduled_execution_time=datetime.now(UTC),
        ) as context:
            return schedule.evaluate_tick(context)

    with dg.DagsterInstance.local_temp(str(tmp_path)) as kept:
        assert evaluated(kept).skip_message == "0 due, 0 waiting for back-off"
        names_to_translate(ctx, "하나입니다")
        assert [request.run_key for request in evaluated(kept).run_requests] == ["tick-after-none"]


def test_read_models_that_are_not_due_launch_nothing(ctx: Context, instance: dg.DagsterInstance) -> None:
    assert skipped("read_models_sensor", instance) == "0 read models due, 0 waiting for back-off"


def test_due_read_models_of_several_domains_are_one_run_over_all_languages(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    names_to_translate(ctx, "하나입니다")
    insert_rows(ctx, "content", [{"id": 1, "title": "제목입니다"}])
    reserve_everything(ctx)
    work_groups(ctx, claim_groups(ctx, limit=10, claimed_by="test-run"), run_id="test-run")
    request = requested("read_models_sensor", instance)
    models = ["category_translation", "content_translation"]
    assert sorted(key.to_user_string() for key in request.asset_selection or []) == models
    assert request.tags["dagster/asset_partition_range_start"] == "en"
    assert request.tags["dagster/asset_partition_range_end"] == "ko"
    assert request.tags["tm/lane"] == "read_models"
    assert request.run_config == {"ops": {name: {"config": {"only_due": True}} for name in models}}
    create_run_for_test(instance, "__ASSET_JOB", status=STARTED, tags=BY_READ_MODELS)
    assert skipped("read_models_sensor", instance) == "a read-model run is live (1)"


def everything_taken_in(ctx: Context) -> None:
    names_to_translate(ctx, "하나입니다")
    edit(ctx, "category", 1, name="둘입니다")
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    table = source_table(ctx.domain("category"))
    with ctx.db.begin() as conn:
        conn.execute(update(table).values(updated_at=long_ago))
    reserve_everything(ctx)


def test_intake_is_skipped_when_nothing_changed(ctx: Context, instance: dg.DagsterInstance) -> None:
    everything_taken_in(ctx)
    reason = r"0 outbox rows, 0 of 8 source tables changed, next reconciliation in 8\d{4} s"
    assert re.fullmatch(reason, skipped("source_change_sensor", instance))


def test_an_outbox_row_launches_intake_once(ctx: Context, instance: dg.DagsterInstance) -> None:
    everything_taken_in(ctx)
    request_translation(ctx, "category", 1)
    request = requested("source_change_sensor", instance)
    assert request.tags["tm/reason"] == "outbox"
    assert request.run_config == {"ops": {"reserve": {"config": {"full": False}}}}
    create_run_for_test(instance, "reserve_translations", status=STARTED)
    assert skipped("source_change_sensor", instance) == "intake is running (1)"


def test_a_changed_row_launches_intake(ctx: Context, instance: dg.DagsterInstance) -> None:
    everything_taken_in(ctx)
    edit(ctx, "category", 1, name="셋입니다")
    assert requested("source_change_sensor", instance).tags["tm/reason"] == "changes-in-category"


def test_a_row_dated_in_the_future_does_not_launch_intake_at_every_look(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    everything_taken_in(ctx)
    table, marks = source_table(ctx.domain("category")), metadata.tables["sensor_watermark"]
    with ctx.db.begin() as conn:
        conn.execute(update(table).values(updated_at=datetime.now(UTC) + timedelta(hours=9)))
    assert skipped("source_change_sensor", instance).startswith("0 outbox rows")
    with ctx.db.begin() as conn:
        conn.execute(update(marks).values(watermark=datetime.now(UTC) - timedelta(seconds=90)))
    assert requested("source_change_sensor", instance).tags["tm/reason"] == "changes-in-category"


def test_a_table_that_was_never_read_launches_intake(ctx: Context, instance: dg.DagsterInstance) -> None:
    assert requested("source_change_sensor", instance).tags["tm/reason"].startswith("first-scan-of-")


def test_intake_that_failed_waits_before_its_next_try(ctx: Context, instance: dg.DagsterInstance) -> None:
    run = create_run_for_test(instance, "reserve_translations", status=STARTED)
    instance.report_run_failed(run)
    assert re.fullmatch(r"intake failed, next try in 1\d s", skipped("source_change_sensor", instance))


def test_a_backlog_run_is_launched_once_a_host_when_enough_groups_are_due(
    ctx: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    names_to_translate(ctx, "하나입니다", "둘입니다")
    assert skipped("backlog_sensor", instance).startswith("4 due")
    monkeypatch.setenv("TM_BACKLOG_GROUPS", "4")
    current_application.cache_clear()
    request = requested("backlog_sensor", instance)
    assert request.tags["tm/trigger"] == "backlog_sensor"
    mine = {"tm/lane": "backlog", "tm/host": request.tags["tm/host"]}
    create_run_for_test(instance, "drain_backlog", status=STARTED, tags={"tm/lane": "backlog", "tm/host": "other"})
    assert requested("backlog_sensor", instance).tags == request.tags
    create_run_for_test(instance, "drain_backlog", status=STARTED, tags=mine)
    assert skipped("backlog_sensor", instance).startswith("a backlog run is live on ")


IMMEDIATE = DomainRegistry(
    {item.resource_type: replace(item, immediate=item.resource_type in ("category", "series")) for item in BUILTIN}
)
IMMEDIATE_LANE = {"tm/lane": "immediate"}


def test_without_an_immediate_domain_its_sensor_says_so(ctx: Context, instance: dg.DagsterInstance) -> None:
    assert skipped("immediate_sensor", instance) == "no domain is immediate"


def test_a_due_group_of_an_immediate_domain_launches_a_run_of_these_domains_at_once(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    idle = evaluate("immediate_sensor", instance, registry=IMMEDIATE)
    assert idle.skip_message == "0 due of 2 immediate domains, 0 waiting for back-off"
    insert_rows(ctx, "content", [{"id": 1, "title": "제목입니다"}])
    reserve_everything(ctx)
    assert evaluate("immediate_sensor", instance, registry=IMMEDIATE).run_requests in (None, [])
    names_to_translate(ctx, "하나입니다")
    [request] = evaluate("immediate_sensor", instance, registry=IMMEDIATE).run_requests
    assert request.run_key == "immediate-after-none"
    config = request.run_config["ops"]["claim_groups"]["config"]
    assert config == {"max_groups": 50, "max_seconds": 120, "domains": config["domains"]}
    assert sorted(config["domains"]) == ["category", "series"]
    job = build_definitions(settings=Settings.from_env({})).get_job_def("translate_immediate")
    assert job.execute_in_process(instance=instance, run_config=request.run_config).success
    assert requested("fixed_delay_sensor", instance).run_key == "tick-after-none"  # content is an ordinary domain


@pytest.mark.parametrize("status", ["NOT_STARTED", "STARTING", "STARTED", "CANCELING"])
def test_an_immediate_run_never_starts_beside_another(ctx: Context, instance: dg.DagsterInstance, status: str) -> None:
    names_to_translate(ctx, "하나입니다")
    create_run_for_test(instance, "translate_immediate", status=dg.DagsterRunStatus(status), tags=IMMEDIATE_LANE)
    data = evaluate("immediate_sensor", instance, registry=IMMEDIATE)
    assert data.run_requests in (None, [])
    assert data.skip_message == "an immediate run is live (1)"


def test_an_immediate_run_that_failed_waits_before_its_next_try(ctx: Context, instance: dg.DagsterInstance) -> None:
    names_to_translate(ctx, "하나입니다")
    run = create_run_for_test(instance, "translate_immediate", status=STARTED, tags=IMMEDIATE_LANE)
    instance.report_run_failed(run)
    data = evaluate("immediate_sensor", instance, registry=IMMEDIATE)
    assert re.fullmatch(r"the last immediate run failed, next try in 1\d s", data.skip_message)


def test_a_stopped_provider_is_named_in_the_numbers_of_a_skip(ctx: Context, instance: dg.DagsterInstance) -> None:
    names_to_translate(ctx, "하나입니다")
    ctx.db.run(lambda conn: open_circuit(conn, "pseudo", "quota"))
    reason = "0 due, 0 waiting for back-off; 8 domains wait for a stopped provider"
    assert skipped("fixed_delay_sensor", instance) == reason


def test_the_heartbeat_is_left_once_a_minute_and_also_after_the_clock_stepped_back(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    beats = metadata.tables["automation_heartbeat"]

    def look(cursor: str | None) -> tuple[str, int | None]:
        data = evaluate("fixed_delay_sensor", instance, cursor=cursor)
        with ctx.db.begin() as conn:
            age = last_seen_age_seconds(conn)
            conn.execute(beats.delete())
        return data.cursor, age

    now = int(datetime.now(UTC).timestamp())
    assert look(None)[1] is not None
    assert look(str(now - 30)) == (str(now - 30), None)
    for last in (now - 61, now + 3_600):
        cursor, age = look(str(last))
        assert int(cursor) >= now
        assert age is not None


def test_a_step_back_of_the_clock_neither_blocks_the_ticks_nor_repeats_a_run_key(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    names_to_translate(ctx, "하나입니다", "둘입니다", "셋입니다")
    job = build_definitions(settings=Settings.from_env({})).get_job_def("translate_due_groups")
    config = {"ops": {"claim_groups": {"config": {"max_groups": 1}}}}
    ended = [job.execute_in_process(instance=instance, run_config=config).run_id for _ in range(2)]
    pipeline, hour_ago = Pipeline(), datetime.now(UTC) - timedelta(hours=1)
    decision, last = tick_decision(instance, pipeline, hour_ago)
    assert isinstance(decision, RunTick)
    assert last == ended[-1]
    decision, _ = tick_decision(instance, pipeline, datetime.now(UTC) - timedelta(seconds=60))
    assert isinstance(decision, SkipTick)
