from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, inspect, text

from tm_pipeline.store.engine import Database
from tm_pipeline.store.invariants import named_queries, violations

HASH = "a" * 64


FUTURE, PAST = "2037-01-01 00:00:00", "2026-01-01 00:00:00"


def job(
    conn: Connection,
    status: str,
    *,
    field: str = "title",
    token: str | None = None,
    resource_id: int = 1,
    lease: str = FUTURE,
    engine: str | None = None,
) -> None:
    values = {"status": status, "field": field, "token": token, "engine": engine, "hash": HASH, "id": resource_id}
    conn.execute(
        text(
            "INSERT INTO translation_job (resource_type, resource_id, field_key, source_hash, source_text,"
            " source_language, target_language, status, retry_count, next_retry_at, claim_token, engine_key,"
            " lease_expires_at)"
            " VALUES ('content', :id, :field, :hash, 't', 'ko', 'en', :status, 0, '2026-01-01 00:00:00', :token,"
            " :engine, :lease)"
        ),
        {**values, "lease": lease if token else None},
    )


def unit(conn: Connection, translated: str = "Title", call_id: int | None = None) -> None:
    conn.execute(
        text(
            "INSERT INTO translation_memory (source_hash, source_text, source_language, target_language,"
            " translated_text, provider, provider_version, normalization_version, origin_call_id)"
            " VALUES (:hash, 't', 'ko', 'en', :translated, 'fake', '1', 'v1', :call)"
        ),
        {"hash": HASH, "translated": translated, "call": call_id},
    )


def call(
    conn: Connection, state: str, attempt: int, active: str | None = None, *, deadline: str = FUTURE, billed: int = 0
) -> None:
    conn.execute(
        text(
            "INSERT INTO provider_call (request_key, attempt, active_key, operation, provider, engine_key,"
            " characters, state, run_id, job_ids, deadline_at, billed_units) VALUES"
            " (:key, :attempt, :active, 'translate', 'fake', 'fake', 1, :state, 'run', '1', :deadline, :billed)"
        ),
        {"key": HASH, "attempt": attempt, "active": active, "state": state, "deadline": deadline, "billed": billed},
    )


def event(conn: Connection, name: str, to_status: str, job_id: int | None = None) -> None:
    """An event of a job, by default of the one that was added last."""
    if job_id is None:
        job_id = conn.execute(text("SELECT MAX(id) FROM translation_job")).scalar_one()
    conn.execute(
        text(
            "INSERT INTO translation_event (resource_type, resource_id, job_id, event, to_status, actor)"
            " VALUES ('content', 1, :job, :event, :status, 'test')"
        ),
        {"job": job_id, "event": name, "status": to_status},
    )


def completed_twice(conn: Connection) -> None:
    job(conn, "COMPLETED")
    event(conn, "recorded", "COMPLETED")
    event(conn, "recorded", "PENDING")
    event(conn, "recorded", "COMPLETED")


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
    "no_lease_outlives_its_bound": lambda conn: job(conn, "RUNNING", token="t" * 32, lease=PAST),
    "a_claim_is_of_one_group": twice(lambda conn, n: job(conn, "RUNNING", resource_id=n, token="t" * 32)),
    "no_call_outlives_its_deadline": lambda conn: call(conn, "IN_FLIGHT", 1, HASH, deadline=PAST),
    "no_job_is_lost": twice(lambda conn, _: event(conn, "recorded", "PENDING", job_id=999)),
    "no_stale_worker_completed_a_job": completed_twice,
    "every_paid_unit_has_its_call": lambda conn: unit(conn, call_id=999),
    "refused_calls_cost_nothing": lambda conn: call(conn, "REFUSED", 1, billed=1),
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
        for name, status in (("recorded", "COMPLETED"), ("retranslate", "PENDING"), ("recorded", "COMPLETED")):
            event(conn, name, status)
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


def test_only_the_named_invariants_are_run(database: Database) -> None:
    with database.read() as conn:
        assert violations(conn, {"no_unit_is_empty"}) == {"no_unit_is_empty": 0}
