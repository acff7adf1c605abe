from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, inspect, text

from tm_pipeline.store.engine import Database
from tm_pipeline.store.invariants import named_queries, violations

HASH = "a" * 64


def job(conn: Connection, status: str, *, field: str = "title", token: str | None = None, **more: str) -> None:
    values = {"status": status, "field": field, "token": token, "engine": more.get("engine"), "hash": HASH}
    conn.execute(
        text(
            "INSERT INTO translation_job (resource_type, resource_id, field_key, source_hash, source_text,"
            " source_language, target_language, status, retry_count, next_retry_at, claim_token, engine_key)"
            " VALUES ('content', 1, :field, :hash, 't', 'ko', 'en', :status, 0, '2026-01-01 00:00:00', :token, :engine)"
        ),
        values,
    )


def unit(conn: Connection, translated: str = "Title") -> None:
    conn.execute(
        text(
            "INSERT INTO translation_memory (source_hash, source_text, source_language, target_language,"
            " translated_text, provider, provider_version, normalization_version)"
            " VALUES (:hash, 't', 'ko', 'en', :translated, 'fake', '1', 'v1')"
        ),
        {"hash": HASH, "translated": translated},
    )


def call(conn: Connection, state: str, attempt: int, active: str | None = None) -> None:
    conn.execute(
        text(
            "INSERT INTO provider_call (request_key, attempt, active_key, operation, provider, engine_key,"
            " characters, state, run_id, job_ids, deadline_at) VALUES"
            " (:key, :attempt, :active, 'translate', 'fake', 'fake', 1, :state, 'run', '1', '2026-01-01 00:00:00')"
        ),
        {"key": HASH, "attempt": attempt, "active": active, "state": state},
    )


def twice(act: Callable[[Connection, int], None]) -> Callable[[Connection], None]:
    def work(conn: Connection) -> None:
        act(conn, 1)
        act(conn, 2)

    return work


VIOLATIONS: dict[str, Callable[[Connection], None]] = {
    "unit_keys_are_unique": twice(lambda conn, _: unit(conn)),
    "a_group_is_held_under_one_token": twice(lambda conn, n: job(conn, "RUNNING", field=f"f{n}", token=str(n) * 32)),
    "only_running_jobs_hold_a_token": lambda conn: job(conn, "PENDING", token="t" * 32),
    "every_status_is_known": lambda conn: job(conn, "ASLEEP"),
    "stopped_jobs_say_why": lambda conn: job(conn, "FAILED"),
    "a_call_in_flight_is_the_only_one_of_its_key": twice(lambda conn, n: call(conn, "IN_FLIGHT", n)),
    "ended_calls_free_their_key": lambda conn: call(conn, "DONE", 1, HASH),
    "a_text_has_one_usable_paid_reply": twice(lambda conn, n: call(conn, "DONE", n)),
    "completed_jobs_have_their_unit": lambda conn: job(conn, "COMPLETED", engine="fake"),
    "no_unit_is_empty": lambda conn: unit(conn, ""),
}


@contextmanager
def without_the_unique_key(db: Database) -> Iterator[None]:
    """The key that makes one of the violations impossible, for as long as the test plants it."""
    name = "uk_translation_memory_source_target_provider"
    columns = "source_hash, source_language, target_language, provider, normalization_version"
    with db.begin() as conn:
        assert name in {item["name"] for item in inspect(conn).get_indexes("translation_memory")}
        conn.execute(text(f"DROP INDEX {name}" + ("" if db.is_sqlite else " ON translation_memory")))
    try:
        yield
    finally:
        with db.begin() as conn:
            conn.execute(text("DELETE FROM translation_memory"))
            conn.execute(text(f"CREATE UNIQUE INDEX {name} ON translation_memory ({columns})"))


def test_every_invariant_has_a_planted_violation() -> None:
    assert set(VIOLATIONS) == set(named_queries())


def test_an_empty_database_violates_nothing(database: Database) -> None:
    with database.read() as conn:
        assert violations(conn) == dict.fromkeys(VIOLATIONS, 0)


def test_sound_rows_violate_nothing(database: Database) -> None:
    with database.begin() as conn:
        unit(conn)
        job(conn, "COMPLETED", engine="fake")
        job(conn, "RUNNING", field="a", token="t" * 32)
        job(conn, "RUNNING", field="b", token="t" * 32)
        job(conn, "PENDING", field="c")
        call(conn, "DONE", 1)
        call(conn, "IN_FLIGHT", 2, HASH)
    with database.read() as conn:
        assert violations(conn) == dict.fromkeys(VIOLATIONS, 0)


@pytest.mark.parametrize("name", sorted(VIOLATIONS))
def test_a_planted_violation_is_found_by_its_query_alone(database: Database, name: str) -> None:
    with without_the_unique_key(database):
        with database.begin() as conn:
            VIOLATIONS[name](conn)
        with database.read() as conn:
            found = {query: count for query, count in violations(conn).items() if count}
    assert set(found) == {name}
    assert found[name] == 1
