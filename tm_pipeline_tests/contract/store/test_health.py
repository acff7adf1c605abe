"""The numbers that are plotted, on both databases: right, and counted in keys."""

import pytest
from sqlalchemy import event, insert, select, text

from tm_pipeline.store import health
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.engine import Database
from tm_pipeline.store.health import Marks, Spent, UnitCount
from tm_pipeline.store.tables import provider_call, read_model_refresh, translation_event, translation_memory
from tm_pipeline_tests.contract.store.rows import book, change_jobs, draft, key


def add_calls(db: Database, *states: str, ago: int = 0, provider: str = "papago", latency: int | None = 5) -> None:
    with db.begin() as conn:
        first = len(conn.execute(select(provider_call.c.id)).all())
        for number, state in enumerate(states, first):
            values = {
                "request_key": f"{number:064d}",
                "attempt": 1,
                "operation": "translate",
                "provider": provider,
                "engine_key": provider,
                "characters": 10,
                "billed_units": 10 if state == "DONE" else 0,
                "billed_estimated": True,
                "state": state,
                "latency_ms": latency,
                "run_id": "run",
                "job_ids": "1",
            }
            conn.execute(
                insert(provider_call).values(**values, started_at=now_precise(-ago), deadline_at=now_precise(60))
            )


def add_events(db: Database, *outcomes: tuple[str, str | None], ago: int = 0, name: str = "recorded") -> None:
    with db.begin() as conn:
        for status, reason in outcomes:
            values = {"resource_type": "content", "resource_id": 1, "event": name, "actor": "pipeline"}
            conn.execute(
                insert(translation_event).values(
                    **values, to_status=status, reason=reason, occurred_at=now_precise(-ago)
                )
            )


def test_jobs_are_counted_by_what_they_wait_for(database: Database) -> None:
    book(database, [draft(key(1)), draft(key(2)), draft(key(3), due=3_600)])
    with database.read() as conn:
        assert health.count_jobs(conn) == {
            "due": 2,
            "waiting": 1,
            "running": 0,
            "failed": 0,
            "needs_review": 0,
            "needs_credential": 0,
        }
    change_jobs(database, status="FAILED")
    with database.read() as conn:
        assert health.count_jobs(conn)["failed"] == 3
    change_jobs(database, status="COMPLETED")
    with database.read() as conn:
        assert set(health.count_jobs(conn).values()) == {0}


def test_a_count_of_jobs_stops_at_its_cap(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "COUNTED_JOBS", 2)
    book(database, [draft(key(number)) for number in range(1, 6)])
    with database.read() as conn:
        assert health.count_jobs(conn)["due"] == 2


def test_marks_are_counted_by_domain_with_the_age_of_the_oldest_due_one(database: Database) -> None:
    with database.begin() as conn:
        for number, (attempts, due) in enumerate([(0, -120), (2, 300), (0, 300)]):
            conn.execute(
                insert(read_model_refresh).values(
                    resource_type="content",
                    resource_id=number,
                    target_language="en",
                    reason="test",
                    attempts=attempts,
                    next_attempt_at=now_seconds(due),
                )
            )
    with database.read() as conn:
        found = health.count_marks(conn, ["content", "category"])
    assert found["category"] == Marks(failing=0, oldest_due_age_seconds=0)
    assert found["content"].failing == 1
    assert 119 <= found["content"].oldest_due_age_seconds < 180


def test_a_window_sees_what_workers_recorded_in_it_and_nothing_older(database: Database) -> None:
    add_events(database, ("COMPLETED", "memory"), ("FAILED", "long ago"), ago=7_200)
    add_events(database, ("COMPLETED", "memory"), ("COMPLETED", None), ("FAILED", "refused"), ("PENDING", "later"))
    add_events(database, ("PENDING", "asked for again"), name="rebooked")
    with database.read() as conn:
        found = health.recorded_lately(conn, 600)
    assert found.statuses == {"COMPLETED": 2, "FAILED": 1, "PENDING": 1}
    assert found.reused == 1


def test_spending_is_summed_by_provider_and_state_in_all_and_in_a_window(database: Database) -> None:
    add_calls(database, "DONE", "UNKNOWN", ago=7_200)
    add_calls(database, "DONE", "DONE", "REFUSED")
    with database.read() as conn:
        total = {one.state: one for one in health.spent_in_all(conn)}
        lately = {one.state: one for one in health.spent_lately(conn, 600)}
        assert health.count_doubtful_calls(conn) == 1
        assert health.latencies_lately(conn, 600) == [5, 5, 5]
    assert total["DONE"] == Spent(provider="papago", state="DONE", calls=3, characters=30, billed=30)
    assert total["UNKNOWN"].calls == 1
    assert lately["DONE"].calls == 2
    assert "UNKNOWN" not in lately


def test_units_are_counted_by_status_engine_and_pair(database: Database) -> None:
    unit = {"source_text": "제목", "source_language": "ko", "target_language": "en", "translated_text": "Title"}
    more = {"provider_version": "1", "normalization_version": "v1"}
    with database.begin() as conn:
        for number, (provider, status) in enumerate([("papago", "ACTIVE"), ("papago", "ACTIVE"), ("human", "RETIRED")]):
            values = {"source_hash": f"{number:064d}", "provider": provider, "status": status, **unit, **more}
            conn.execute(insert(translation_memory).values(values))
    with database.read() as conn:
        assert sorted(health.count_units(conn), key=lambda count: count.engine) == [
            UnitCount(status="RETIRED", engine="human", pair="ko_en", units=1),
            UnitCount(status="ACTIVE", engine="papago", pair="ko_en", units=2),
        ]


@pytest.mark.db
def test_totals_are_counted_in_a_key_and_never_in_the_rows(mariadb: Database) -> None:
    add_calls(mariadb, *["DONE"] * 50)
    plans: list[str] = []

    def explain(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        plans.append(statement)

    event.listen(mariadb.engine, "before_cursor_execute", explain)
    with mariadb.read() as conn:
        health.spent_in_all(conn)
        health.count_units(conn)
    event.remove(mariadb.engine, "before_cursor_execute", explain)
    with mariadb.read() as conn:
        for statement in [plan for plan in plans if plan.startswith("SELECT")]:
            row = conn.execute(text(f"EXPLAIN {statement}")).mappings().one()
            assert "Using index" in str(row["Extra"]), statement
