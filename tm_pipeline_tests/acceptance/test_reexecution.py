"""A run that failed anywhere, re-executed from failure, ends like an undisturbed one and pays for nothing twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import func, select, update

from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.services import failpoints
from tm_pipeline.services.context import Context
from tm_pipeline.services.materialise import materialise_all_due
from tm_pipeline.services.operate import request_translation
from tm_pipeline.services.read import Origin, read
from tm_pipeline.settings import Settings
from tm_pipeline.store.engine import open_database
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.tables import metadata
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.papago_texts import translated
from tm_pipeline_tests.product import insert_rows, reserve_everything

MODEL = "content_translation"
TEXTS = {1: ("첫 번째 제목입니다", "첫 번째 본문입니다"), 2: ("두 번째 제목입니다", "두 번째 본문입니다")}
CALLS = 2 * 2 * len(TEXTS)  # title and detail into English and Japanese


@cache
def code_location() -> dg.Definitions:
    """The shipped definitions and a named job for one read model, because the implicit one cannot be rebuilt."""
    job = dg.define_asset_job("content_read_models", selection=[MODEL])
    return dg.Definitions.merge(build_definitions(settings=Settings.from_env({})), dg.Definitions(jobs=[job]))


def tick() -> dg.JobDefinition:
    return code_location().resolve_job_def("translate_due_groups")


def intake() -> dg.JobDefinition:
    return code_location().resolve_job_def("reserve_translations")


def read_models() -> dg.JobDefinition:
    return code_location().resolve_job_def("content_read_models")


RANGE = {"dagster/asset_partition_range_start": "en", "dagster/asset_partition_range_end": "ko"}
OPTIONS: dict[Callable[[], dg.JobDefinition], dict[str, Any]] = {
    tick: {"run_config": {"ops": {"claim_groups": {"config": {"max_groups": 10}}}}},
    intake: {},
    read_models: {"tags": RANGE},
}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """One for all tests, because its databases take seconds; no test looks at another one's runs."""
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("dagster"))) as kept:
        yield kept


