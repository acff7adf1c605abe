"""The rights of sql/contract/ are enough for what each account does, and not more than that."""

import re

import pytest
from sqlalchemy import text

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.domain.jobs import JobOutcome, JobStatus
from tm_pipeline.store.claims import finish_jobs
from tm_pipeline.store.doctor import examine
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate, migrations
from tm_pipeline.store.read_models import delete_rows
from tm_pipeline.store.requests import append_request
from tm_pipeline.store.sql_files import sql_folder, statements
from tm_pipeline_tests.accounts import account
from tm_pipeline_tests.contract.store.rows import book, draft, job_rows, key, take


def grants(name: str) -> list[str]:
    """What the file grants to ``name``, with places for database and account."""
    lines = statements((sql_folder() / "contract" / "grants.mysql.sql").read_text(encoding="utf-8"))
    mine = [line for line in lines if f"'{name}'" in line]
    return [re.sub(r" product\.", " {database}.", line).replace(f"'{name}'@'%'", "{account}") for line in mine]


def test_the_pipelines_account_can_book_claim_and_finish_and_satisfies_the_doctor(mariadb: Database) -> None:
    with account(mariadb, "tm", grants("tm")) as worker:
        assert [check for check in examine(worker) if not check.ok] == []
        book(worker, [draft(key())])
        group = take(worker, key())
        assert group is not None
        done = [JobOutcome(job=job, status=JobStatus.COMPLETED, retry_count=0) for job in group.jobs]
        worker.run(lambda conn: finish_jobs(conn, group.token, done))
    assert [row.status for row in job_rows(mariadb)] == ["COMPLETED"]


def test_the_pipelines_account_cannot_write_to_a_source_table(mariadb: Database) -> None:
    with (
        account(mariadb, "tm", grants("tm")) as worker,
        pytest.raises(TmPipelineError, match="denied"),
        worker.begin() as conn,
    ):
        conn.execute(text("UPDATE content SET title = 'x'"))


def test_the_pipelines_account_can_write_every_built_in_read_model(mariadb: Database) -> None:
    with account(mariadb, "tm", grants("tm")) as worker, worker.begin() as conn:
        for domain in BUILTIN:
            assert delete_rows(conn, domain, [0]) == 0


def test_the_migrating_account_brings_an_empty_database_up_to_date_and_does_it_again(mariadb_url: str) -> None:
    root = open_database(mariadb_url)
    with account(root, "tm_admin", grants("tm_admin")) as admin:
        assert len(migrate(admin)) == len(migrations(admin))
        assert migrate(admin) == []
    root.dispose()


def test_an_application_can_ask_and_read_but_sees_no_job(mariadb: Database) -> None:
    with account(mariadb, "app", grants("app")) as application:
        with application.begin() as conn:
            append_request(conn, resource_type="content", resource_id=1, reason="save")
            conn.execute(text("SELECT payload FROM content_translation")).all()
        with pytest.raises(TmPipelineError, match="denied"), application.read() as conn:
            conn.execute(text("SELECT id FROM translation_job")).all()
