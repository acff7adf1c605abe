"""What a run says about itself: after re-executions, with nothing to do, with very many groups, and when it failed."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest

from tm_pipeline.orchestration.metadata import report_metadata
from tm_pipeline.orchestration.run_summary import UNSETTLED, report_unsettled
from tm_pipeline.services import failpoints
from tm_pipeline.services.context import Context
from tm_pipeline.services.run_report import report_run
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import insert_rows, reserve_everything
from tm_pipeline_tests.unit.orchestration.test_runs import again, drain, execute, statuses, tick, use_papago

JOBS = 8  # two resources in English and Japanese, two fields each


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def booked(ctx: Context) -> Context:
    rows = [{"id": number, "title": f"제목 {number}번", "detail": f"본문 {number}번입니다"} for number in (1, 2)]
    insert_rows(ctx, "content", rows)
    assert reserve_everything(ctx) == JOBS
    return ctx


@pytest.fixture
def papago(fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch) -> FakePapago:
    monkeypatch.setenv("TM_PAPAGO_BASE_URL", fake_papago.base_url)
    monkeypatch.setenv("TM_PAPAGO_CLIENT_ID", "id")
    monkeypatch.setenv("TM_PAPAGO_CLIENT_SECRET", "secret")
    return fake_papago


def settled(run: dg.JobExecutionResult) -> dict[str, Any]:
    """The summary that the last op wrote."""
    [output] = [event for event in run.all_events if event.is_successful_output and event.step_key == "settle_tick"]
    return {name: one.value for name, one in output.step_output_data.metadata.items()}


def left(run: dg.JobExecutionResult, instance: dg.DagsterInstance) -> list[dict[str, Any]]:
    """The summaries in the event log of a run that did not settle."""
    events = [entry.dagster_event for entry in instance.all_logs(run.run_id) if entry.dagster_event]
    found = [event for event in events if (event.message or "").startswith(UNSETTLED)]
    return [{name: one.value for name, one in event.engine_event_data.metadata.items()} for event in found]


def lines(run: dg.JobExecutionResult, instance: dg.DagsterInstance) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(run.run_id)]


def test_in_a_chain_of_runs_each_field_counts_as_what_it_became_last(
    papago: FakePapago, booked: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_papago(monkeypatch, TM_MAX_RETRIES="1")
    papago.script(["500", *["ok"] * 20])
    first = execute(tick, instance, raise_on_error=False)
    [summary] = left(first, instance)
    assert (summary["completed"], summary["failed"], summary["groups"]) == (JOBS - 1, 1, 4)
    assert summary["provider_calls"] == JOBS
    summary = settled(again(tick, first, instance))
    assert (summary["completed"], summary["failed"], summary["groups"]) == (JOBS, 0, 4)
    assert summary["provider_calls"] == JOBS + 1
    assert "FAILED" not in summary["table"]


def test_a_run_with_nothing_to_do_says_so_in_numbers(ctx: Context, instance: dg.DagsterInstance) -> None:
    run = execute(tick, instance)
    assert run.success
    summary = settled(run)
    assert {summary[name] for name in ("groups", "completed", "failed", "provider_calls", "memory_hit_rate")} == {0}
    assert "call_p50_ms" not in summary
    assert "nothing to do: 0 due, 0 waiting for back-off" in lines(run, instance)


def test_a_table_shows_fifty_groups_and_counts_the_others(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": number, "name": f"이름 {number}번"} for number in range(1, 31)])
    assert reserve_everything(ctx) == 60
    run = execute(drain, instance)
    summary = settled(run)
    assert summary["groups"] == summary["completed"] == summary["provider_calls"] == 60
    rows = summary["table"].splitlines()[2:]
    assert len(rows) == 51
    assert rows[0].endswith("| 1 COMPLETED | 0 |")
    assert "… and 10 more" in rows[-1]
    assert sum("→" in line and "1 COMPLETED" in line for line in lines(run, instance)) == 60


def test_texts_from_the_memory_are_counted_and_rated(ctx: Context, instance: dg.DagsterInstance) -> None:
    insert_rows(ctx, "category", [{"id": number, "name": "같은 이름입니다"} for number in (1, 2, 3, 4)])
    reserve_everything(ctx)
    execute(tick, instance, run_config={"ops": {"claim_groups": {"config": {"max_groups": 2}}}})
    run = execute(tick, instance, run_config={"ops": {"claim_groups": {"config": {"max_groups": 100}}}})
    summary = settled(run)
    paid = summary["provider_calls"]
    assert summary["from_memory"] == summary["completed"] - paid
    assert summary["memory_hit_rate"] == round(summary["from_memory"] / summary["completed"], 4) > 0


def test_what_was_not_tried_is_given_back_and_no_retry(
    booked: Context, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakePapago(latency_seconds=0.6) as slow:
        monkeypatch.setenv("TM_PAPAGO_BASE_URL", slow.base_url)
        ctx = use_papago(monkeypatch, TM_PAPAGO_CLIENT_ID="id", TM_PAPAGO_CLIENT_SECRET="secret")
        run = execute(tick, instance, run_config={"ops": {"claim_groups": {"config": {"max_seconds": 1}}}})
    summary = settled(run)
    assert summary["retry_scheduled"] == 0
    assert summary["completed"] == statuses(ctx)["COMPLETED"] < JOBS
    assert summary["released"] > 0


def test_a_failed_run_leaves_its_summary_once_and_holds_nothing(booked: Context, instance: dg.DagsterInstance) -> None:
    failpoints.arm("before_record:raise@1")
    run = execute(tick, instance, raise_on_error=False)
    assert not run.success
    record = instance.get_run_by_id(run.run_id)
    assert record is not None
    report_unsettled(booked, instance, record, run.run_id, 0)
    [summary] = left(run, instance)
    assert summary["completed"] == JOBS - 2
    assert summary["table"].count("COMPLETED") == 3
    assert "RUNNING" not in statuses(booked)


def test_a_run_that_failed_while_it_claimed_gives_the_claim_back_at_its_end(
    booked: Context, instance: dg.DagsterInstance
) -> None:
    failpoints.arm("op_claimed:raise@1")
    run = execute(tick, instance, raise_on_error=False)
    [summary] = left(run, instance)
    assert (summary["groups"], summary["released"]) == (0, JOBS)
    assert statuses(booked) == {"PENDING": JOBS}


def test_a_report_of_nothing_is_all_zeros(ctx: Context) -> None:
    shown = report_metadata(report_run(ctx, "no-such-run"), 0)
    assert {value for value in shown.values() if isinstance(value, int | float)} == {0}


WRONG = [
    ({"max_groups": -1}, "max_groups is -1: input should be greater than or equal to 1"),
    ({"max_groups": 0}, "max_groups is 0: input should be greater than or equal to 1"),
    ({"max_seconds": -5}, "max_seconds is -5: input should be greater than or equal to 0"),
    ({"groups_per_step": 0}, "groups_per_step is 0: input should be greater than or equal to 1"),
    ({"domains": ["contents"]}, "There is no domain 'contents'. Known domains: content, series"),
    ({"domains": [""]}, "There is no domain ''. Known domains: content, series"),
    ({"target_languages": ["fr"]}, "Nothing here is translated into 'fr'. Target languages: en, ja"),
    ({"target_languages": ["english"]}, "Nothing here is translated into 'english'. Target languages: en, ja"),
    ({"target_languages": [""]}, "Nothing here is translated into ''. Target languages: en, ja"),
]


@pytest.mark.parametrize("job", [tick, drain])
@pytest.mark.parametrize(("form", "first_line"), WRONG)
def test_a_wrong_form_is_refused_in_one_line_and_nothing_is_claimed(
    booked: Context, instance: dg.DagsterInstance, job: Any, form: dict[str, Any], first_line: str
) -> None:
    run = execute(job, instance, raise_on_error=False, run_config={"ops": {"claim_groups": {"config": form}}})
    [failure] = [event for event in run.all_events if event.is_step_failure]
    assert failure.step_failure_data.user_failure_data is not None
    described = str(failure.step_failure_data.user_failure_data.description)
    assert described.startswith(first_line)
    assert "\n" not in described
    assert statuses(booked) == {"PENDING": JOBS}


def test_a_language_may_be_written_in_another_way(booked: Context, instance: dg.DagsterInstance) -> None:
    config = {"ops": {"claim_groups": {"config": {"target_languages": ["EN"], "domains": ["content"]}}}}
    assert execute(tick, instance, run_config=config).success
    assert statuses(booked) == {"COMPLETED": JOBS // 2, "PENDING": JOBS // 2}
