"""What a run that ended badly still holds is given back at once, unless a re-execution owns it."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test

from tm_pipeline.domain.ended_runs import EndedRun, wait_after_failures
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.jobs import CLAIMING_JOBS
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.claim import claim_groups
from tm_pipeline.services.context import Context
from tm_pipeline.services.lease import RunLeases
from tm_pipeline.services.status import list_jobs
from tm_pipeline.services.sweep import sweep
from tm_pipeline.settings import Settings
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import insert_rows, reserve_everything

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def statuses(ctx: Context) -> Counter[str]:
    return Counter(str(job["status"]) for job in list_jobs(ctx))


def hold_everything(ctx: Context, run: dg.DagsterRun) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}])
    reserve_everything(ctx)
    claim_groups(ctx, limit=10, claimed_by=run.root_run_id or run.run_id)
    assert statuses(ctx) == Counter(RUNNING=2)


def told(name: str, instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """What the sensor says about the newest run status event."""
    sensor = build_definitions(settings=Settings.from_env({})).get_repository_def().get_sensor_def(name)
    event = next(
        entry.dagster_event
        for entry in reversed(instance.all_logs(run.run_id))
        if entry.dagster_event is not None and entry.dagster_event.is_job_event
    )
    stored = instance.get_run_by_id(run.run_id)
    assert stored is not None
    context = dg.build_run_status_sensor_context(
        sensor_name=name,
        dagster_event=event,
        dagster_instance=instance,
        dagster_run=stored,
        resources={"pipeline": Pipeline()},
    )
    skip = sensor(context.for_run_failure() if name == "run_failure_release" else context)
    assert isinstance(skip, dg.SkipReason)
    return str(skip.skip_message)


@pytest.mark.parametrize("job", [job.name for job in CLAIMING_JOBS])
def test_a_failed_run_gives_its_groups_back(ctx: Context, instance: dg.DagsterInstance, job: str) -> None:
    run = create_run_for_test(instance, job, status=dg.DagsterRunStatus.STARTED)
    hold_everything(ctx, run)
    instance.report_run_failed(run)
    assert told("run_failure_release", instance, run) == f"2 jobs of run {run.run_id} given back"
    assert statuses(ctx) == Counter(PENDING=2)
    assert {job["retry_count"] for job in list_jobs(ctx)} == {0}


def test_a_terminated_run_gives_its_groups_back(ctx: Context, instance: dg.DagsterInstance) -> None:
    run = create_run_for_test(instance, "drain_backlog", status=dg.DagsterRunStatus.STARTED)
    hold_everything(ctx, run)
    instance.report_run_canceled(run)
    assert told("run_canceled_release", instance, run) == f"2 jobs of run {run.run_id} given back"
    assert statuses(ctx) == Counter(PENDING=2)


def test_the_groups_of_a_run_that_is_being_re_executed_stay_with_it(ctx: Context, instance: dg.DagsterInstance) -> None:
    run = create_run_for_test(instance, "translate_due_groups", status=dg.DagsterRunStatus.STARTED)
    hold_everything(ctx, run)
    instance.report_run_failed(run)
    create_run_for_test(
        instance,
        "translate_due_groups",
        status=dg.DagsterRunStatus.STARTED,
        root_run_id=run.run_id,
        parent_run_id=run.run_id,
        tags={"dagster/root_run_id": run.run_id, "dagster/parent_run_id": run.run_id},
    )
    assert "a re-execution" in told("run_failure_release", instance, run)
    assert statuses(ctx) == Counter(RUNNING=2)


def test_a_group_that_waits_in_a_living_run_is_not_swept_and_afterwards_it_is(
    ctx: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TM_LEASE_SECONDS", "2")
    monkeypatch.setenv("TM_PROVIDER_TIMEOUT_SECONDS", "0.5")
    current_application.cache_clear()
    brief = current_application().context
    run = create_run_for_test(instance, "translate_due_groups", status=dg.DagsterRunStatus.STARTED)
    with RunLeases(brief, run.run_id):
        hold_everything(brief, run)
        time.sleep(3)
        assert sweep(brief).leases == {}
        assert statuses(brief) == Counter(RUNNING=2)
    time.sleep(2.5)
    assert sweep(brief).leases == {"RUNNING→PENDING": 2}
    brief.db.dispose()


@pytest.mark.parametrize(
    ("failed", "seconds_ago", "wait"),
    [
        ([], 0, 0),
        ([False, True, True], 0, 0),
        ([True, False], 5, 10),
        ([True, True, False], 5, 25),
        ([True] * 6, 100, 380),
        ([True], 16, 0),
        ([True], -3_600, 0),
    ],
)
def test_the_next_try_waits_longer_after_each_failure_in_a_row(failed: list[bool], seconds_ago: int, wait: int) -> None:
    ended = NOW - timedelta(seconds=seconds_ago)
    runs = [
        EndedRun(run_id=str(number), ended=ended - timedelta(minutes=number), failed=value)
        for number, value in enumerate(failed)
    ]
    assert wait_after_failures(runs, NOW) == wait
