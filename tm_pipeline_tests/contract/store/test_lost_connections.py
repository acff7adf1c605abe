"""A server that cuts, restarts or only reads: the transaction runs again as a whole, or one clear line says why not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import make_url

from tm_pipeline.domain.errors import DatabaseUnavailableError
from tm_pipeline.domain.jobs import JobOutcome, JobStatus
from tm_pipeline.store.claims import finish_jobs
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline_tests.accounts import account
from tm_pipeline_tests.contract.store.rows import book, draft, job_rows, key, take


class Cutter:
    """Has the server end the session that runs a statement, just before it arrives."""

    def __init__(self, db: Database, start: str, times: int) -> None:
        self.start, self.left, self.cuts = start, times, 0
        self.admin = open_database(db.engine.url.render_as_string(hide_password=False))

    def before_statement(self, conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if self.left and statement.startswith(self.start):
            self.cut(conn)

    def before_commit(self, conn: Any) -> None:
        if self.left and self.start == "COMMIT":
            self.cut(conn)

    def cut(self, conn: Any) -> None:
        self.left -= 1
        self.cuts += 1
        with self.admin.begin() as admin:
            admin.execute(text("KILL CONNECTION :id"), {"id": conn.connection.driver_connection.thread_id()})


@contextmanager
def cutting(db: Database, start: str, times: int = 1) -> Iterator[Cutter]:
    cutter = Cutter(db, start, times)
    event.listen(db.engine, "before_cursor_execute", cutter.before_statement)
    event.listen(db.engine, "commit", cutter.before_commit)
    try:
        yield cutter
    finally:
        event.remove(db.engine, "before_cursor_execute", cutter.before_statement)
        event.remove(db.engine, "commit", cutter.before_commit)
        cutter.admin.dispose()


@pytest.mark.parametrize("start", ["SELECT", "UPDATE", "COMMIT"])
def test_a_claim_whose_connection_is_cut_runs_again(mariadb: Database, start: str) -> None:
    book(mariadb, [draft(key()), draft(key(), "detail")])
    with cutting(mariadb, start) as cutter:
        group = take(mariadb, key())
    assert cutter.cuts == 1
    assert group is not None
    assert len(group.jobs) == 2
    assert {(row.status, row.claim_token) for row in job_rows(mariadb)} == {("RUNNING", group.token)}


@pytest.mark.parametrize("start", ["UPDATE", "COMMIT"])
def test_a_finish_whose_connection_is_cut_runs_again(mariadb: Database, start: str) -> None:
    book(mariadb, [draft(key())])
    group = take(mariadb, key())
    assert group is not None
    done = [JobOutcome(job=job, status=JobStatus.COMPLETED, retry_count=0) for job in group.jobs]
    with cutting(mariadb, start) as cutter:
        mariadb.run(lambda conn: finish_jobs(conn, group.token, done))
    assert cutter.cuts == 1
    assert [(row.status, row.claim_token) for row in job_rows(mariadb)] == [("COMPLETED", None)]


def test_a_connection_that_is_cut_every_time_ends_in_one_line(mariadb: Database) -> None:
    book(mariadb, [draft(key())])
    with cutting(mariadb, "UPDATE", times=100), pytest.raises(DatabaseUnavailableError, match="run the same again"):
        take(mariadb, key())
    assert [row.status for row in job_rows(mariadb)] == ["PENDING"]


def test_idle_connections_that_the_server_closed_are_replaced_unnoticed(mariadb: Database) -> None:
    book(mariadb, [draft(key())])
    admin = open_database(mariadb.engine.url.render_as_string(hide_password=False))
    with admin.begin() as conn:
        own = conn.execute(text("SELECT CONNECTION_ID()")).scalar_one()
        name = make_url(admin.engine.url).database
        query = text("SELECT id FROM information_schema.processlist WHERE db = :name AND id <> :own")
        for (session,) in conn.execute(query, {"name": name, "own": own}).all():
            conn.execute(text("KILL CONNECTION :id"), {"id": session})
    admin.dispose()
    assert len(job_rows(mariadb)) == 1


def test_a_server_that_only_reads_since_a_failover_is_left_for_the_new_one(mariadb: Database) -> None:
    book(mariadb, [draft(key())])
    with account(mariadb, "worker", ["GRANT ALL ON {database}.* TO {account}"]) as worker:
        job_rows(worker)
        before = worker.engine.pool
        with read_only(mariadb), pytest.raises(DatabaseUnavailableError, match="read-only"):
            take(worker, key())
        assert worker.engine.pool is not before  # its connections would stay on the demoted server
        assert take(worker, key()) is not None


@contextmanager
def read_only(db: Database) -> Iterator[None]:
    with db.begin() as conn:
        conn.execute(text("SET GLOBAL read_only = 1"))
    try:
        yield
    finally:
        with db.begin() as conn:
            conn.execute(text("SET GLOBAL read_only = 0"))
