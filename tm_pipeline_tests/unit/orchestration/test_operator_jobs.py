"""The operators' jobs as the launchpad runs them: dry runs, wrong values, and what is shown for each."""

from collections import Counter
from typing import Any

import dagster as dg
import pytest
from dagster import DagsterEventType

from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.services.context import Context
from tm_pipeline.services.status import list_jobs, status
from tm_pipeline.services.tick import run_tick
from tm_pipeline.settings import Settings
from tm_pipeline_tests.product import insert_rows, reserve_everything, shown

DEFS = build_definitions(settings=Settings.from_env({}))
OPS = {
    "retry_jobs": "retry_stopped",
    "cancel_jobs": "cancel_selected",
    "retranslate": "retranslate_selected",
    "rematerialise": "rematerialise_selected",
    "sweep_stuck": "sweep_expired",
    "pause_provider": "stop_calls",
    "resume_provider": "allow_calls",
    "prune_runs": "prune_old_runs",
    "reserve_translations": "reserve",
}
TEXTS = 4  # two categories in English and Japanese


@pytest.fixture
def booked(ctx: Context) -> Context:
    insert_rows(ctx, "category", [{"id": 1, "name": "로맨스 판타지"}, {"id": 2, "name": "현대 판타지"}])
    assert reserve_everything(ctx) == TEXTS
    return ctx


@pytest.fixture
def translated(booked: Context) -> Context:
    run_tick(booked, groups=10, drain=True, run_id="tick")
    return booked


def launch(job: str, **form: Any) -> dg.ExecuteInProcessResult:
    config = {"ops": {OPS[job]: {"config": form}}} if form else None
    return DEFS.get_job_def(job).execute_in_process(run_config=config, raise_on_error=False)


def output(result: dg.ExecuteInProcessResult, job: str) -> dict[str, Any]:
    assert result.success, first_line(result)
    found: dict[str, Any] = result.output_for_node(OPS[job])
    return found


def first_line(result: dg.ExecuteInProcessResult) -> str:
    """The first line of the failed step's error, as the UI shows it."""
    failures = [event for event in result.all_events if event.event_type is DagsterEventType.STEP_FAILURE]
    error = failures[0].step_failure_data.error
    assert error is not None
    assert error.cls_name == "Failure"
    data = failures[0].step_failure_data.user_failure_data
    assert data is not None
    return str(data.description)


def statuses(ctx: Context) -> Counter[str]:
    return Counter(str(job["status"]) for job in list_jobs(ctx))


def test_every_launchpad_opens_filled_with_all_fields_of_its_form() -> None:
    for name, op in OPS.items():
        job = DEFS.get_job_def(name)
        form = job.run_config["ops"][op]["config"]  # type: ignore[index]
        fields = job.graph.node_named(op).definition.config_schema.config_type.fields  # type: ignore[union-attr]
        assert set(form) == set(fields), name


def test_a_dry_run_is_the_default_of_whatever_costs_or_stops_work(booked: Context) -> None:
    before = statuses(booked)
    assert output(launch("cancel_jobs", domains=["category"]), "cancel_jobs") == {"matched": TEXTS, "stopped": 0}
    assert statuses(booked) == before


def test_cancelled_jobs_can_be_brought_back_by_a_retry(booked: Context) -> None:
    launch("cancel_jobs", domains=["category"], dry_run=False)
    assert statuses(booked) == Counter(CANCELLED=TEXTS)
    done = launch("retry_jobs", statuses=["CANCELLED"], target_languages=["en"], dry_run=False)
    assert output(done, "retry_jobs") == {"matched": 2, "started_again": 2}
    assert statuses(booked) == Counter(CANCELLED=2, PENDING=2)


def test_retranslation_shows_its_price_first_and_then_books(translated: Context) -> None:
    dry = output(launch("retranslate", domains=["category"]), "retranslate")
    assert (dry["matched"], dry["booked"]) == (TEXTS, 0)
    assert dry["characters"] > 0
    assert statuses(translated) == Counter(COMPLETED=TEXTS)
    done = output(launch("retranslate", domains=["category"], dry_run=False, reason="new engine"), "retranslate")
    assert done["booked"] == TEXTS
    assert statuses(translated) == Counter(PENDING=TEXTS)


