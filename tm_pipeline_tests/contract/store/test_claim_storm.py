"""Four processes claim one queue while they are killed with -9 and frozen beyond their leases."""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from tm_pipeline.store.claims import sweep_expired
from tm_pipeline.store.engine import Database
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline_tests.contract.store.rows import book, draft, key
from tm_pipeline_tests.faults.claimer import LEASE_SECONDS

WORKERS = 4
GROUPS = 300
FIELDS = ("title", "detail", "tags")
FAULTS = 8
STORM_SECONDS = 90.0


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "claims.jsonl"


class Storm:
    """The workers; every fault ends one or freezes it for longer than its lease."""

    def __init__(self, url: str, log: Path) -> None:
        self.command = [sys.executable, "-m", "tm_pipeline_tests.faults.claimer", url, str(log)]
        self.workers = [subprocess.Popen(self.command) for _ in range(WORKERS)]
        self.thaws: list[threading.Timer] = []
        self.chance = random.Random(5)

    def fault(self, number: int) -> None:
        place = self.chance.randrange(WORKERS)
        victim = self.workers[place]
        if number % 2:
            # On a timer of its own: a process frozen inside SQLite's write lock stops the sweep of this one too.
            thaw = threading.Timer(LEASE_SECONDS + 1, victim.send_signal, [signal.SIGCONT])
            victim.send_signal(signal.SIGSTOP)
            thaw.start()
            self.thaws.append(thaw)
            self.workers.append(victim)
        else:
            victim.kill()
            victim.wait()
        self.workers[place] = subprocess.Popen(self.command)

    def stop(self) -> None:
        for thaw in self.thaws:
            thaw.cancel()
        for worker in self.workers:
            worker.kill()
            worker.wait()


def unfinished(db: Database) -> int:
    with db.read() as conn:
        return int(conn.execute(select(func.count()).where(t.c.status != "COMPLETED")).scalar_one())


def lines(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def overlaps(log: Path) -> list[str]:
    """Groups that were claimed while another claim of them was alive: neither finishing nor past its lease."""
    claims: dict[str, list[tuple[float, float]]] = {}
    finishing = {line["token"]: line["at"] for line in lines(log) if line["kind"] == "finishing"}
    for line in lines(log):
        if line["kind"] == "claimed":
            # A worker that was frozen notes its claim late, so the lease counts from before it was asked for.
            lapse = line["begun"] + LEASE_SECONDS
            end = min(finishing.get(line["token"], lapse), lapse)
            claims.setdefault(line["group"], []).append((line["at"], end))
    return [
        group
        for group, held in claims.items()
        for (_, end), (start, _) in zip(sorted(held), sorted(held)[1:], strict=False)
        if start < end
    ]


def test_no_group_is_torn_or_held_twice_and_each_job_is_finished_once(database: Database, log: Path) -> None:
    book(database, [draft(key(number), field) for number in range(1, GROUPS + 1) for field in FIELDS])
    storm = Storm(database.engine.url.render_as_string(hide_password=False), log)
    deadline = time.monotonic() + STORM_SECONDS
    faults = 0
    try:
        while time.monotonic() < deadline and (unfinished(database) or faults < FAULTS):
            if faults < FAULTS and log.exists():
                storm.fault(faults)
                faults += 1
            time.sleep(0.15)
            sweep_expired(database, max_retries=100)
    finally:
        storm.stop()
    assert unfinished(database) == 0
    found = list(lines(log))
    assert {len(line["jobs"]) for line in found} == {len(FIELDS)}
    finished = Counter(job for line in found if line["kind"] == "finished" for job in line["jobs"])
    assert set(finished.values()) == {1}
    assert len(finished) >= len(FIELDS) * (GROUPS - FAULTS)  # a kill may fall between the commit and its note
    assert overlaps(log) == []
    with database.read() as conn:
        assert conn.execute(select(func.count()).where(t.c.claim_token.is_not(None))).scalar_one() == 0
