import random
import threading
from datetime import UTC, datetime, timedelta

import pytest

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.store.clock import read_now
from tm_pipeline.store.engine import Database
from tm_pipeline.store.jobs import upsert_jobs
from tm_pipeline_tests.contract.store.rows import book, change_jobs, draft, job_rows, key

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FINISHED = (JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SUPERSEDED, JobStatus.CANCELLED)


def test_a_new_draft_becomes_a_pending_row_that_is_due_when_asked(database: Database) -> None:
    with database.read() as conn:
        now = read_now(conn)
    book(database, [draft(key(), due=30)])
    (row,) = job_rows(database)
    assert (row.status, row.retry_count, row.source_text, row.claim_token) == ("PENDING", 0, "제목", None)
    assert timedelta(seconds=29) <= row.next_retry_at - now <= timedelta(seconds=40)


def test_booking_nothing_is_fine(database: Database) -> None:
    book(database, [])
    assert job_rows(database) == []


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_job_starts_again_afresh(database: Database, status: JobStatus) -> None:
    book(database, [draft(key())])
    change_jobs(
        database,
        status=status.value,
        retry_count=5,
        next_retry_at=LONG_AGO,
        error_kind="timeout",
        last_error_message="too slow",
    )
    with database.read() as conn:
        now = read_now(conn)
    book(database, [draft(key(), text="새 제목", due=10)])
    (row,) = job_rows(database)
    # Each of these hangs on the old status: a database that writes the new one first would keep the old values.
    assert (row.status, row.retry_count, row.source_text) == ("PENDING", 0, "새 제목")
    assert (row.error_kind, row.last_error_message) == (None, None)
    assert row.next_retry_at > now


@pytest.mark.parametrize("status", sorted(set(JobStatus) - set(FINISHED)))
def test_an_active_or_stopped_job_is_left_alone(database: Database, status: JobStatus) -> None:
    book(database, [draft(key())])
    held = {"claim_token": "t" * 32, "claimed_by": "run-1"} if status is JobStatus.RUNNING else {}
    change_jobs(
        database,
        status=status.value,
        retry_count=2,
        next_retry_at=LONG_AGO,
        updated_at=LONG_AGO,
        error_kind="timeout",
        last_error_message="too slow",
        **held,
    )
    before = job_rows(database)
    book(database, [draft(key(), text="새 제목", due=10)])
    assert job_rows(database) == before


def test_one_booking_treats_each_row_by_its_own_status(database: Database) -> None:
    book(database, [draft(key(1))])
    change_jobs(database, status="FAILED", retry_count=5)
    book(database, [draft(key(2))])
    with database.begin() as conn:
        conn.exec_driver_sql("UPDATE translation_job SET status = 'RUNNING', retry_count = 3 WHERE resource_id = 2")
    book(database, [draft(key(3)), draft(key(2)), draft(key(1))])
    found = [(row.resource_id, row.status, row.retry_count) for row in job_rows(database)]
    assert found == [(1, "PENDING", 0), (2, "RUNNING", 3), (3, "PENDING", 0)]


def test_sixteen_bookers_of_the_same_keys_in_any_order_leave_each_key_once(database: Database) -> None:
    errors: list[BaseException] = []
    start = threading.Barrier(16)

    def work(seed: int) -> None:
        drafts = [draft(key(number)) for number in range(50)]
        random.Random(seed).shuffle(drafts)
        start.wait()
        try:
            # One attempt: a dead-lock must not happen, not just be survived.
            database.run(lambda conn: upsert_jobs(conn, drafts), attempts=1)
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(row.resource_id for row in job_rows(database)) == list(range(50))
