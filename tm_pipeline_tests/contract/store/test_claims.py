import multiprocessing
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from tm_pipeline.domain.errors import ErrorKind, LeaseLostError
from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, JobOutcome, JobStatus
from tm_pipeline.store.claims import (
    ClaimableDomain,
    candidate_groups,
    finish_jobs,
    reacquire_group,
    release_claims,
    release_group,
    renew_leases,
    sweep_expired,
    take_groups,
)
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline_tests.contract.store.rows import book, change_jobs, draft, job_rows, key, take

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
CONTENT = ClaimableDomain(resource_type="content")
SERIES = ClaimableDomain(resource_type="series", priority_seconds=600)
PROCESSES, GROUPS = 4, 300


def claimed(db: Database, group: GroupKey, token: str = "t" * 32, owner: str = "run-1") -> ClaimedGroup:
    found = take(db, group, token, owner)
    assert found is not None
    return found


def outcomes(group: ClaimedGroup, status: JobStatus = JobStatus.COMPLETED, **more: Any) -> list[JobOutcome]:
    return [JobOutcome(job=job, status=status, retry_count=job.retry_count, **more) for job in group.jobs]


def statuses(db: Database) -> list[str]:
    return [row.status for row in job_rows(db)]


def reacquire(
    db: Database, token: str = "n" * 32, owner: str = "run-1", *, failed: bool = False
) -> ClaimedGroup | None:
    return reacquire_group(db, key(), token=token, claimed_by=owner, lease_seconds=60, include_failed=failed)


def keys_of(groups: list[ClaimedGroup]) -> list[GroupKey]:
    return [group.key for group in groups]


def test_a_group_is_claimed_once_with_all_its_due_rows(database: Database) -> None:
    book(database, [draft(key()), draft(key(), "body"), draft(key(), "later", due=900)])
    group = claimed(database, key())
    assert sorted(job.field_key for job in group.jobs) == ["body", "title"]
    assert [job.id for job in group.jobs] == sorted(job.id for job in group.jobs)
    assert take(database, key(), "u" * 32, "run-2") is None
    rows = {row.field_key: row for row in job_rows(database)}
    assert (rows["title"].status, rows["title"].claim_token, rows["title"].claimed_by) == ("RUNNING", "t" * 32, "run-1")
    assert rows["later"].status == "PENDING"


def test_a_claim_whose_commit_answer_was_lost_finds_its_own_rows(database: Database) -> None:
    book(database, [draft(key())])
    first = claimed(database, key())
    again = claimed(database, key())
    assert [job.id for job in again.jobs] == [job.id for job in first.jobs]


def test_a_group_that_is_not_due_is_not_claimed(database: Database) -> None:
    book(database, [draft(key(), due=900)])
    assert take(database, key()) is None
    assert statuses(database) == ["PENDING"]


def test_a_running_group_is_no_candidate_even_with_a_new_row(database: Database) -> None:
    book(database, [draft(key())])
    claimed(database, key())
    book(database, [draft(key(), "body")])
    with database.read() as conn:
        assert candidate_groups(conn, [CONTENT], 10) == []
    assert take(database, key(), "u" * 32) is None


def test_a_row_that_arrives_while_its_group_runs_goes_with_the_next_claim(database: Database) -> None:
    book(database, [draft(key())])
    first = claimed(database, key())
    book(database, [draft(key(), "body")])
    database.run(lambda conn: finish_jobs(conn, first.token, outcomes(first)))
    assert [job.field_key for job in claimed(database, key(), "u" * 32).jobs] == ["body"]


def test_another_sessions_row_lock_makes_a_claim_give_up_at_once(mariadb: Database) -> None:
    book(mariadb, [draft(key()), draft(key(), "body")])
    last = job_rows(mariadb)[-1].id
    with mariadb.begin() as conn:
        conn.execute(select(t.c.id).where(t.c.id == last).with_for_update()).all()
        started = time.monotonic()
        assert take(mariadb, key()) is None
        assert time.monotonic() - started < 2  # the lock wait time-out of a session is 5 s
    assert statuses(mariadb) == ["PENDING", "PENDING"]
    claimed(mariadb, key())


def test_a_group_that_somebody_else_takes_is_passed_over_for_the_next_one(mariadb: Database) -> None:
    book(mariadb, [draft(key(1)), draft(key(2))])
    first = job_rows(mariadb)[0].id
    with mariadb.begin() as conn:
        conn.execute(select(t.c.id).where(t.c.id == first).with_for_update()).all()
        found = take_groups(mariadb, [CONTENT], limit=1, claimed_by="run-1", lease_seconds=60)
    assert keys_of(found) == [key(2)]
    rest = take_groups(mariadb, [CONTENT], limit=2, claimed_by="run-1", lease_seconds=60)
    assert sorted(keys_of(found + rest)) == [key(1), key(2)]


