"""Main location and worker location under one daemon, with Dagster's own storage in MariaDB: a backlog is drained."""

import shutil
from pathlib import Path

import dagster as dg
import pytest
import yaml
from sqlalchemy import text

from tm_pipeline.store.engine import open_database
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.acceptance.test_daemon import ROOT, daemon, environment, wait_until
from tm_pipeline_tests.databases import create_database, drop_database
from tm_pipeline_tests.fakes.papago import FakePapago

RESOURCES = 40
LOCATIONS = ("tm_pipeline.definitions", "tm_pipeline.worker")


@pytest.mark.acceptance
@pytest.mark.db
@pytest.mark.slow
def test_a_backlog_is_drained_beside_the_ticks_and_every_text_is_paid_once(
    mariadb_url: str, mysql_server_url: str, fake_papago: FakePapago, tmp_path: Path
) -> None:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    insert = text("INSERT INTO category (id, name, language_code, is_active) VALUES (:id, :name, 'ko', 1)")
    with db.begin() as conn:
        for key in range(1, RESOURCES + 1):
            conn.execute(insert, {"id": key, "name": f"이름 {key}번입니다"})
    storage = create_database(mysql_server_url)
    env = environment(tmp_path, mariadb_url, fake_papago)
    env |= {
        "DAGSTER_MYSQL_URL": storage.replace("mysql+pymysql://", "mysql+mysqlconnector://"),
        "TM_BACKLOG_GROUPS": "10",
        "TM_FIXED_DELAY_MS": "600000",
    }
    shutil.copyfile(ROOT / "dagster.mysql.yaml", Path(env["DAGSTER_HOME"]) / "dagster.yaml")
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text(yaml.safe_dump({"load_from": [{"python_module": name} for name in LOCATIONS]}))
    log = tmp_path / "daemon.log"

    def written() -> int:
        with db.read() as conn:
            return int(conn.execute(text("SELECT COUNT(*) FROM category_translation")).scalar_one())

    try:
        with daemon(env, log, workspace=workspace) as process:
            wait_until(lambda: written() == 3 * RESOURCES, process, log)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DAGSTER_MYSQL_URL", env["DAGSTER_MYSQL_URL"])
            with dg.DagsterInstance.from_config(env["DAGSTER_HOME"]) as instance:
                runs = instance.get_runs()
        with db.read() as conn:
            assert {name: found for name, found in violations(conn).items() if found} == {}
    finally:
        db.dispose()
        drop_database(storage)
    assert len(fake_papago.ledger()) == 2 * RESOURCES
    assert {run.job_name for run in runs} >= {"drain_backlog", "reserve_translations", "__ASSET_JOB"}
    assert all(run.tags["tm/host"] for run in runs if run.job_name == "drain_backlog")
    assert {run.status for run in runs if run.is_finished} == {dg.DagsterRunStatus.SUCCESS}
