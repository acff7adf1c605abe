from datetime import UTC, datetime

from sqlalchemy import select, update

from tm_pipeline.store.engine import Database
from tm_pipeline.store.refreshes import delete_refreshes, due_domains, failing, lock_due, mark_refresh, postpone
from tm_pipeline.store.requests import (
    RequestRow,
    append_request,
    append_request_once,
    bury_requests,
    delete_requests,
    oldest_requests,
    pending_requests_exist,
)
from tm_pipeline.store.tables import read_model_refresh, translation_request_dead
from tm_pipeline_tests.contract.store.rows import key


def ask(db: Database, resource_id: int, language: str | None = None) -> bool:
    return db.run(lambda conn: append_request_once(conn, "content", resource_id, language, "read_miss"))


def waiting(db: Database, limit: int = 500) -> list[RequestRow]:
    with db.read() as conn:
        return oldest_requests(conn, limit)


def fold(db: Database) -> list[int]:
    rows = waiting(db)
    db.run(lambda conn: delete_requests(conn, [row.id for row in rows]))
    return [row.resource_id for row in rows]


def mark(db: Database, *numbers: int) -> None:
    db.run(lambda conn: mark_refresh(conn, [key(number) for number in numbers], reason="save"))


def due(db: Database) -> list[int]:
    return [item.key.resource_id for item in db.run(lambda conn: lock_due(conn, "content"))]


def test_the_same_request_waits_once(database: Database) -> None:
    assert [ask(database, 1, "en"), ask(database, 1, "en"), ask(database, 1, "ja")] == [True, False, True]
    assert [ask(database, 1), ask(database, 1)] == [True, False]
    assert fold(database) == [1, 1, 1]
    assert ask(database, 1, "en") is True


def test_requests_come_by_id_and_go_when_folded(database: Database) -> None:
    for number in (3, 1, 2):
        ask(database, number)
    assert [row.resource_id for row in waiting(database, 2)] == [3, 1]
    assert fold(database) == [3, 1, 2]
    with database.read() as conn:
        assert not pending_requests_exist(conn)


def test_a_request_that_can_never_be_folded_is_kept_aside_with_its_reason(database: Database) -> None:
    with database.begin() as conn:
        append_request(conn, resource_type="nonsense", resource_id=7, source_text="글", source_version=3, reason="save")
    ask(database, 8)
    rows = waiting(database)
    database.run(lambda conn: bury_requests(conn, [(rows[0], "no such domain " + "x" * 600)]))
    with database.read() as conn:
        (buried,) = conn.execute(select(translation_request_dead)).all()
    assert (buried.resource_type, buried.resource_id, buried.source_text, buried.source_version) == (
        "nonsense",
        7,
        "글",
        3,
    )
    assert buried.rejected_reason.startswith("no such domain")
    assert len(buried.rejected_reason) == 500
    assert fold(database) == [8]


def test_a_request_that_commits_after_a_later_one_is_folded_too(mariadb: Database) -> None:
    with mariadb.begin() as slow:
        append_request(slow, resource_type="content", resource_id=1, reason="save")
        assert ask(mariadb, 2)
        assert fold(mariadb) == [2]
    assert fold(mariadb) == [1]


def test_a_mark_is_locked_settled_and_gone(database: Database) -> None:
    mark(database, 2, 1, 2)
    with database.begin() as conn:
        items = lock_due(conn, "content")
        assert sorted(item.key.resource_id for item in items) == [1, 2]
        assert lock_due(conn, "series") == []
        assert [item.key.resource_id for item in lock_due(conn, "content", ids=[1])] == [1]
        assert lock_due(conn, "content", locales=["ja"]) == []
        delete_refreshes(conn, [item.id for item in items])
    assert due(database) == []


def test_a_postponed_mark_waits_counts_its_failures_and_says_why(database: Database) -> None:
    mark(database, 1)
    with database.begin() as conn:
        (item,) = lock_due(conn, "content")
        postpone(conn, item.id, seconds=600, message="longer than its column")
    assert due(database) == []
    with database.read() as conn:
        assert (due_domains(conn), failing(conn)) == ({}, 1)
        (row,) = conn.execute(select(read_model_refresh)).all()
    assert (row.attempts, row.last_error_message) == (1, "longer than its column")


def test_marking_again_makes_a_postponed_mark_due_with_a_clean_record(database: Database) -> None:
    mark(database, 1)
    with database.begin() as conn:
        (item,) = lock_due(conn, "content")
        postpone(conn, item.id, seconds=600, message="longer than its column")
    mark(database, 1)
    (again,) = database.run(lambda conn: lock_due(conn, "content"))
    assert (again.id, again.attempts) == (item.id, 0)
    with database.read() as conn:
        assert (due_domains(conn), failing(conn)) == ({"content": {"en"}}, 0)


def test_the_oldest_mark_comes_first(database: Database) -> None:
    mark(database, 1, 2)
    with database.begin() as conn:
        old = update(read_model_refresh).where(read_model_refresh.c.resource_id == 2)
        conn.execute(old.values(next_attempt_at=datetime(2020, 1, 1, tzinfo=UTC)))
    assert due(database) == [2, 1]


def test_a_mark_that_another_session_holds_is_passed_over(mariadb: Database) -> None:
    mark(mariadb, 1, 2)
    with mariadb.read() as conn:
        first, second = conn.execute(select(read_model_refresh).order_by(read_model_refresh.c.id)).all()
    with mariadb.begin() as conn:
        held = select(read_model_refresh.c.id).where(read_model_refresh.c.id == first.id).with_for_update()
        conn.execute(held).all()
        assert due(mariadb) == [second.resource_id]
    assert sorted(due(mariadb)) == [1, 2]
