"""Alerts from Dagster's records to the receiver: once for one fault, not for a retried success, never lost."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test
from sqlalchemy import select, update

from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.alerts import DELIVERY_ATTEMPTS
from tm_pipeline.services.context import Context
from tm_pipeline.settings import Settings
from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.provider_states import close_circuit, open_circuit
from tm_pipeline.store.tables import alert
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.databases import free_port
from tm_pipeline_tests.fakes.webhook import WebhookReceiver

STARTED, SUCCESS = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS
DEFS = build_definitions(settings=Settings.from_env({}))
REPOSITORY = DEFS.get_repository_def()
RESOURCES = {"pipeline": Pipeline()}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def receiver(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as started:
        monkeypatch.setenv("TM_ALERT_WEBHOOK_URL", f"{started.base_url}/hooks/T0KEN")
        monkeypatch.setenv("TM_UI_URL", "https://dagster.example/")
        current_application.cache_clear()
        yield started


class AlertSensor:
    """``alert_sensor`` as the daemon calls it: one look after another, with its cursor kept."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance, self.cursor = instance, ""
        self.look()

    def look(self) -> str:
        with dg.build_sensor_context(
            instance=self.instance, repository_def=REPOSITORY, resources=RESOURCES, cursor=self.cursor or None
        ) as context:
            data = REPOSITORY.get_sensor_def("alert_sensor").evaluate_tick(context)
        self.cursor = data.cursor or ""
        return str(data.skip_message)


def fail(instance: dg.DagsterInstance, message: str = "it broke", root: dg.DagsterRun | None = None) -> dg.DagsterRun:
    chain: dict[str, Any] = {}
    if root is not None:
        tags = {"dagster/root_run_id": root.run_id, "dagster/parent_run_id": root.run_id}
        chain = {"root_run_id": root.run_id, "parent_run_id": root.run_id, "tags": tags}
    run: dg.DagsterRun = create_run_for_test(instance, "translate_due_groups", status=STARTED, **chain)
    instance.report_run_failed(run, message)
    return run


