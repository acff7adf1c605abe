"""An alert is booked once whoever books it, held back while its fault is quiet, and delivered by one process."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from sqlalchemy import func, select, update

from tm_pipeline.domain.alerts import Alert, AlertKind
from tm_pipeline.store.alerts import (
    AlertState,
    book_alert,
    booked_keys,
    due_deliveries,
    open_circuits,
    settle_delivery,
    take_delivery,
    undelivered_alerts,
)
from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.engine import Database
from tm_pipeline.store.heartbeat import beat, last_seen_age_seconds
from tm_pipeline.store.provider_states import open_circuit, pause
from tm_pipeline.store.tables import alert as t
from tm_pipeline.store.tables import alert_fault, automation_heartbeat

BOOKER = """
import sys
from tm_pipeline.domain.alerts import Alert, AlertKind
from tm_pipeline.store.alerts import book_alert
from tm_pipeline.store.engine import open_database

db = open_database(sys.argv[1])
sys.stdin.readline()
told = 0
for number in range(20):
    alert = Alert(key=f"run:{number}", kind=AlertKind.RUN, title="failed", text="look")
    found = db.run(lambda conn, one=alert: book_alert(conn, one, fault=f"fault-{number % 4}", may_be_held=True))
    told += found is not None
print(told)
"""


def failed(number: int) -> Alert:
    return Alert(key=f"run:{number}", kind=AlertKind.RUN, title=f"run {number} failed", text="Look.")


def book(db: Database, alert: Alert, *, fault: str = "f", may_be_held: bool = True) -> tuple[AlertState, Alert] | None:
    return db.run(lambda conn: book_alert(conn, alert, fault=fault, may_be_held=may_be_held))


def states(db: Database) -> dict[str, int]:
    with db.read() as conn:
        return {row[0]: int(row[1]) for row in conn.execute(select(t.c.state, func.count()).group_by(t.c.state))}


def move_fault(db: Database, seconds: int) -> None:
    with db.begin() as conn:
        conn.execute(update(alert_fault).values(alerted_at=now_precise(seconds)))


def test_a_key_is_booked_once(database: Database) -> None:
    first = book(database, failed(1))
    assert first is not None
    assert first[0] is AlertState.PENDING
    assert book(database, failed(1)) is None
    assert states(database) == {"PENDING": 1}
    with database.read() as conn:
        assert booked_keys(conn, ["run:1", "run:2"]) == {"run:1"}


def test_the_same_fault_within_the_hour_is_held_back_and_counted_in_the_next_alert(database: Database) -> None:
    for number in range(4):
        book(database, failed(number))
    assert states(database) == {"PENDING": 1, "HELD": 3}
    move_fault(database, -3_601)
    told = book(database, failed(9))
    assert told is not None
    assert (told[0], told[1].held_back) == (AlertState.PENDING, 3)
    assert told[1].text == "3 more runs failed for the same reason since the last alert. Look."
    with database.read() as conn:
        body = conn.execute(select(t.c.body).where(t.c.alert_key == "run:9")).scalar_one()
    assert json.loads(body)["held_back"] == 3
    move_fault(database, -3_601)
    after = book(database, failed(10))
    assert after is not None
    assert after[1].held_back == 0


def test_a_repeated_key_is_not_counted_as_held_back(database: Database) -> None:
    for number in (1, 1, 2, 2, 2):
        book(database, failed(number))
    with database.read() as conn:
        assert conn.execute(select(alert_fault.c.held_back)).scalar_one() == 1


def test_another_fault_is_told_at_once_and_a_single_one_is_never_held(database: Database) -> None:
    book(database, failed(1))
    other = book(database, failed(2), fault="other")
    single = book(database, failed(3), may_be_held=False)
    assert [found[0] for found in (other, single) if found] == [AlertState.PENDING, AlertState.PENDING]


def test_a_clock_that_stepped_back_holds_nothing_back_for_ever(database: Database) -> None:
    book(database, failed(1))
    move_fault(database, 2 * 3_600)
    found = book(database, failed(2))
    assert found is not None
    assert found[0] is AlertState.PENDING


def test_of_two_processes_that_book_the_same_keys_one_books_each(mariadb: Database) -> None:
    url = mariadb.engine.url.render_as_string(hide_password=False)
    workers = [
        subprocess.Popen([sys.executable, "-c", BOOKER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    told = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(told) == 20
    assert states(mariadb) == {"PENDING": 4, "HELD": 16}
    with mariadb.read() as conn:
        assert conn.execute(select(func.sum(alert_fault.c.held_back))).scalar_one() == 16


def test_of_many_threads_that_book_one_fault_at_once_one_is_told(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: book(database, failed(number % 10)), range(40)))
    assert sum(item is not None for item in found) == 10
    assert states(database) == {"PENDING": 1, "HELD": 9}


def test_a_delivery_is_taken_by_one_and_comes_back_later(database: Database) -> None:
    book(database, failed(1))
    with database.read() as conn:
        [mine] = due_deliveries(conn, 5)
        [theirs] = due_deliveries(conn, 5)
    assert database.run(lambda conn: take_delivery(conn, mine, retry_seconds=60))
    assert not database.run(lambda conn: take_delivery(conn, theirs, retry_seconds=60))
    with database.read() as conn:
        assert due_deliveries(conn, 5) == []
    with database.begin() as conn:
        conn.execute(update(t).values(next_attempt_at=now_precise(-1)))
    with database.read() as conn:
        assert [item.attempts for item in due_deliveries(conn, 5)] == [1]


def test_a_settled_delivery_is_not_due_and_what_was_given_up_is_counted_for_a_day(database: Database) -> None:
    for number in (1, 2):
        book(database, failed(number), fault=str(number))
    with database.read() as conn:
        sent, lost = due_deliveries(conn, 5)
    database.run(lambda conn: settle_delivery(conn, sent.id, AlertState.SENT))
    database.run(lambda conn: settle_delivery(conn, lost.id, AlertState.GIVEN_UP, "x" * 900))
    with database.read() as conn:
        assert due_deliveries(conn, 5) == []
        assert undelivered_alerts(conn) == 1
        row = conn.execute(select(t.c.last_error, t.c.told_at).where(t.c.id == lost.id)).one()
    assert (len(row.last_error), row.told_at) == (500, None)
    with database.begin() as conn:
        conn.execute(update(t).values(next_attempt_at=now_precise(-2 * 86_400)))
    with database.read() as conn:
        assert undelivered_alerts(conn) == 0


def test_alerts_of_ninety_days_ago_are_forgotten_by_the_next_booking(database: Database) -> None:
    for number in range(3):
        book(database, failed(number), fault=str(number))
    with database.begin() as conn:
        conn.execute(update(t).where(t.c.alert_key != "run:2").values(booked_at=now_precise(-91 * 86_400)))
    book(database, failed(7), fault="7")
    with database.read() as conn:
        assert booked_keys(conn, [f"run:{number}" for number in range(8)]) == {"run:2", "run:7"}


def test_a_provider_that_stopped_by_itself_is_news_and_one_that_a_person_paused_is_not(database: Database) -> None:
    database.run(lambda conn: open_circuit(conn, "papago", "the quota is used up"))
    database.run(lambda conn: pause(conn, "pseudo", "me", "maintenance"))
    with database.read() as conn:
        [found] = open_circuits(conn)
    assert (found.provider, found.reason) == ("papago", "the quota is used up")
    assert found.opened_at is not None


def test_the_heartbeat_is_one_row_with_an_age(database: Database) -> None:
    with database.read() as conn:
        assert last_seen_age_seconds(conn) is None
    for _ in range(2):
        database.run(beat)
    with database.read() as conn:
        assert conn.execute(select(func.count()).select_from(automation_heartbeat)).scalar_one() == 1
        age = last_seen_age_seconds(conn)
    assert age is not None
    assert age <= timedelta(minutes=1).total_seconds()
    with database.begin() as conn:
        conn.execute(update(automation_heartbeat).values(seen_at=now_precise(-400)))
    with database.read() as conn:
        assert last_seen_age_seconds(conn) in range(400, 430)
