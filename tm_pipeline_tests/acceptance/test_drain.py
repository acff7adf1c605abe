"""A backlog run that is stopped in its middle: it ends within one call, holds nothing, and nothing paid is lost."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml
from sqlalchemy import select

from tm_pipeline.services.context import Context
from tm_pipeline.services.status import list_jobs
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.engine import open_database
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.tables import metadata
from tm_pipeline.wiring import application
from tm_pipeline_tests.acceptance.launchpad import Launchpad, until
from tm_pipeline_tests.acceptance.test_backfill import webserver
from tm_pipeline_tests.acceptance.test_daemon import ROOT, daemon, environment
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import insert_rows, reserve_everything

RESOURCES = 100
FIELDS = ("title", "detail", "tags")
JOBS = RESOURCES * len(FIELDS) * 2
THREADS = 4
CALL_SECONDS = 2.0
BEGUN_CALLS = 9
FORM = {"max_groups": 2 * RESOURCES, "groups_per_step": 25}


@pytest.fixture
def slow_engine() -> Iterator[FakePapago]:
    with FakePapago(latency_seconds=CALL_SECONDS) as fake:
        yield fake


@pytest.fixture
def env(mariadb_url: str, slow_engine: FakePapago, tmp_path: Path) -> dict[str, str]:
    """Without automation, so that no sensor gives back what the run should have given back itself."""
    return {
        **environment(tmp_path, mariadb_url, slow_engine),
        "TM_AUTOMATION": "off",
        "TM_PROVIDER_MAX_IN_FLIGHT": str(THREADS),
    }


@pytest.fixture
def ctx(env: dict[str, str]) -> Iterator[Context]:
    db = open_database(env["TM_DATABASE_URL"])
    migrate(db, with_sample=True)
    db.dispose()
    ctx = application(env).context
    names = {"title": "제목", "detail": "본문입니다", "tags": "태그"}
    insert_rows(
        ctx,
        "content",
        [
            {"id": number, **{field: f"{names[field]} {number}번" for field in FIELDS}}
            for number in range(1, RESOURCES + 1)
        ],
    )
    assert reserve_everything(ctx) == JOBS
    yield ctx
    ctx.db.dispose()


def statuses(ctx: Context) -> Counter[str]:
    return Counter(str(job["status"]) for job in list_jobs(ctx, limit=10_000))


def call_states(ctx: Context) -> Counter[str]:
    calls = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        return Counter(row[0] for row in conn.execute(select(calls.c.state)))


def assert_stopped_well(ctx: Context, fake: FakePapago, calls_before: int) -> None:
    """Looked at as soon as the run has ended: leases last two minutes, and no sensor is on."""
    assert fake.requests_seen() - calls_before <= THREADS
    ended = statuses(ctx)
    assert set(ended) == {"COMPLETED", "PENDING"}
    assert ended["COMPLETED"] == len(fake.ledger()) == call_states(ctx)["DONE"]
    assert set(call_states(ctx)) == {"DONE"}
    assert {job["retry_count"] for job in list_jobs(ctx, limit=10_000)} == {0}


def assert_the_rest_is_paid_once(ctx: Context, fake: FakePapago) -> None:
    fake.latency_seconds = 0
    run_tick(ctx, groups=50, drain=True, run_id="the-next-run")
    assert statuses(ctx) == Counter(COMPLETED=JOBS)
    assert fake.report()["billed_twice"] == 0
    assert len(fake.ledger()) == JOBS
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}


@pytest.mark.acceptance
@pytest.mark.db
def test_a_run_that_gets_sigterm_ends_within_one_call_and_holds_nothing(
    env: dict[str, str], ctx: Context, slow_engine: FakePapago, tmp_path: Path
) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(yaml.safe_dump({"ops": {"claim_groups": {"config": FORM}}}))
    command = [sys.executable, "-m", "dagster", "job", "execute", "-m", "tm_pipeline.definitions"]
    with (tmp_path / "run.log").open("wb") as log:
        run = subprocess.Popen(
            [*command, "-j", "drain_backlog", "-c", str(config)],
            env=env, cwd=ROOT, stdout=log, stderr=log, restore_signals=True,
        )  # fmt: skip
        try:
            until(lambda: slow_engine.requests_seen() >= BEGUN_CALLS or run.poll() is not None)
            calls_before = slow_engine.requests_seen()
            run.send_signal(signal.SIGTERM)
            run.wait(30)
        finally:
            run.kill()
            run.wait()
    assert_stopped_well(ctx, slow_engine, calls_before)
    with dg.DagsterInstance.from_config(env["DAGSTER_HOME"]) as instance:
        [kept] = instance.get_runs()
        said = [entry.user_message or entry.message for entry in instance.all_logs(kept.run_id)]
    done = statuses(ctx)["COMPLETED"]
    assert kept.status is dg.DagsterRunStatus.FAILURE
    assert any(f"{done} fields completed" in line and "ended early" in line for line in said)
    assert 1 <= sum(f"{len(FIELDS)} COMPLETED" in line for line in said) <= done // len(FIELDS)
    assert_the_rest_is_paid_once(ctx, slow_engine)


@pytest.mark.acceptance
@pytest.mark.db
@pytest.mark.slow
def test_a_run_that_is_terminated_in_the_ui_ends_within_one_call_and_holds_nothing(
    env: dict[str, str], ctx: Context, slow_engine: FakePapago, tmp_path: Path
) -> None:
    with daemon(env, tmp_path / "daemon.log"), webserver(env, tmp_path / "webserver.log") as page:
        until(page.is_up)
        pad = Launchpad(page)
        run = pad.launch("drain_backlog", {"claim_groups": FORM})
        until(lambda: slow_engine.requests_seen() >= BEGUN_CALLS)
        calls_before = slow_engine.requests_seen()
        pad.terminate(run)
        assert pad.wait_for_end(run) == "CANCELED"
        assert_stopped_well(ctx, slow_engine, calls_before)
        log = pad.log(run)
    [summary] = [event for event in log if "ended early" in event.get("message", "")]
    shown = {entry["label"]: entry.get("mdStr") for entry in summary["metadataEntries"]}
    assert {"groups", "completed", "memory_hit_rate", "characters", "call_p50_ms", "call_p95_ms"} <= set(shown)
    assert "COMPLETED" in str(shown["table"])
    lines = [event for event in log if event.get("message", "").startswith("content-")]
    assert lines
    assert {event["stepKey"] for event in lines} == {"translate_and_record[groups_1_to_25]"}
    assert_the_rest_is_paid_once(ctx, slow_engine)