@pytest.fixture
def ctx(sqlite_url: str, fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    db = open_database(sqlite_url)
    migrate(db, with_sample=True)
    db.dispose()
    settings = {
        "TM_DATABASE_URL": sqlite_url,
        "TM_PROVIDER": "papago",
        "TM_PAPAGO_BASE_URL": fake_papago.base_url,
        "TM_PAPAGO_CLIENT_ID": "id",
        "TM_PAPAGO_CLIENT_SECRET": "secret",
        "TM_PROVIDER_TIMEOUT_SECONDS": "2",
        "TM_BACKOFF_BASE_SECONDS": "0",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    current_application.cache_clear()
    yield current_application().context
    failpoints.arm("")
    current_application().context.db.dispose()
    current_application.cache_clear()


class Runs:
    """Runs of real jobs on one instance; what fails is re-executed from failure."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def launch(self, job: Callable[[], dg.JobDefinition]) -> "Ended":
        with dg.execute_job(dg.reconstructable(job), instance=self._instance, **OPTIONS[job]) as result:
            return self._ended(result)

    def again(self, job: Callable[[], dg.JobDefinition], failed: "Ended") -> "Ended":
        again = dg.ReexecutionOptions.from_failure(failed.run_id, self._instance)
        with dg.execute_job(
            dg.reconstructable(job), instance=self._instance, reexecution_options=again, **OPTIONS[job]
        ) as result:
            return self._ended(result)

    def _ended(self, result: dg.JobExecutionResult) -> "Ended":
        events = [event for event in result.all_events if event.is_step_event]
        started = {str(event.step_key) for event in events if event.event_type is dg.DagsterEventType.STEP_START}
        failed = {str(event.step_key) for event in events if event.event_type is dg.DagsterEventType.STEP_FAILURE}
        return Ended(run_id=result.run_id, success=result.success, started=started, failed=failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    run_id: str
    success: bool
    started: set[str]
    failed: set[str]


@pytest.fixture
def runs(instance: dg.DagsterInstance) -> Runs:
    return Runs(instance)


def add_product(ctx: Context) -> None:
    rows = [{"id": key, "title": title, "detail": detail, "tags": ""} for key, (title, detail) in TEXTS.items()]
    insert_rows(ctx, "content", rows)


def undisturbed() -> dict[tuple[int, str], dict[str, str]]:
    """What the read models say where nothing fails: the fake translates a text always the same way."""

    def says(text: str, locale: str) -> str:
        return text if locale == "ko" else translated(text, locale)

    return {
        (key, locale): {"title": says(title, locale), "detail": says(detail, locale), "tags": ""}
        for key, (title, detail) in TEXTS.items()
        for locale in ("en", "ja", "ko")
    }


def readers_see(ctx: Context) -> dict[tuple[int, str], dict[str, str]]:
    """What the read models say, without a fallback to the source."""
    found = {(key, locale): read(ctx, "content", key, locale, book=False) for key, locale in undisturbed()}
    return {key: dict(reading.fields) for key, reading in found.items() if reading.origin is Origin.READ_MODEL}


def billed_twice(fake: FakePapago) -> int:
    paid = Counter((call["target"], call["text"]) for call in fake.ledger())
    return sum(times - 1 for times in paid.values())


def calls_in(ctx: Context, *states: str) -> int:
    calls = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        statement = select(func.count()).select_from(calls).where(calls.c.state.in_(states))
        return int(conn.execute(statement).scalar_one())


def pass_the_deadlines(ctx: Context) -> None:
    """The time passes after which a call without a reply counts as lost and its job is due again."""
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    calls, jobs = metadata.tables["provider_call"], metadata.tables["translation_job"]
    with ctx.db.begin() as conn:
        conn.execute(update(calls).where(calls.c.state == "IN_FLIGHT").values(deadline_at=long_ago))
        conn.execute(update(jobs).where(jobs.c.status == "PENDING").values(next_retry_at=long_ago))


def assert_like_an_undisturbed_run(ctx: Context) -> None:
    assert all(not done.failed for done in materialise_all_due(ctx))
    assert readers_see(ctx) == undisturbed()
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}


def test_nothing_fails_in_an_undisturbed_run(ctx: Context, runs: Runs, fake_papago: FakePapago) -> None:
    add_product(ctx)
    assert runs.launch(intake).success
    assert runs.launch(tick).success
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


@pytest.mark.parametrize("point", ["after_claim", "after_ledger", "before_record", "after_record"])
def test_a_fault_in_one_group_is_repaired_by_its_re_execution_without_a_second_payment(
    ctx: Context, runs: Runs, fake_papago: FakePapago, point: str
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    failpoints.arm(f"{point}:raise@1")
    failed = runs.launch(tick)
    assert len(failed.failed) == 1
    again = runs.again(tick, failed)
    assert again.success
    assert again.started == failed.failed | {"settle_tick"}
    assert len(fake_papago.ledger()) == CALLS
    assert calls_in(ctx, "UNKNOWN", "IN_FLIGHT") == 0
    assert_like_an_undisturbed_run(ctx)


@pytest.mark.parametrize(("point", "extra"), [("after_intent", 0), ("after_reply", 1)])
def test_a_reply_lost_on_its_way_is_listed_as_one_possibly_paid_call(
    ctx: Context, runs: Runs, fake_papago: FakePapago, point: str, extra: int
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    failpoints.arm(f"{point}:raise@1")
    failed = runs.launch(tick)
    assert len(failed.failed) == 1
    assert runs.again(tick, failed).success
    pass_the_deadlines(ctx)
    assert runs.launch(tick).success
    assert calls_in(ctx, "UNKNOWN") == 1
    assert calls_in(ctx, "IN_FLIGHT") == 0
    assert billed_twice(fake_papago) == extra
    assert_like_an_undisturbed_run(ctx)


def test_a_language_pair_that_the_engine_refused_is_asked_for_again_once_it_has_it(
    ctx: Context, runs: Runs, fake_papago: FakePapago
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    fake_papago.script(["n2mt06"])
    failed = runs.launch(tick)
    assert len(failed.failed) == 1
    again = runs.again(tick, failed)
    assert again.success
    assert again.started == failed.failed | {"settle_tick"}
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


def test_groups_that_ran_out_of_attempts_are_tried_again_by_a_re_execution(
    ctx: Context, runs: Runs, fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TM_MAX_RETRIES", "1")
    ctx.db.dispose()
    current_application.cache_clear()
    add_product(ctx)
    reserve_everything(ctx)
    fake_papago.always("500")
    failed = runs.launch(tick)
    assert len(failed.failed) == len(TEXTS) * 2
    fake_papago.always("ok")
    assert runs.again(tick, failed).success
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


def test_a_passing_fault_of_the_engine_leaves_the_run_green_and_the_next_tick_repairs_it(
    ctx: Context, runs: Runs, fake_papago: FakePapago
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    fake_papago.script(["500"])
    assert runs.launch(tick).success
    pass_the_deadlines(ctx)
    assert runs.launch(tick).success
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


@pytest.mark.parametrize(("point", "step"), [("op_claimed", "claim_groups"), ("op_settled", "settle_tick")])
def test_a_fault_in_an_op_around_the_groups_costs_nothing(
    ctx: Context, runs: Runs, fake_papago: FakePapago, point: str, step: str
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    failpoints.arm(f"{point}:raise@1")
    failed = runs.launch(tick)
    assert failed.failed == {step}
    assert runs.again(tick, failed).success
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


def test_a_fault_in_the_middle_of_intake_is_repaired_by_its_re_execution(
    ctx: Context, runs: Runs, fake_papago: FakePapago
) -> None:
    add_product(ctx)
    request_translation(ctx, "content", 1)
    failpoints.arm("op_folded:raise@1")
    failed = runs.launch(intake)
    assert failed.failed == {"reserve"}
    assert runs.again(intake, failed).success
    assert runs.launch(tick).success
    assert len(fake_papago.ledger()) == CALLS
    assert_like_an_undisturbed_run(ctx)


def test_a_fault_while_read_models_are_written_is_repaired_by_a_re_execution_without_a_call(
    ctx: Context, runs: Runs, fake_papago: FakePapago
) -> None:
    add_product(ctx)
    reserve_everything(ctx)
    assert runs.launch(tick).success
    failpoints.arm("inside_materialise:raise@1")
    failed = runs.launch(read_models)
    assert failed.failed == {MODEL}
    assert readers_see(ctx) == {}
    assert runs.again(read_models, failed).success
    assert readers_see(ctx) == undisturbed()
    assert len(fake_papago.ledger()) == CALLS
