from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import StatementError

from tm_pipeline.domain.errors import ConfigurationError, DatabaseUnavailableError, TmPipelineError
from tm_pipeline.store.claims import ClaimableDomain, candidate_groups
from tm_pipeline.store.clock import read_now
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline_tests.contract.store.rows import book, draft, job_rows, key
from tm_pipeline_tests.databases import free_port

PASSWORD = "hunter2-secret"


@pytest.fixture
def korean_server(mariadb: Database) -> Iterator[Database]:
    """A server whose own time zone is +09:00; new sessions would inherit it."""
    with mariadb.begin() as conn:
        before = conn.execute(text("SELECT @@global.time_zone")).scalar_one()
        conn.execute(text("SET GLOBAL time_zone = '+09:00'"))
    mariadb.dispose()
    yield mariadb
    with mariadb.begin() as conn:
        conn.execute(text("SET GLOBAL time_zone = :zone"), {"zone": before})


def row(due: datetime) -> dict[str, object]:
    group = {"resource_type": "content", "resource_id": 1, "target_language": "en"}
    source = {"field_key": "title", "source_hash": "a" * 64, "source_text": "제목", "source_language": "ko"}
    return group | source | {"status": "PENDING", "retry_count": 0, "next_retry_at": due}


def refusal(url: str) -> TmPipelineError:
    db = open_database(url)
    with pytest.raises(TmPipelineError) as caught, db.read() as conn:
        conn.execute(text("SELECT 1"))
    db.dispose()
    assert PASSWORD not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def test_every_session_is_utc_whatever_the_servers_time_zone(korean_server: Database) -> None:
    due = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    with korean_server.begin() as conn:
        assert conn.execute(text("SELECT @@global.time_zone, @@session.time_zone")).one() == ("+09:00", "+00:00")
        conn.execute(insert(t).values(row(due)))
        unix = conn.execute(text("SELECT UNIX_TIMESTAMP(next_retry_at) FROM translation_job")).scalar_one()
        now = read_now(conn)
    assert int(unix) == int(due.timestamp())
    assert job_rows(korean_server)[0].next_retry_at == due
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=30)


def test_every_session_is_strict_and_read_committed(mariadb: Database) -> None:
    with mariadb.read() as conn:
        mode, isolation = conn.execute(text("SELECT @@sql_mode, @@session.tx_isolation")).one()
    assert "STRICT_TRANS_TABLES" in mode
    assert isolation == "READ-COMMITTED"


def test_times_come_back_aware_and_in_utc(database: Database) -> None:
    seoul = datetime.fromisoformat("2026-01-02T12:04:05+09:00")
    with database.begin() as conn:
        conn.execute(insert(t).values(row(seoul)))
    found = job_rows(database)[0].next_retry_at
    assert (found, found.tzinfo) == (seoul, UTC)


def test_a_time_without_a_zone_is_rejected(database: Database) -> None:
    naive = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - what the test is about
    with pytest.raises((StatementError, TmPipelineError), match="without a zone"), database.begin() as conn:
        conn.execute(insert(t).values(row(naive)))
    assert job_rows(database) == []


def test_a_write_that_fails_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.begin() as conn:
            conn.execute(insert(t).values(row(datetime.now(UTC))))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert job_rows(database) == []


def test_a_wrong_password_gives_one_line_without_it(mariadb: Database) -> None:
    url = mariadb.engine.url.set(username="nobody_here", password=PASSWORD)
    assert isinstance(refusal(url.render_as_string(hide_password=False)), ConfigurationError)


def test_a_wrong_database_name_gives_one_line(mariadb: Database) -> None:
    error = refusal(mariadb.engine.url.set(database="tm_missing").render_as_string(hide_password=False))
    assert isinstance(error, ConfigurationError)
    assert "tm_missing" in str(error)


def test_a_server_that_is_not_there_gives_one_line_without_the_password() -> None:
    error = refusal(f"mysql+pymysql://root:{PASSWORD}@127.0.0.1:{free_port()}/tm")
    assert isinstance(error, DatabaseUnavailableError)


def test_a_host_that_does_not_exist_gives_one_line_without_the_password() -> None:
    error = refusal(f"mysql+pymysql://root:{PASSWORD}@no-such-host.invalid/tm")
    assert isinstance(error, DatabaseUnavailableError)


def test_a_sqlite_folder_that_does_not_exist_gives_one_line() -> None:
    assert isinstance(refusal("sqlite:////nonexistent/folder/tm.db"), ConfigurationError)


@pytest.mark.parametrize("url", ["", "nonsense", f"postgresql://root:{PASSWORD}@host/tm"])
def test_a_url_of_no_supported_database_is_refused_before_any_connection(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_database(url)
    assert PASSWORD not in str(caught.value)


def test_the_candidate_scan_walks_its_index_and_sorts_nothing(mariadb: Database) -> None:
    for part in range(4):
        book(mariadb, [draft(key(part * 500 + number)) for number in range(500)])
    seen: list[tuple[str, object]] = []

    def watch(_conn: object, _cursor: object, sql: str, parameters: object, _context: object, _many: bool) -> None:  # noqa: FBT001 - SQLAlchemy's signature
        seen.append((sql, parameters))

    with mariadb.begin() as conn:
        conn.execute(text("ANALYZE TABLE translation_job")).all()
    with mariadb.read() as conn:
        event.listen(mariadb.engine, "before_cursor_execute", watch)
        candidate_groups(conn, [ClaimableDomain(resource_type="content")], 5)
        event.remove(mariadb.engine, "before_cursor_execute", watch)
        ((sql, parameters),) = seen
        plan = conn.exec_driver_sql(f"EXPLAIN {sql}", parameters).mappings().all()  # type: ignore[arg-type]
    scan = next(step for step in plan if step["table"] == "translation_job")
    assert scan["key"] == "idx_translation_job_domain_due"
    assert not any("filesort" in (step["Extra"] or "") or "temporary" in (step["Extra"] or "") for step in plan)


def test_a_reader_sees_committed_rows_only(database: Database) -> None:
    with database.begin() as writer:
        writer.execute(insert(t).values(row(datetime.now(UTC))))
        with database.read() as reader:
            assert reader.execute(select(t.c.id)).all() == []
    assert len(job_rows(database)) == 1


def test_the_url_keeps_its_password_for_the_driver_only(mariadb_url: str) -> None:
    url = make_url(mariadb_url).set(password=PASSWORD)
    db = open_database(url.render_as_string(hide_password=False))
    assert PASSWORD not in repr(db.engine)
