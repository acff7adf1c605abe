"""The asset page by its own API: all languages in one run, a partition that is gone, reports without a run."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import pytest
from sqlalchemy import text

from tm_pipeline.store.engine import open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.acceptance.test_daemon import DEADLINE_SECONDS, LOOK_SECONDS, ROOT, daemon, environment
from tm_pipeline_tests.databases import free_port
from tm_pipeline_tests.fakes.papago import FakePapago

ASSET = "category_translation"
LAUNCH = """mutation($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) { __typename ... on LaunchBackfillSuccess { backfillId } }
}"""
PROGRESS = """query($id: String!) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status runs(limit: 9) { runId status } } }
}"""
CHECKS = """query($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) { ... on AssetNode { assetChecksOrError { ... on AssetChecks { checks {
    name executionForLatestMaterialization { evaluation { success } }
  } } } } }
}"""


class Page:
    """What the browser asks of the webserver."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, query: str, **variables: object) -> Any:
        answer = httpx.post(f"{self._url}/graphql", json={"query": query, "variables": variables}, timeout=30.0)
        return answer.raise_for_status().json()["data"]

    def is_up(self) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self._url}/server_info", timeout=5.0).is_success
        return False

    def judged(self, asset: str) -> dict[str, bool]:
        """The checks of an asset that were evaluated."""
        checks = self.ask(CHECKS, key={"path": [asset]})["assetNodeOrError"]["assetChecksOrError"]["checks"]
        found = {check["name"]: check["executionForLatestMaterialization"] for check in checks}
        return {name: one["evaluation"]["success"] for name, one in found.items() if one}

    def backfill(self, *partitions: str) -> Any:
        params = {"assetSelection": [{"path": [ASSET]}], "partitionNames": list(partitions), "tags": []}
        return self.ask(LAUNCH, params=params)["launchPartitionBackfill"]


@contextmanager
def webserver(env: Mapping[str, str], log: Path) -> Iterator[Page]:
    port = free_port()
    command = [str(Path(sys.executable).with_name("dagster-webserver")), "-w", str(ROOT / "workspace.yaml")]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "-p", str(port)], env=env, cwd=ROOT, stdout=output, stderr=output, restore_signals=True
        )
        try:
            yield Page(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()


def wait_for(ask: Any) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"nothing after {DEADLINE_SECONDS:g} s"
        time.sleep(LOOK_SECONDS)
    return answer


@pytest.mark.acceptance
@pytest.mark.db
@pytest.mark.slow
def test_all_languages_of_a_domain_are_backfilled_in_one_run_from_the_asset_page(
    mariadb_url: str, fake_papago: FakePapago, tmp_path: Path
) -> None:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    env = environment(tmp_path, mariadb_url, fake_papago)
    insert = text("INSERT INTO category (id, name, language_code, is_active) VALUES (:id, :name, 'ko', 1)")
    with db.begin() as conn:
        for key in range(1, 4):
            conn.execute(insert, {"id": key, "name": f"이름 {key}번입니다"})

    def written() -> bool:
        with db.read() as conn:
            return bool(conn.execute(text("SELECT COUNT(*) = 9 FROM category_translation")).scalar_one())

    try:
        with daemon(env, tmp_path / "daemon.log"), webserver(env, tmp_path / "webserver.log") as page:
            wait_for(page.is_up)
            wait_for(written)
            assert page.backfill("xx")["__typename"] == "PartitionKeysNotFoundError"
            launched = page.backfill("en", "ja", "ko")["backfillId"]

            def finished() -> Any:
                found = page.ask(PROGRESS, id=launched)["partitionBackfillOrError"]
                return found if found["status"].startswith("COMPLETED") else None

            done = wait_for(finished)
            drift = wait_for(lambda: page.judged("translation_job"))
            checks = page.judged(ASSET)
        with dg.DagsterInstance.from_config(env["DAGSTER_HOME"]) as instance:
            [run] = done["runs"]
            records = instance.fetch_materializations(dg.AssetKey(ASSET), limit=3).records
            health = instance.get_latest_materialization_event(dg.AssetKey("queue_health"))
    finally:
        db.dispose()
    assert (done["status"], run["status"]) == ("COMPLETED_SUCCESS", "SUCCESS")
    assert {record.run_id for record in records} == {run["runId"]}
    shown = {record.partition_key: record.asset_materialization for record in records}
    assert set(shown) == {"en", "ja", "ko"}
    for one in shown.values():
        assert one is not None
        assert one.metadata["coverage_percent"].value == 100.0
    assert checks["no_text_is_lost"]
    assert drift == {"few_jobs_fail": True, "no_due_group_waits_too_long": True}
    assert health is not None
    assert health.run_id == ""