def test_finishing_writes_each_outcome_and_lets_go(database: Database) -> None:
    book(database, [draft(key()), draft(key(), "body")])
    group = claimed(database, key())
    done, failed = group.jobs
    results = [
        JobOutcome(job=done, status=JobStatus.COMPLETED, retry_count=0, engine_key="fake"),
        JobOutcome(
            job=failed,
            status=JobStatus.PENDING,
            retry_count=1,
            due_in_seconds=600,
            error_kind=ErrorKind.TIMEOUT,
            message="too slow",
        ),
    ]
    database.run(lambda conn: finish_jobs(conn, group.token, results))
    first, second = job_rows(database)
    assert (first.status, first.engine_key, first.claim_token, first.lease_expires_at) == (
        "COMPLETED",
        "fake",
        None,
        None,
    )
    assert (second.status, second.retry_count, second.error_kind, second.claimed_by) == ("PENDING", 1, "timeout", None)
    assert second.next_retry_at > first.next_retry_at + timedelta(seconds=500)


def test_a_lost_token_writes_nothing(database: Database) -> None:
    book(database, [draft(key()), draft(key(), "body")])
    group = claimed(database, key())
    with database.begin() as conn:
        conn.execute(update(t).where(t.c.field_key == "body").values(claim_token="u" * 32))
    before = job_rows(database)
    with pytest.raises(LeaseLostError, match="1 of 2 jobs were still held"):
        database.run(lambda conn: finish_jobs(conn, group.token, outcomes(group)))
    assert job_rows(database) == before


def test_a_cancelled_job_is_not_finished_by_its_late_worker(database: Database) -> None:
    book(database, [draft(key())])
    group = claimed(database, key())
    change_jobs(database, status="CANCELLED", claim_token=None)
    with pytest.raises(LeaseLostError):
        database.run(lambda conn: finish_jobs(conn, group.token, outcomes(group)))
    assert statuses(database) == ["CANCELLED"]


def test_renewing_extends_the_lease_of_its_own_rows_only(database: Database) -> None:
    book(database, [draft(key(1)), draft(key(2))])
    claimed(database, key(1), "a" * 32)
    claimed(database, key(2), "b" * 32)
    before = job_rows(database)
    assert database.run(lambda conn: renew_leases(conn, "a" * 32, 3_600)) == 1
    after = job_rows(database)
    assert after[0].lease_expires_at > before[0].lease_expires_at + timedelta(seconds=3_000)
    assert after[1] == before[1]
    assert database.run(lambda conn: renew_leases(conn, "c" * 32, 3_600)) == 0


def test_releasing_a_run_gives_back_its_rows_and_burns_no_attempt(database: Database) -> None:
    book(database, [draft(key(1)), draft(key(2))])
    claimed(database, key(1), "a" * 32, "run-1")
    claimed(database, key(2), "b" * 32, "run-2")
    assert release_claims(database, "run-1") == 1
    first, second = job_rows(database)
    assert (first.status, first.retry_count, first.claim_token, first.lease_expires_at) == ("PENDING", 0, None, None)
    assert (second.status, second.claimed_by) == ("RUNNING", "run-2")
    assert release_group(database, "b" * 32) == 1
    assert release_group(database, "b" * 32) == 0
    assert statuses(database) == ["PENDING", "PENDING"]


def test_an_expired_lease_goes_back_to_the_queue_until_its_attempts_are_used_up(database: Database) -> None:
    book(database, [draft(key())])
    seen = []
    for number in range(3):
        claimed(database, key(), str(number) * 32)
        change_jobs(database, lease_expires_at=LONG_AGO)
        ((job, status),) = sweep_expired(database, max_retries=3)
        (row,) = job_rows(database)
        assert row.status == status.value
        assert (row.retry_count, row.error_kind, row.claim_token) == (job.retry_count + 1, "lease_expired", None)
        assert row.last_error_message
        seen.append(row.status)
    assert seen == ["PENDING", "PENDING", "FAILED"]


def test_a_live_lease_and_a_running_row_without_one_are_not_swept(database: Database) -> None:
    book(database, [draft(key(1)), draft(key(2))])
    claimed(database, key(1))
    with database.begin() as conn:
        conn.execute(update(t).where(t.c.resource_id == 2).values(status="RUNNING"))
    before = job_rows(database)
    assert sweep_expired(database, max_retries=3) == []
    assert job_rows(database) == before


