"""A real daemon on MariaDB while things go wrong around it: no tick twice or lost, every text paid once."""

import itertools
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy import select, text

from tm_pipeline.services.context import Context
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.tables import metadata
from tm_pipeline.wiring import application
from tm_pipeline_tests.acceptance.launchpad import Launchpad, until
from tm_pipeline_tests.acceptance.test_backfill import webserver
from tm_pipeline_tests.acceptance.test_daemon import daemon, environment
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import count, insert_rows, reserve_everything

pytestmark = [pytest.mark.acceptance, pytest.mark.db, pytest.mark.slow, pytest.mark.timeout(400)]

RESOURCES = 12
GROUPS = 2 * RESOURCES  # one field each, into English and Japanese
SHOWN = 3 * RESOURCES
TICK_GROUPS = 3
CALL_SECONDS = 0.3
TIMEOUT_SECONDS = 3
MAX_RUNTIME_SECONDS = "8"
PID = re.compile(r"Executing steps in process \(pid: (\d+)\)")
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")


@pytest.fixture
def engine() -> Iterator[FakePapago]:
    with FakePapago(latency_seconds=CALL_SECONDS) as fake:
        yield fake


@pytest.fixture
def env(mariadb_url: str, engine: FakePapago, tmp_path: Path) -> dict[str, str]:
    return settings(tmp_path / "one", mariadb_url, engine)


def settings(folder: Path, database_url: str, engine: FakePapago) -> dict[str, str]:
    """Ticks of a few groups, no backlog lane; leases so long that nothing here is helped by their end."""
    folder.mkdir()
    env = environment(folder, database_url, engine)
    instance = Path(env["DAGSTER_HOME"]) / "dagster.yaml"
    slow = "poll_interval_seconds: 30"
    shipped = instance.read_text()
    assert slow in shipped
    instance.write_text(shipped.replace(slow, "poll_interval_seconds: 2"))
    return env | {
        "TM_GROUPS_PER_TICK": str(TICK_GROUPS),
        "TM_BACKLOG_GROUPS": "1000",
        "TM_LEASE_SECONDS": "600",
        "TM_PROVIDER_TIMEOUT_SECONDS": str(TIMEOUT_SECONDS),
    }


@pytest.fixture
def ctx(env: dict[str, str]) -> Iterator[Context]:
    ctx = application(env).context
    migrate(ctx.db, with_sample=True)
    rows = [{"id": key, "name": f"이름 {key}번입니다", "language_code": "ko"} for key in range(1, RESOURCES + 1)]
    insert_rows(ctx, "category", rows)
    yield ctx
    ctx.db.dispose()


def everything_is_shown(ctx: Context) -> bool:
    with ctx.db.read() as conn:
        shown = conn.execute(text("SELECT COUNT(*) FROM category_translation")).scalar_one()
    return int(shown) == SHOWN and not count(ctx, "read_model_refresh")


def unknown_calls(ctx: Context) -> int:
    calls = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        return Counter(row[0] for row in conn.execute(select(calls.c.state)))["UNKNOWN"]


def assert_well(ctx: Context, engine: FakePapago, *, possibly_paid: int = 0) -> None:
    """Every text came out; what was paid twice is no more than what the ledger lists as possibly paid."""
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}
        statuses = {row[0] for row in conn.execute(text("SELECT DISTINCT status FROM translation_job"))}
    assert statuses == {"COMPLETED"}
    assert engine.report()["billed_twice"] <= unknown_calls(ctx) <= possibly_paid
    assert len(engine.ledger()) - engine.report()["billed_twice"] == GROUPS


