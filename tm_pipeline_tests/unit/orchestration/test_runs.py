"""What runs do beside the plain case: outputs, killed and re-executed runs, time limits, steps of many groups."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import reconstructable
from sqlalchemy import select

from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.services import failpoints
from tm_pipeline.services.context import Context
from tm_pipeline.services.outputs import load_output
from tm_pipeline.services.status import list_jobs
from tm_pipeline.settings import Settings
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.tables import metadata
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import count, insert_rows, reserve_everything

ROOT = Path(__file__).parents[3]
GROUPS = 4  # two resources in English and Japanese, two fields each


def definitions() -> dg.Definitions:
    return build_definitions(settings=Settings.from_env({}))


def tick() -> dg.JobDefinition:
    return definitions().get_job_def("translate_due_groups")


def drain() -> dg.JobDefinition:
    return definitions().get_job_def("drain_backlog")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def booked(ctx: Context) -> Context:
    rows = [{"id": number, "title": f"제목 {number}번", "detail": f"본문 {number}번입니다"} for number in (1, 2)]
    insert_rows(ctx, "content", rows)
    assert reserve_everything(ctx) == 2 * GROUPS
    return ctx


@pytest.fixture
def papago(fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch) -> FakePapago:
    """Makes the fake engine the provider; comes before ``booked`` in a test's arguments."""
    monkeypatch.setenv("TM_PAPAGO_BASE_URL", fake_papago.base_url)
    monkeypatch.setenv("TM_PAPAGO_CLIENT_ID", "id")
    monkeypatch.setenv("TM_PAPAGO_CLIENT_SECRET", "secret")
    return fake_papago


def use_papago(monkeypatch: pytest.MonkeyPatch, **settings: str) -> Context:
    """The application again, with the fake engine and other settings."""
    monkeypatch.setenv("TM_PROVIDER", "papago")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    current_application().context.db.dispose()
    current_application.cache_clear()
    return current_application().context


def execute(job: Any, instance: dg.DagsterInstance, **options: Any) -> dg.JobExecutionResult:
    return dg.execute_job(reconstructable(job), instance=instance, **options)


def again(
    job: Any, failed: dg.JobExecutionResult, instance: dg.DagsterInstance, **options: Any
) -> dg.JobExecutionResult:
    """What the button "re-execute from failure" does; it copies the tags of the run, which this call does not."""
    chosen = dg.ReexecutionOptions.from_failure(failed.run_id, instance)
    return execute(job, instance, reexecution_options=chosen, **options)


def statuses(ctx: Context) -> Counter[str]:
    return Counter(str(job["status"]) for job in list_jobs(ctx, limit=1_000))


def calls(ctx: Context) -> Counter[str]:
    """How often each request was sent, by its key."""
    ledger = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        return Counter(row[0] for row in conn.execute(select(ledger.c.request_key)))


def assert_done_and_paid_once(ctx: Context) -> None:
    assert statuses(ctx) == Counter(COMPLETED=2 * GROUPS)
    assert len(calls(ctx)) == 2 * GROUPS
    assert set(calls(ctx).values()) == {1}
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}


def failed_steps(result: dg.JobExecutionResult) -> list[str]:
    return [event.step_key or "" for event in result.all_events if event.is_step_failure]


def worked_steps(result: dg.JobExecutionResult) -> list[str]:
    return sorted(event.step_key or "" for event in result.all_events if event.is_step_success)


def test_a_re_execution_of_a_re_execution_finds_the_outputs_of_the_first_run(
    booked: Context, instance: dg.DagsterInstance
) -> None:
    failpoints.arm("op_settled:raise@1")
    first = execute(tick, instance, raise_on_error=False)
    failpoints.arm("op_settled:raise@1")
    second = again(tick, first, instance, raise_on_error=False)
    assert failed_steps(second) == ["settle_tick"]
    failpoints.arm("")
    third = again(tick, second, instance)
    assert third.success
    assert worked_steps(third) == ["settle_tick"]
    assert_done_and_paid_once(booked)


def test_outputs_are_keys_and_counts_in_the_database_of_the_pipeline(
    booked: Context, instance: dg.DagsterInstance
) -> None:
    run = execute(tick, instance)
    claimed = load_output(booked, run_id=run.run_id, step_key="claim_groups", name="result", mapping_key="content_1_en")
    assert claimed["groups"] == [{"resource_type": "content", "resource_id": 1, "target_language": "en"}]
    outputs = metadata.tables["op_output"]
    with booked.db.read() as conn:
        kept = "".join(row[0] for row in conn.execute(select(outputs.c.value)))
    assert "제목" not in kept
    assert count(booked, "op_output") == 2 * GROUPS + 1


