"""The product as it is run: daemon, code location and MariaDB; rows inserted by SQL come out translated."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.papago_texts import translated

ROOT = Path(__file__).parents[2]
NAMES = {1: "로맨스 판타지", 2: "현대 판타지"}
DEADLINE_SECONDS = 120.0
LOOK_SECONDS = 0.5
STOP_SECONDS = 20.0


def environment(tmp_path: Path, database_url: str, fake: FakePapago) -> dict[str, str]:
    home = tmp_path / "dagster"
    home.mkdir()
    shutil.copyfile(ROOT / "dagster.yaml", home / "dagster.yaml")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("TM_", "DAGSTER_"))}
    return {
        **plain,
        "DAGSTER_HOME": str(home),
        "TM_HOME": str(tmp_path / "tm"),
        "TM_DATABASE_URL": database_url,
        "TM_AUTOMATION": "on",
        "TM_FIXED_DELAY_MS": "1000",
        "TM_PROVIDER": "papago",
        "TM_PAPAGO_BASE_URL": fake.base_url,
        "TM_PAPAGO_CLIENT_ID": "id",
        "TM_PAPAGO_CLIENT_SECRET": "secret",
    }


@contextmanager
def daemon(
    env: Mapping[str, str], log: Path, *, workspace: Path = ROOT / "workspace.yaml"
) -> Iterator[subprocess.Popen[bytes]]:
    """``dagster-daemon run``, on the shipped workspace by default; stopped as an operator would, then by force."""
    command = [str(Path(sys.executable).with_name("dagster-daemon")), "run", "-w", str(workspace)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=env, cwd=ROOT, stdout=output, stderr=output, start_new_session=True, restore_signals=True
        )
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until(true: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not true():
        tail = log.read_text(errors="replace")[-4_000:]
        assert process.poll() is None, f"the daemon ended\n{tail}"
        assert time.monotonic() < deadline, f"nothing after {DEADLINE_SECONDS:g} s\n{tail}"
        time.sleep(LOOK_SECONDS)


def translations(db: Database) -> dict[tuple[int, str], str]:
    with db.read() as conn:
        rows = conn.execute(text("SELECT category_id, locale, value FROM category_translation"))
        return {(int(row[0]), str(row[1])): str(row[2]) for row in rows}


@pytest.mark.acceptance
@pytest.mark.db
def test_rows_inserted_by_sql_are_translated_by_the_daemon_alone(
    mariadb_url: str, fake_papago: FakePapago, tmp_path: Path
) -> None:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    insert = text(
        "INSERT INTO category (id, name, language_code, is_active, updated_at) VALUES (:id, :name, 'ko', 1, :at)"
    )
    with db.begin() as conn:
        for key, name in NAMES.items():
            conn.execute(insert, {"id": key, "name": name, "at": "2026-01-01 00:00:00"})
    wanted = {(key, locale): translated(name, locale) for key, name in NAMES.items() for locale in ("en", "ja")}
    log = tmp_path / "daemon.log"
    try:
        with daemon(environment(tmp_path, mariadb_url, fake_papago), log) as process:
            wait_until(lambda: wanted.items() <= translations(db).items(), process, log)
    finally:
        db.dispose()
    assert len(fake_papago.ledger()) == len(wanted)
