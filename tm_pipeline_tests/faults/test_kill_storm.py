"""Eight workers on MariaDB, half of them killed with -9 at random: every job ends, nothing is paid without a trace."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tm_pipeline.services.context import Context
from tm_pipeline.services.status import status
from tm_pipeline.store.engine import open_database
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline.wiring import application
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import count, insert_rows, reserve_everything, shown

WORKERS = 8
CRASHES = 12
GROUP_FIELDS = 3
LEASE_SECONDS = 3


@pytest.fixture
def storm_env(mariadb_url: str, fake_papago: FakePapago) -> dict[str, str]:
    return {
        **os.environ,
        "TM_DATABASE_URL": mariadb_url,
        "TM_PROVIDER": "papago",
        "TM_PAPAGO_BASE_URL": fake_papago.base_url,
        "TM_PAPAGO_CLIENT_ID": "id",
        "TM_PAPAGO_CLIENT_SECRET": "secret",
        "TM_LEASE_SECONDS": str(LEASE_SECONDS),
        "TM_PROVIDER_TIMEOUT_SECONDS": "1",
        "TM_PROVIDER_MAX_IN_FLIGHT": "2",
        "TM_BACKOFF_BASE_SECONDS": "1",
        "TM_BACKOFF_MAX_SECONDS": "2",
        "TM_MAX_RETRIES": "12",
    }


def run_storm(env: dict[str, str], ctx: Context, *, crashes: int, seconds: float, seed: int) -> None:
    """Keep eight workers alive, kill one at random ``crashes`` times, and wait until the queue is empty."""
    chance = random.Random(seed)
    command = [sys.executable, "-m", "tm_pipeline_tests.faults.worker", str(seconds)]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=env)

    workers = [start() for _ in range(WORKERS)]
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline and _unfinished(ctx):
            time.sleep(chance.uniform(0.2, 0.6))
            if crashes:
                victim = chance.randrange(WORKERS)
                workers[victim].send_signal(signal.SIGKILL)
                workers[victim].wait()
                workers[victim] = start()
                crashes -= 1
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _unfinished(ctx: Context) -> int:
    jobs = status(ctx)["jobs"]
    assert isinstance(jobs, dict)
    return int(jobs.get("PENDING", 0)) + int(jobs.get("RUNNING", 0))


def prepare(env: dict[str, str], *, resources: int) -> Context:
    """A migrated product with ``resources`` groups of three fields in English."""
    db = open_database(env["TM_DATABASE_URL"])
    migrate(db, with_sample=True)
    db.dispose()
    ctx = application(env).context
    rows = [
        {
            "id": number,
            "title": f"제목 {number}번",
            "detail": f"본문 {number}번입니다",
            "tags": f"태그 {number}번",
        }
        for number in range(1, resources + 1)
    ]
    insert_rows(ctx, "content", rows)
    assert reserve_everything(ctx) == resources * GROUP_FIELDS * 2
    return ctx


def extra_payments(fake: FakePapago) -> int:
    """Calls billed beyond one per text and language, by the engine's own ledger."""
    paid = Counter((call["target"], call["text"]) for call in fake.ledger())
    return sum(times - 1 for times in paid.values())


@pytest.mark.slow
@pytest.mark.parametrize(("fault_share", "resources"), [(0.0, 500), (0.33, 150)])
def test_a_kill_storm_loses_nothing_and_lists_every_extra_payment(
    storm_env: dict[str, str], fake_papago: FakePapago, fault_share: float, resources: int
) -> None:
    ctx = prepare(storm_env, resources=resources)
    if fault_share:
        kinds = ("500", "429-throttle", "timeout", "garbage")
        fake_papago.chances({kind: fault_share / len(kinds) for kind in kinds}, seed=7)
    run_storm(storm_env, ctx, crashes=CRASHES, seconds=240, seed=11)
    jobs = status(ctx)["jobs"]
    assert isinstance(jobs, dict)
    assert set(jobs) <= {"COMPLETED", "NEEDS_REVIEW"} if fault_share else {"COMPLETED"}
    assert sum(jobs.values()) == resources * GROUP_FIELDS * 2
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}
    calls = status(ctx)["provider_calls"]
    assert isinstance(calls, dict)
    assert extra_payments(fake_papago) <= calls["unknown"] + calls["in_flight"] + _unusable(ctx)
    if not fault_share:
        assert extra_payments(fake_papago) <= CRASHES * int(storm_env["TM_PROVIDER_MAX_IN_FLIGHT"])
        assert len(shown(ctx, "content")) == resources * 3
    assert count(ctx, "read_model_refresh") == 0


def _unusable(ctx: Context) -> int:
    """Paid replies that the checks refused; each is a row of the ledger with its reason."""
    from sqlalchemy import func, select

    from tm_pipeline.store.tables import metadata

    calls = metadata.tables["provider_call"]
    with ctx.db.read() as conn:
        statement = select(func.count()).where(calls.c.state == "DONE", calls.c.error_kind.is_not(None))
        return int(conn.execute(statement).scalar_one())