def test_a_group_whose_attempts_are_used_up_is_red_and_only_it_is_retried(
    papago: FakePapago, booked: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = use_papago(monkeypatch, TM_MAX_RETRIES="1")
    papago.script(["500", *["ok"] * 20])
    first = execute(tick, instance, raise_on_error=False)
    assert failed_steps(first) == ["translate_and_record[content_1_en]"]
    assert statuses(ctx)["FAILED"] >= 1
    told = next(event for event in first.all_events if event.is_step_failure).step_failure_data.user_failure_data
    assert told is not None
    assert str(told.description).startswith("content-1 → en needs a person: detail: papago: ")
    billed = len(papago.ledger())
    second = again(tick, first, instance)
    assert worked_steps(second) == ["settle_tick", "translate_and_record[content_1_en]"]
    assert statuses(ctx) == Counter(COMPLETED=2 * GROUPS)
    assert len(papago.ledger()) == billed + 1 == 2 * GROUPS


def test_a_passing_fault_ends_green_with_the_retry_in_its_metadata(
    papago: FakePapago, booked: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = use_papago(monkeypatch)
    papago.script(["500", *["ok"] * 20])
    run = execute(tick, instance)
    assert run.success
    assert statuses(ctx)["PENDING"] == 1
    outputs = {
        event.step_key: event.step_output_data.metadata for event in run.all_events if event.is_successful_output
    }
    assert outputs["translate_and_record[content_1_en]"]["retry_scheduled"].value == 1
    assert outputs["settle_tick"]["retry_scheduled"].value == 1
    assert outputs["settle_tick"]["completed"].value == 2 * GROUPS - 1
    assert outputs["settle_tick"]["provider_calls"].value == 2 * GROUPS


def test_work_of_a_killed_run_is_finished_by_its_re_execution_and_the_next_tick(
    booked: Context, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    home = tmp_path / "killed"
    home.mkdir()
    command = [sys.executable, "-m", "dagster", "job", "execute", "-m", "tm_pipeline.definitions"]
    env = {**os.environ, "DAGSTER_HOME": str(home), "TM_FAILPOINTS": "before_record:kill@2"}
    killed = subprocess.run(
        [*command, "-j", "translate_due_groups"], env=env, cwd=ROOT, capture_output=True, check=False, timeout=120
    )
    assert killed.returncode == -signal.SIGKILL
    assert statuses(booked) == Counter(COMPLETED=2, RUNNING=6)
    with dg.DagsterInstance.from_config(str(home)) as stored:
        run = stored.get_runs()[0]
        stored.report_run_failed(run)
        options = dg.ReexecutionOptions.from_failure(run.run_id, stored)
        assert execute(tick, stored, reexecution_options=options).success
        # Dagster leaves out mapped steps that had not started; settle_tick gave their groups back, due now.
        assert set(statuses(booked)) <= {"COMPLETED", "PENDING"}
        assert execute(tick, stored).success
    assert_done_and_paid_once(booked)


def test_a_run_that_is_out_of_time_gives_its_groups_back(
    booked: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakePapago(latency_seconds=0.6) as slow:
        monkeypatch.setenv("TM_PAPAGO_BASE_URL", slow.base_url)
        ctx = use_papago(monkeypatch, TM_PAPAGO_CLIENT_ID="id", TM_PAPAGO_CLIENT_SECRET="secret")
        run = execute(tick, instance, run_config={"ops": {"claim_groups": {"config": {"max_seconds": 1}}}})
    assert run.success
    ended = statuses(ctx)
    assert 1 <= ended["COMPLETED"] <= 2
    assert ended["PENDING"] == 2 * GROUPS - ended["COMPLETED"]
    assert sum(calls(ctx).values()) == ended["COMPLETED"]


def test_a_step_of_many_groups_finishes_the_others_when_one_meets_a_fault(
    booked: Context, instance: dg.DagsterInstance
) -> None:
    failpoints.arm("before_record:raise@1")
    config = {"ops": {"claim_groups": {"config": {"groups_per_step": 3}}}}
    run = execute(drain, instance, run_config=config)
    assert worked_steps(run) == [
        "claim_groups",
        "settle_tick",
        "translate_and_record[groups_1_to_3]",
        "translate_and_record[groups_4_to_4]",
    ]
    assert statuses(booked) == Counter(COMPLETED=6, PENDING=2)
    assert set(calls(booked).values()) == {1}