def test_a_rematerialisation_is_recorded_at_the_assets_it_wrote(translated: Context) -> None:
    done = launch("rematerialise", domains=["category"], target_languages=["en"], dry_run=False)
    assert output(done, "rematerialise")["written"] == 2
    written = [
        (event.asset_key.to_user_string(), event.partition) for event in done.all_events if event.asset_key is not None
    ]
    assert written == [("category_translation", "en")]
    assert len(shown(translated, "category")) > 0


def test_a_sweep_can_be_tried_first(ctx: Context) -> None:
    assert output(launch("sweep_stuck", dry_run=True), "sweep_stuck") == {"expired_leases": 0, "overdue_calls": 0}
    assert output(launch("sweep_stuck"), "sweep_stuck") == {"unknown_calls": 0}


def test_pausing_and_resuming_can_be_tried_first(ctx: Context) -> None:
    def circuit() -> str:
        providers: Any = status(ctx)["providers"]
        return str(providers["pseudo"]["circuit"])

    assert output(launch("pause_provider", dry_run=True), "pause_provider") == {"pseudo": "would be paused"}
    assert circuit() == "CLOSED"
    launch("pause_provider", provider="pseudo", reason="bill disputed")
    assert circuit() == "OPEN"
    assert output(launch("resume_provider", dry_run=True), "resume_provider") == {"pseudo": 0}
    assert circuit() == "OPEN"
    launch("resume_provider")
    assert circuit() == "CLOSED"


@pytest.mark.parametrize(
    ("job", "form", "says"),
    [
        ("retry_jobs", {}, "0 of 0 jobs: nothing matches states FAILED"),
        ("retry_jobs", {"domains": ["novel"]}, "There is no domain 'novel'. Known domains:"),
        ("retry_jobs", {"target_languages": ["xx"]}, "Nothing here is translated into 'xx'. Target languages:"),
        ("retry_jobs", {"statuses": []}, "No state was chosen. States: PENDING"),
        ("retry_jobs", {"statuses": ["BROKEN"]}, "There is no state 'BROKEN'. States: PENDING"),
        ("retry_jobs", {"statuses": ["RUNNING"]}, "Jobs can be retried in these states:"),
        ("retry_jobs", {"job_ids": [-4]}, "Ids are whole numbers from 1; got -4"),
        ("retry_jobs", {"job_ids": [99_999]}, "0 of 0 jobs: nothing matches states FAILED; job ids 99999"),
        ("cancel_jobs", {}, "Say which jobs to stop: give domains"),
        ("cancel_jobs", {"resource_ids": [99_999]}, "0 of 0 jobs"),
        ("cancel_jobs", {"domains": ["category"], "statuses": ["COMPLETED"]}, "Jobs can be cancelled in these states:"),
        ("retranslate", {}, "Name at least one domain: content"),
        ("retranslate", {"domains": ["category"]}, "0 of 0 texts"),
        ("retranslate", {"domains": ["category"], "resource_ids": [0]}, "Ids are whole numbers from 1; got 0"),
        ("retranslate", {"domains": ["category"], "target_languages": ["fr"]}, "Nothing here is translated into 'fr'"),
        ("retranslate", {"domains": ["category"], "over_human": True}, "Say why people's translations"),
        ("rematerialise", {"domains": ["novel"]}, "There is no domain 'novel'"),
        ("rematerialise", {"domains": ["category"], "resource_ids": [7]}, "0 of 0 read models"),
        ("rematerialise", {"target_languages": ["fr"]}, "Nothing here is translated into 'fr'"),
        ("pause_provider", {"provider": "deepl"}, "There is no provider 'deepl' in use. Providers: pseudo."),
        ("resume_provider", {"provider": "deepl"}, "There is no provider 'deepl' in use. Providers: pseudo."),
        ("reserve_translations", {"domains": ["novel"]}, "There is no domain 'novel'"),
    ],
)
def test_a_wrong_form_is_refused_in_its_first_line(ctx: Context, job: str, form: dict[str, Any], says: str) -> None:
    result = launch(job, **form)
    assert not result.success
    assert first_line(result).startswith(says)


@pytest.mark.parametrize("field", ["older_than_days", "keep_of_each_job", "most"])
def test_a_number_out_of_range_is_refused(ctx: Context, field: str) -> None:
    config = {"ops": {"prune_old_runs": {"config": {field: -1}}}}
    with pytest.raises(Exception, match="greater than or equal"):
        DEFS.get_job_def("prune_runs").execute_in_process(run_config=config)