class Runs:
    """What a Dagster home knows of its runs."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._home = env["DAGSTER_HOME"]

    def of_lane(self, lane: str = "tick") -> list[dg.RunRecord]:
        with dg.DagsterInstance.from_config(self._home) as instance:
            return list(instance.get_run_records(dg.RunsFilter(tags={"tm/lane": lane}), ascending=True))

    def log(self, run_id: str) -> list[str]:
        with dg.DagsterInstance.from_config(self._home) as instance:
            entries = instance.all_logs(run_id)
        return [(entry.dagster_event and entry.dagster_event.message) or entry.user_message or "" for entry in entries]

    def worker(self, run_id: str) -> int | None:
        """The process of a run that works on its steps."""
        found = [match for line in self.log(run_id) if (match := PID.search(line))]
        return int(found[0].group(1)) if found else None


def assert_one_tick_after_the_other(records: list[dg.RunRecord]) -> None:
    keys = Counter(record.dagster_run.tags.get("dagster/run_key") for record in records)
    assert {key: times for key, times in keys.items() if times > 1 and key} == {}
    times = sorted((record.start_time or 0.0, record.end_time or float("inf")) for record in records)
    assert all(first[1] <= then[0] for first, then in itertools.pairwise(times))


def test_a_killed_daemon_starts_again_without_a_tick_twice_or_lost(
    env: dict[str, str], ctx: Context, engine: FakePapago, tmp_path: Path
) -> None:
    runs = Runs(env)
    with daemon(env, tmp_path / "first.log") as first:
        until(lambda: len(runs.of_lane()) >= 2)
        first.kill()
        first.wait()
        done = len(runs.of_lane())
        with daemon(env, tmp_path / "second.log"):
            until(lambda: everything_is_shown(ctx))
    records = runs.of_lane()
    assert len(records) > done
    assert {record.dagster_run.status for record in records} == {dg.DagsterRunStatus.SUCCESS}
    assert_one_tick_after_the_other(records)
    assert_well(ctx, engine)


def begun_run(runs: Runs, engine: FakePapago, *, calls: int) -> tuple[str, int]:
    """The first tick and its process, once the engine has seen so many calls."""
    until(lambda: engine.requests_seen() >= calls)
    [run_id] = [record.dagster_run.run_id for record in runs.of_lane() if record.end_time is None][:1]
    pid = until(lambda: runs.worker(run_id))
    return run_id, pid


def test_what_a_killed_run_held_is_finished_by_the_next_tick(
    env: dict[str, str], ctx: Context, engine: FakePapago, tmp_path: Path
) -> None:
    runs = Runs(env)
    engine.latency_seconds = 2.0
    with daemon(env, tmp_path / "daemon.log"):
        run_id, pid = begun_run(runs, engine, calls=2)
        os.kill(pid, signal.SIGKILL)
        engine.latency_seconds = CALL_SECONDS
        until(lambda: everything_is_shown(ctx))
    killed, *others = runs.of_lane()
    assert killed.dagster_run.run_id == run_id
    assert killed.dagster_run.status is dg.DagsterRunStatus.FAILURE
    assert {other.dagster_run.status for other in others} == {dg.DagsterRunStatus.SUCCESS}
    assert any("ended early" in line and "1 fields completed" in line for line in runs.log(run_id))
    assert_one_tick_after_the_other([killed, *others])
    assert_well(ctx, engine, possibly_paid=1)


def test_a_frozen_run_is_ended_by_its_longest_time_and_writes_nothing_when_it_wakes_up(
    env: dict[str, str], ctx: Context, engine: FakePapago, tmp_path: Path
) -> None:
    runs = Runs(env)
    reserve_everything(ctx)
    engine.latency_seconds = 2.0
    env = env | {"TM_FIXED_DELAY_MS": "3600000"}
    form = {"claim_groups": {"max_groups": TICK_GROUPS}}
    with daemon(env, tmp_path / "daemon.log"), webserver(env, tmp_path / "webserver.log") as page:
        until(page.is_up)
        pad = Launchpad(page)
        first = until(
            lambda: next((one["runId"] for one in pad.runs() if one["jobName"] == "translate_due_groups"), "")
        )
        assert pad.wait_for_end(first) == "SUCCESS"
        seen = engine.requests_seen()
        frozen = pad.launch("translate_due_groups", form, dagster__max_runtime=MAX_RUNTIME_SECONDS)
        until(lambda: engine.requests_seen() > seen)
        pid = until(lambda: runs.worker(frozen))
        os.kill(pid, signal.SIGSTOP)
        engine.latency_seconds = CALL_SECONDS
        try:
            assert pad.wait_for_end(frozen) == "FAILURE"
            after = pad.launch("translate_due_groups", {"claim_groups": {"max_groups": GROUPS}})
            assert pad.wait_for_end(after) == "SUCCESS"
        finally:
            os.kill(pid, signal.SIGCONT)
        until(lambda: gone(pid))
        until(lambda: unknown_calls(ctx) or not in_flight(ctx))
        last = pad.launch("translate_due_groups", {"claim_groups": {"max_groups": GROUPS}})
        assert pad.wait_for_end(last) == "SUCCESS"
        until(lambda: everything_is_shown(ctx))
        said = runs.log(frozen)
    assert any("Exceeded maximum runtime" in line for line in said)
    assert any("ended early" in line for line in said)
    assert_well(ctx, engine, possibly_paid=1)


def in_flight(ctx: Context) -> int:
    calls = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        return Counter(row[0] for row in conn.execute(select(calls.c.state)))["IN_FLIGHT"]


def gone(pid: int) -> bool:
    """Whether a process ended; a zombie has, its parent just did not look."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def test_two_instances_on_one_database_pay_for_each_text_once(
    env: dict[str, str], ctx: Context, mariadb_url: str, engine: FakePapago, tmp_path: Path
) -> None:
    other = settings(tmp_path / "two", mariadb_url, engine)
    with ExitStack() as stack:
        for name, one in (("one", env), ("two", other)):
            stack.enter_context(daemon(one, tmp_path / f"{name}.log"))
        until(lambda: everything_is_shown(ctx))
    for one in (env, other):
        records = Runs(one).of_lane()
        assert records
        assert {record.dagster_run.status for record in records if record.end_time} == {dg.DagsterRunStatus.SUCCESS}
    assert_well(ctx, engine)