def test_a_run_takes_its_own_group_again_under_a_new_token(database: Database) -> None:
    book(database, [draft(key())])
    claimed(database, key())
    again = reacquire(database)
    assert again is not None
    assert [row.claim_token for row in job_rows(database)] == ["n" * 32]


def test_a_live_lease_of_another_run_is_not_taken_over(database: Database) -> None:
    book(database, [draft(key())])
    claimed(database, key(), owner="run-2")
    before = job_rows(database)
    assert reacquire(database) is None
    assert job_rows(database) == before


def test_a_running_row_of_another_application_is_not_taken_over(database: Database) -> None:
    book(database, [draft(key())])
    change_jobs(database, status="RUNNING")
    assert reacquire(database) is None


def test_a_dead_lease_of_another_run_is_taken_over(database: Database) -> None:
    book(database, [draft(key())])
    claimed(database, key(), owner="run-2")
    change_jobs(database, lease_expires_at=LONG_AGO)
    assert reacquire(database) is not None
    assert [row.claimed_by for row in job_rows(database)] == ["run-1"]


def test_failed_rows_are_taken_again_only_where_asked(database: Database) -> None:
    book(database, [draft(key())])
    change_jobs(database, status="FAILED", error_kind="timeout", last_error_message="too slow")
    assert reacquire(database) is None
    assert reacquire(database, failed=True) is not None
    assert statuses(database) == ["RUNNING"]


def test_groups_come_by_due_time_minus_their_domains_head_start(database: Database) -> None:
    book(database, [draft(key(number)) for number in (1, 2)] + [draft(key(3, resource_type="series"))])
    ages = {1: 900, 2: 300, 3: 0}  # the head start of series is 600 s
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=5)
    with database.begin() as conn:
        for number, age in ages.items():
            conn.execute(update(t).where(t.c.resource_id == number).values(next_retry_at=now - timedelta(seconds=age)))
    with database.read() as conn:
        found = candidate_groups(conn, [CONTENT, SERIES], 10)
        assert [group.resource_id for group in found] == [1, 3, 2]
        assert [group.resource_id for group in candidate_groups(conn, [CONTENT, SERIES], 1)] == [1]


def test_only_the_wanted_languages_are_claimed(database: Database) -> None:
    book(database, [draft(key(1, language)) for language in ("en", "ja", "zh-Hans")])
    found = take_groups(database, [CONTENT], limit=5, claimed_by="run-1", lease_seconds=60, target_languages=["ja"])
    assert keys_of(found) == [key(1, "ja")]
    assert sorted(statuses(database)) == ["PENDING", "PENDING", "RUNNING"]


def test_a_backlog_of_a_domain_that_may_not_be_called_hides_nothing(database: Database) -> None:
    book(database, [draft(key(number, resource_type="series")) for number in range(200)])
    change_jobs(database, next_retry_at=LONG_AGO)
    book(database, [draft(key(1))])
    found = take_groups(database, [CONTENT], limit=1, claimed_by="run-1", lease_seconds=60)
    assert keys_of(found) == [key(1)]


def test_a_group_with_very_many_rows_does_not_hide_the_next_one(database: Database) -> None:
    book(database, [draft(key(1), f"field-{number}") for number in range(150)])
    change_jobs(database, next_retry_at=LONG_AGO)
    book(database, [draft(key(2))])
    found = take_groups(database, [CONTENT], limit=2, claimed_by="run-1", lease_seconds=60)
    assert keys_of(found) == [key(1), key(2)]
    assert [len(group.jobs) for group in found] == [150, 1]


def claim_until_empty(url: str, owner: str, answers: Any) -> None:
    """What each process does; a top-level function, because a spawned process imports it."""
    db = open_database(url)
    mine: list[int] = []
    idle = 0
    while idle < 3:
        found = take_groups(db, [CONTENT], limit=10, claimed_by=owner, lease_seconds=60)
        mine += [group.key.resource_id for group in found]
        idle = 0 if found else idle + 1
    db.dispose()
    answers.put(mine)


def test_processes_share_the_queue_without_claiming_any_group_twice(database: Database) -> None:
    book(database, [draft(key(number), field) for number in range(GROUPS) for field in ("title", "body")])
    url = database.engine.url.render_as_string(hide_password=False)
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    workers = [spawn.Process(target=claim_until_empty, args=(url, f"run-{n}", answers)) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    counts = Counter(number for _ in workers for number in answers.get(timeout=60))
    for worker in workers:
        worker.join()
    answers.close()
    answers.join_thread()
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    assert counts == Counter(range(GROUPS))
    assert {row.status for row in job_rows(database)} == {"RUNNING"}
