import threading
from datetime import UTC, datetime

from sqlalchemy import update

from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.store.calls import (
    CallIntent,
    CallState,
    calls_for_keys,
    close_call,
    expire_calls,
    mark_reply_invalid,
    open_call,
)
from tm_pipeline.store.engine import Database
from tm_pipeline.store.tables import provider_call as t

KEY = "k" * 64


def intent(attempt: int = 1, key: str = KEY) -> CallIntent:
    return CallIntent(
        request_key=key,
        attempt=attempt,
        operation="translate",
        provider="fake",
        engine_key="fake:1",
        source_language="ko",
        target_language="en",
        source_hash="a" * 64,
        characters=2,
        run_id="run-1",
        job_ids="1",
        deadline_seconds=30,
    )


def opened(db: Database, attempt: int = 1, key: str = KEY) -> int | None:
    return db.run(lambda conn: open_call(conn, intent(attempt, key)))


def sure(call_id: int | None) -> int:
    assert call_id is not None
    return call_id


def test_one_call_is_in_flight_for_a_key(database: Database) -> None:
    assert opened(database, 1) is not None
    assert opened(database, 2) is None
    assert opened(database, 1, "o" * 64) is not None


def test_eight_workers_with_one_text_open_one_call(database: Database) -> None:
    start = threading.Barrier(8)
    results: list[int | None] = []

    def work() -> None:
        start.wait()
        results.append(opened(database))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len([result for result in results if result is not None]) == 1


def test_closing_a_call_stores_the_reply_and_frees_its_key(database: Database) -> None:
    call = sure(opened(database))
    database.run(lambda conn: close_call(conn, call, state=CallState.DONE, reply="Title", http_status=200))
    with database.read() as conn:
        (known,) = calls_for_keys(conn, [KEY, "o" * 64])[KEY]
    assert (known.id, known.state, known.reply, known.error_kind) == (call, CallState.DONE, "Title", None)
    assert opened(database, 2) is not None


def test_the_same_attempt_is_never_made_again_even_after_it_ended(database: Database) -> None:
    call = sure(opened(database))
    database.run(lambda conn: close_call(conn, call, state=CallState.REFUSED, error_kind=ErrorKind.TRANSIENT))
    assert opened(database, 1) is None
    assert opened(database, 2) is not None


def test_a_call_whose_worker_did_not_come_back_becomes_unknown_and_frees_its_key(database: Database) -> None:
    call = sure(opened(database))
    assert database.run(expire_calls) == []
    with database.begin() as conn:
        conn.execute(update(t).values(deadline_at=datetime(2020, 1, 1, tzinfo=UTC)))
    assert database.run(expire_calls) == [call]
    assert database.run(expire_calls) == []
    with database.read() as conn:
        (known,) = calls_for_keys(conn, [KEY])[KEY]
    assert (known.state, known.error_kind) == (CallState.UNKNOWN, ErrorKind.UNKNOWN_CALL)
    assert opened(database, 2) is not None


def test_a_reply_that_the_checks_refused_says_so(database: Database) -> None:
    call = sure(opened(database))
    database.run(lambda conn: close_call(conn, call, state=CallState.DONE, reply=""))
    database.run(lambda conn: mark_reply_invalid(conn, call, "x" * 900))
    with database.read() as conn:
        (known,) = calls_for_keys(conn, [KEY])[KEY]
    assert (known.error_kind, known.error_message) == (ErrorKind.OUTPUT_INVALID, "x" * 500)


def test_the_calls_of_a_key_come_oldest_first(database: Database) -> None:
    for attempt in (1, 2, 3):
        call = sure(opened(database, attempt))
        database.run(lambda conn, c=call: close_call(conn, c, state=CallState.REFUSED))  # type: ignore[misc]
    with database.read() as conn:
        ids = [call.id for call in calls_for_keys(conn, [KEY])[KEY]]
    assert len(ids) == 3
    assert ids == sorted(ids)