def told(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """What ``run_failure_alerts`` says about a failed run."""
    event = next(
        entry.dagster_event
        for entry in reversed(instance.all_logs(run.run_id))
        if entry.dagster_event is not None and entry.dagster_event.is_job_event
    )
    stored = instance.get_run_by_id(run.run_id)
    assert stored is not None
    context = dg.build_run_status_sensor_context(
        sensor_name="run_failure_alerts",
        dagster_event=event,
        dagster_instance=instance,
        dagster_run=stored,
        resources=RESOURCES,
    )
    skip = REPOSITORY.get_sensor_def("run_failure_alerts")(context.for_run_failure())
    assert isinstance(skip, dg.SkipReason)
    return str(skip.skip_message)


def rows(ctx: Context) -> dict[str, str]:
    with ctx.db.read() as conn:
        return {row[0]: row[1] for row in conn.execute(select(alert.c.alert_key, alert.c.state))}


def make_due(ctx: Context) -> None:
    with ctx.db.begin() as conn:
        conn.execute(update(alert).values(next_attempt_at=now_precise(-1)))


def test_a_failed_run_is_told_once_with_its_link_and_its_first_error(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)
    run = fail(instance, "This run has been marked as failed from outside the execution context.")
    assert told(instance, run).startswith("told: translate_due_groups failed: ")
    assert told(instance, run) == f"run:{run.run_id} was told or held back already"
    for _ in range(3):
        sensor.look()
    [(path, _, body)] = receiver.received
    assert path == "/hooks/T0KEN"
    assert body["key"] == f"run:{run.run_id}"
    assert body["job"] == "translate_due_groups"
    assert body["root_run_id"] == run.run_id
    assert body["url"] == f"https://dagster.example/runs/{run.run_id}"
    assert body["error"] == "This run has been marked as failed from outside the execution context."
    assert rows(ctx) == {f"run:{run.run_id}": "SENT"}


def test_the_error_told_is_ours_and_not_the_framework_s(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)

    @dg.op
    def breaks() -> None:
        raise ValueError("the domains file names no table\nsecond line")

    @dg.op
    def stops() -> None:
        raise dg.Failure("content-7 → en needs a person: the quota is used up") from ValueError("x")

    for op in (breaks, stops):
        job = dg.GraphDefinition(name="translate_due_groups", node_defs=[op]).to_job()
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        told(instance, result.dagster_run)
    sensor.look()
    assert [body["error"] for _, _, body in receiver.received] == [
        "the domains file names no table",
        "content-7 → en needs a person: the quota is used up",
    ]


def test_a_re_execution_that_fails_too_gives_no_second_alert(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)
    root = fail(instance)
    told(instance, root)
    told(instance, fail(instance, "another reason", root=root))
    sensor.look()
    assert [body["root_run_id"] for _, _, body in receiver.received] == [root.run_id]


@pytest.mark.parametrize("status", [SUCCESS, STARTED, dg.DagsterRunStatus.NOT_STARTED])
def test_a_failure_whose_re_execution_is_live_or_succeeded_is_not_told(
    ctx: Context, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    sensor = AlertSensor(instance)
    root = fail(instance)
    tags = {"dagster/root_run_id": root.run_id, "dagster/parent_run_id": root.run_id}
    create_run_for_test(
        instance, "translate_due_groups", status=status, root_run_id=root.run_id, parent_run_id=root.run_id, tags=tags
    )
    assert told(instance, root) == f"run {root.run_id} has a live or successful re-execution: no alert"
    sensor.look()
    assert rows(ctx) == {}


def test_one_fault_that_fails_many_runs_is_told_once_an_hour_with_their_number(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)
    for number in range(20):
        told(instance, fail(instance, f"the database did not answer within {number} s"))
    sensor.look()
    assert len(receiver.received) == 1
    assert sorted(rows(ctx).values()) == ["HELD"] * 19 + ["SENT"]
    told(instance, fail(instance, "something else"))
    sensor.look()
    assert len(receiver.received) == 2


def test_failures_that_could_not_be_booked_at_once_are_told_at_the_next_look(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    fail(instance, "long before")
    sensor = AlertSensor(instance)
    run = fail(instance, "while nobody looked")
    create_run_for_test(instance, "someone_else_s_job", status=STARTED)
    assert "1 runs failed since; told: translate_due_groups failed: while nobody looked; 1 sent" in sensor.look()
    assert [body["root_run_id"] for _, _, body in receiver.received] == [run.run_id]
    assert sensor.look() == (
        "0 stopped providers, 0 failed checks, 0 runs failed since; 0 sent, 0 to try again, 0 given up"
    )


def test_a_stopped_provider_is_told_once_for_each_time_it_stops(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)
    for reason in ("the quota is used up", "the key was refused"):
        ctx.db.run(lambda conn, why=reason: open_circuit(conn, "papago", why))  # type: ignore[misc]
        for _ in range(3):
            sensor.look()
        ctx.db.run(lambda conn: close_circuit(conn, "papago"))
    assert [body["title"] for _, _, body in receiver.received] == [
        "papago is stopped: the quota is used up",
        "papago is stopped: the key was refused",
    ]


def test_a_failed_blocking_check_is_told_once_until_it_has_passed_again(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    sensor = AlertSensor(instance)

    def evaluate(severity: dg.AssetCheckSeverity, *, passed: bool) -> None:
        evaluation = dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("translation_job"),
            check_name="a_claim_is_of_one_group",
            passed=passed,
            metadata={},
            severity=severity,
            description="2 rows",
            blocking=severity is dg.AssetCheckSeverity.ERROR,
        )
        instance.report_runless_asset_event(evaluation)
        sensor.look()

    error, warning = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    for severity, passed in [(warning, False), (error, False), (error, False), (error, True), (error, False)]:
        evaluate(severity, passed=passed)
    titles = [body["title"] for _, _, body in receiver.received]
    assert titles == ["check a_claim_is_of_one_group of translation_job failed: 2 rows"] * 2
    assert receiver.received[0][2]["key"] == "check:translation_job:a_claim_is_of_one_group:never-passed"


def test_an_alert_that_is_not_taken_is_kept_and_sent_when_the_receiver_is_back(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    receiver.answer(503)
    sensor = AlertSensor(instance)
    run = fail(instance)
    assert sensor.look().endswith("0 sent, 1 to try again, 0 given up")
    assert sensor.look().endswith("0 sent, 0 to try again, 0 given up")
    receiver.answer(200)
    make_due(ctx)
    assert sensor.look().endswith("1 sent, 0 to try again, 0 given up")
    assert [body["root_run_id"] for _, _, body in receiver.received] == [run.run_id] * 2


def test_an_alert_that_is_never_taken_is_given_up_after_its_attempts(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver
) -> None:
    receiver.answer(410)
    sensor = AlertSensor(instance)
    run = fail(instance)
    for _ in range(DELIVERY_ATTEMPTS + 3):
        sensor.look()
        make_due(ctx)
    assert len(receiver.received) == DELIVERY_ATTEMPTS
    assert rows(ctx) == {f"run:{run.run_id}": "GIVEN_UP"}


def test_without_a_webhook_the_log_line_is_all_and_a_later_webhook_is_not_flooded(
    ctx: Context, instance: dg.DagsterInstance, capfd: pytest.CaptureFixture[str]
) -> None:
    sensor = AlertSensor(instance)
    run = fail(instance, "it broke")
    sensor.look()
    assert rows(ctx) == {f"run:{run.run_id}": "LOGGED"}
    [line] = [line for line in capfd.readouterr().err.splitlines() if "ALERT" in line]
    assert " ERROR - ALERT translate_due_groups failed: it broke | Open the run" in line
    assert line.endswith(f"[run {run.run_id}]")


def test_a_database_that_does_not_answer_is_told_once_an_hour_and_its_failures_when_it_is_back(
    ctx: Context, instance: dg.DagsterInstance, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = AlertSensor(instance)
    with monkeypatch.context() as outage:
        outage.setenv("TM_DATABASE_URL", f"mysql+pymysql://tm:hunter22@127.0.0.1:{free_port()}/product")
        current_application.cache_clear()
        run = fail(instance)
        assert told(instance, run) == (
            f"the database does not answer; alert_sensor tells of run {run.run_id} when it does"
        )
        assert sensor.look() == "the pipeline's database does not answer; told now"
        assert sensor.look().startswith("the pipeline's database does not answer; told ")
        current_application().context.db.dispose()
    current_application.cache_clear()
    assert "told: translate_due_groups failed" in sensor.look()
    kinds = [body["kind"] for _, _, body in receiver.received]
    assert kinds == ["database", "run"]
    assert "hunter22" not in str(receiver.received)
    assert receiver.received[0][2]["title"].startswith("the pipeline's database does not answer: ")
