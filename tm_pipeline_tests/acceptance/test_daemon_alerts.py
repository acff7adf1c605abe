"""A real daemon whose engine has no quota left: a person is told once, and the pipeline says that it is alive."""

from pathlib import Path

import pytest
from sqlalchemy import text

from tm_pipeline.store.engine import open_database
from tm_pipeline.store.heartbeat import SILENT_SECONDS, last_seen_age_seconds
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.acceptance.test_daemon import daemon, environment, wait_until
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.webhook import WebhookReceiver


@pytest.mark.acceptance
@pytest.mark.db
@pytest.mark.slow
def test_a_used_up_quota_is_told_to_the_webhook_once_for_the_provider_and_once_for_its_run(
    mariadb_url: str, tmp_path: Path
) -> None:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    insert = text(
        "INSERT INTO category (id, name, language_code, is_active, updated_at) VALUES (:id, :name, 'ko', 1, :at)"
    )
    with db.begin() as conn:
        for key in range(1, 5):
            conn.execute(insert, {"id": key, "name": f"판타지 {key}", "at": "2026-01-01 00:00:00"})
    log = tmp_path / "daemon.log"
    with FakePapago(mode="429-quota") as fake, WebhookReceiver() as receiver:
        env = {
            **environment(tmp_path, mariadb_url, fake),
            "TM_ALERT_WEBHOOK_URL": f"{receiver.base_url}/T0KEN",
            "TM_UI_URL": "https://dagster.example",
        }

        def kinds() -> set[str]:
            return {body["kind"] for _, _, body in receiver.received}

        try:
            with daemon(env, log) as process:
                wait_until(lambda: kinds() >= {"provider", "run"}, process, log)
                with db.read() as conn:
                    age = last_seen_age_seconds(conn)
        finally:
            db.dispose()
        bodies = [body for _, _, body in receiver.received]
    keys = [body["key"] for body in bodies]
    assert len(keys) == len(set(keys))
    [provider] = [body for body in bodies if body["kind"] == "provider"]
    assert provider["title"].startswith("papago is stopped: ")
    run = next(body for body in bodies if body["kind"] == "run")
    assert run["url"].startswith("https://dagster.example/runs/")
    assert "needs a person" in run["title"] or "need a person" in run["title"]
    assert age is not None
    assert age < SILENT_SECONDS
    assert "T0KEN" not in log.read_text(errors="replace")
