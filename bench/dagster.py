"""What Dagster costs in a backlog run, as JSON lines: jobs/s through a real run ÷ jobs/s of the bare services.

Usage: python -m bench.dagster [--url mysql+pymysql://…] [--seconds 60] [--rounds 3] [--engine-ms 20]

Each round does the same work twice, in turns: once as a `drain_backlog` run in a process of its own on a Dagster
instance, with the form that the backlog sensor fills in, once by the services alone in a process of their own.
The engine is the fake Papago in a third process. Ratios are the result; the machine may be shared.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import httpx
import yaml

from bench.queue import emit, empty
from tm_pipeline.domain.jobs import GroupKey, JobDraft
from tm_pipeline.domain.text import source_hash
from tm_pipeline.orchestration.claiming_sensors import drain_config
from tm_pipeline.services.claim import claim_groups
from tm_pipeline.services.status import status
from tm_pipeline.services.work import work_groups
from tm_pipeline.settings import Settings
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.jobs import upsert_jobs
from tm_pipeline.store.migrate import migrate
from tm_pipeline.wiring import application
from tm_pipeline_tests.databases import MariaDbServer, create_database, free_port

ROOT = Path(__file__).parents[1]
DOMAIN = "ai_character"
CALIBRATION_GROUPS = 60
MOST_GROUPS = 1_000
PATIENCE_SECONDS = 600


def book(db: Database, fields: tuple[str, ...], groups: int) -> None:
    """An empty queue but for ``groups`` groups of Korean texts, each text once."""
    empty(db)
    drafts = [
        JobDraft(
            group=GroupKey(resource_type=DOMAIN, resource_id=number, target_language="en"),
            field_key=field,
            source_hash=source_hash(words),
            source_text=words,
            source_language="ko",
        )
        for number in range(1, groups + 1)
        for place, field in enumerate(fields)
        for words in (f"{number}번째 인물의 {place}번째 소개입니다",)
    ]
    for start in range(0, len(drafts), 1_000):
        db.run(lambda conn, part=drafts[start : start + 1_000]: upsert_jobs(conn, part))


def bare(groups: int) -> None:
    """The services alone, as a process: prints how many jobs in how many seconds of work."""
    ctx = application(os.environ).context
    with ctx.db.read():
        begun = time.monotonic()
    held = claim_groups(ctx, limit=groups, claimed_by="bare")
    done = sum(result.completed for result in work_groups(ctx, held, run_id="bare"))
    print(json.dumps({"jobs": done, "seconds": time.monotonic() - begun}))


def bare_rate(env: Mapping[str, str], groups: int) -> tuple[float, float]:
    """Jobs per second of the bare services: of the work alone, and with the start of their process."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "bench.dagster", "--bare", str(groups)]
    told = subprocess.run(command, env=env, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    seconds = time.monotonic() - begun
    found = json.loads(told.stdout)
    return found["jobs"] / found["seconds"], found["jobs"] / seconds


def run_rate(env: Mapping[str, str], form: Path, jobs: int) -> tuple[float, float]:
    """Jobs per second of a real run: from its start to its end, and with the start of its process."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "dagster", "job", "execute", "-m", "tm_pipeline.definitions"]
    subprocess.run(
        [*command, "-j", "drain_backlog", "-c", str(form)],
        env=env, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    seconds = time.monotonic() - begun
    with dg.DagsterInstance.from_config(env["DAGSTER_HOME"]) as instance:
        [record] = instance.get_run_records(limit=1)
    assert record.start_time is not None
    assert record.end_time is not None
    return jobs / (record.end_time - record.start_time), jobs / seconds


def completed(env: Mapping[str, str]) -> int:
    ctx = application(env).context
    jobs = status(ctx)["jobs"]
    ctx.db.dispose()
    assert isinstance(jobs, dict)
    return int(jobs.get("COMPLETED", 0))


def measure(env: Mapping[str, str], home: Path, *, seconds: float, rounds: int) -> None:
    db = open_database(env["TM_DATABASE_URL"])
    migrate(db, with_sample=True)
    fields = tuple(application(env).context.domain(DOMAIN).field_keys)
    book(db, fields, CALIBRATION_GROUPS)
    rate, _ = bare_rate(env, CALIBRATION_GROUPS)
    groups = min(MOST_GROUPS, round(rate * seconds / len(fields)))
    jobs = groups * len(fields)
    config = drain_config(Settings.from_env(env))
    config["ops"]["claim_groups"]["config"] |= {"max_groups": groups, "max_seconds": 0}  # type: ignore[index]
    form = home / "form.yaml"
    form.write_text(yaml.safe_dump(config))
    overheads, started = [], []
    for number in range(1, rounds + 1):
        book(db, fields, groups)
        alone, alone_process = bare_rate(env, groups)
        book(db, fields, groups)
        run, run_process = run_rate(env, form, jobs)
        assert completed(env) == jobs
        overheads.append(1 - run / alone)
        started.append(1 - run_process / alone)
        emit(
            bench="dagster",
            round=number,
            jobs=jobs,
            bare_seconds=round(jobs / alone, 1),
            bare_jobs_per_second=round(alone, 1),
            bare_with_process_start=round(alone_process, 1),
            run_jobs_per_second=round(run, 1),
            run_with_process_start=round(run_process, 1),
            overhead=round(overheads[-1], 3),
            overhead_with_process_start=round(started[-1], 3),
        )
    emit(
        bench="dagster",
        rounds=rounds,
        median_overhead=round(statistics.median(overheads), 3),
        median_overhead_with_process_start=round(statistics.median(started), 3),
    )
    db.dispose()


@contextmanager
def fake_engine(milliseconds: float) -> Iterator[str]:
    """The fake Papago in a process of its own; its address."""
    port = free_port()
    command = [sys.executable, "-m", "tm_pipeline_tests.fakes.papago", "--port", str(port)]
    process = subprocess.Popen([*command, "--latency-ms", str(milliseconds)], cwd=ROOT, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                httpx.get(f"{url}/_ledger").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


def environment(home: Path, database_url: str, engine_url: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("TM_", "DAGSTER_"))}
    (home / "dagster").mkdir()
    shutil.copyfile(ROOT / "dagster.yaml", home / "dagster" / "dagster.yaml")
    return plain | {
        "DAGSTER_HOME": str(home / "dagster"),
        "TM_HOME": str(home / "tm"),
        "TM_DATABASE_URL": database_url,
        "TM_PROVIDER": "papago",
        "TM_PAPAGO_BASE_URL": engine_url,
        "TM_PAPAGO_CLIENT_ID": "id",
        "TM_PAPAGO_CLIENT_SECRET": "secret",
    }


def main() -> None:
    """Measure on the given database, or on a private MariaDB server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="an empty database; without it a private MariaDB is started")
    parser.add_argument("--seconds", type=float, default=60, help="how long one half of a round takes, about")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine-ms", type=float, default=20)
    parser.add_argument("--bare", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare)
        return
    server = MariaDbServer()
    with tempfile.TemporaryDirectory() as folder, fake_engine(options.engine_ms) as engine_url:
        try:
            if not options.url:
                server.start()
            url = options.url or create_database(server.url("mysql"))
            home = Path(folder)
            measure(environment(home, url, engine_url), home, seconds=options.seconds, rounds=options.rounds)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
