"""Claim, lease, fence, sweep: the group is the unit, its PENDING and RUNNING rows are the mutex (S66–S74).

Candidates are found without locks, then each group is taken in its own short transaction with NOWAIT.
SKIP LOCKED over job rows tears groups apart and is never used here but for the sweep.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import SQLAlchemyError

from tm_pipeline.domain.errors import ErrorKind, LeaseLostError
from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, Job, JobOutcome, JobStatus
from tm_pipeline.store.batches import batches
from tm_pipeline.store.candidates import MAX_PAGES, ClaimableDomain, candidate_groups
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.engine import Database
from tm_pipeline.store.faults import is_lock_conflict
from tm_pipeline.store.jobs import COLUMNS, UNCLAIMED, as_job, by_status
from tm_pipeline.store.tables import translation_job as t

# fmt: off
__all__ = [
    "ClaimableDomain", "candidate_groups", "finish_jobs", "reacquire_group", "release_claims",
    "release_group", "renew_leases", "renew_run", "sweep_expired", "take_group", "take_groups",
]
# fmt: on

PENDING, RUNNING, FAILED = JobStatus.PENDING.value, JobStatus.RUNNING.value, JobStatus.FAILED.value
# Every claimer must lock a group's rows in the same order, and on a small table a scan would lock other groups.
GROUP_INDEX = "FORCE INDEX (idx_translation_job_group)"
LEASE_EXPIRED = "The worker stopped renewing its lease; it crashed, froze or lost its network."


def take_groups(
    db: Database,
    domains: Sequence[ClaimableDomain],
    *,
    limit: int,
    claimed_by: str,
    lease_seconds: int,
    target_languages: Sequence[str] | None = None,
) -> list[ClaimedGroup]:
    """Claim up to ``limit`` groups; a group that somebody else is taking is passed over, never waited for."""

    def candidates(conn: Connection, missing: int, tried: set[GroupKey]) -> list[GroupKey]:
        return candidate_groups(conn, domains, missing, exclude=frozenset(tried), target_languages=target_languages)

    def on_one_connection(conn: Connection) -> list[ClaimedGroup]:
        return _collect(
            limit,
            lambda missing, tried: candidates(conn, missing, tried),
            lambda key: _take(conn, key, uuid.uuid4().hex, claimed_by, lease_seconds),
        )

    def scan(missing: int, tried: set[GroupKey]) -> list[GroupKey]:
        with db.read() as conn:
            return candidates(conn, missing, tried)

    if db.is_sqlite:
        return db.run(on_one_connection)  # its write lock is the mutex, so one transaction takes them all
    return _collect(
        limit,
        scan,
        lambda key: take_group(db, key, token=uuid.uuid4().hex, claimed_by=claimed_by, lease_seconds=lease_seconds),
    )


def _collect(
    limit: int,
    candidates: Callable[[int, set[GroupKey]], list[GroupKey]],
    take: Callable[[GroupKey], ClaimedGroup | None],
) -> list[ClaimedGroup]:
    taken: list[ClaimedGroup] = []
    tried: set[GroupKey] = set()
    for _ in range(MAX_PAGES):
        missing = limit - len(taken)
        found = candidates(missing, tried)
        tried.update(found)
        taken += [group for key in found for group in (take(key),) if group is not None]
        if len(taken) >= limit or len(found) < missing:
            break
    return taken


def take_group(db: Database, key: GroupKey, *, token: str, claimed_by: str, lease_seconds: int) -> ClaimedGroup | None:
    """Take a group's due jobs, or None where it is held, running or no longer due."""
    return db.run(lambda conn: _take(conn, key, token, claimed_by, lease_seconds))


def _take(conn: Connection, key: GroupKey, token: str, claimed_by: str, lease_seconds: int) -> ClaimedGroup | None:
    rows = _lock(conn, key, (PENDING, RUNNING))
    if rows is None:
        return None
    running = [row for row in rows if row.status == RUNNING]
    if running:
        # The answer to this claim's own COMMIT may have been lost: then the rows are held under its token.
        mine = tuple(as_job(row) for row in running if row.claim_token == token)
        return ClaimedGroup(key=key, token=token, jobs=mine) if mine else None
    due = [as_job(row) for row in rows if row.due]
    return _hold(conn, key, due, (PENDING,), token, claimed_by, lease_seconds)


def reacquire_group(
    db: Database,
    key: GroupKey,
    *,
    token: str,
    claimed_by: str,
    lease_seconds: int,
    include_failed: bool = False,
) -> ClaimedGroup | None:
    """Take a group again for a chain of runs: its own rows, a dead lease's, or due ones (design §8).

    ``include_failed`` is a person's retry: it also takes FAILED jobs, and does not wait for a back-off.
    None where a live lease of somebody else holds it or nothing is there to do.
    """
    statuses = (PENDING, RUNNING, FAILED) if include_failed else (PENDING, RUNNING)

    def work(conn: Connection) -> ClaimedGroup | None:
        rows = _lock(conn, key, statuses)
        if rows is None:
            return None
        running = [row for row in rows if row.status == RUNNING]
        if any(row.claimed_by != claimed_by and not row.expired for row in running):
            return None
        wanted = [as_job(row) for row in rows if include_failed or row.status != PENDING or row.due]
        return _hold(conn, key, wanted, statuses, token, claimed_by, lease_seconds)

    return db.run(work)


def _lock(conn: Connection, key: GroupKey, statuses: Sequence[str]) -> Sequence[Any] | None:
    """The group's rows under lock, in id order; None where somebody holds one of them."""
    statement = (
        select(
            *COLUMNS,
            t.c.claim_token,
            t.c.claimed_by,
            (t.c.next_retry_at <= now_seconds()).label("due"),
            (t.c.lease_expires_at < now_precise()).label("expired"),
        )
        .where(
            t.c.resource_type == key.resource_type,
            t.c.resource_id == key.resource_id,
            t.c.target_language == key.target_language,
            t.c.status.in_(list(statuses)),
        )
        .with_hint(t, GROUP_INDEX, "mysql")
        .with_for_update(nowait=True)
    )
    try:
        rows = conn.execute(statement).all()
    except SQLAlchemyError as error:
        if conn.dialect.name != "sqlite" and is_lock_conflict(error):
            conn.rollback()
            return None
        raise
    return sorted(rows, key=lambda row: int(row.id))


def _hold(
    conn: Connection,
    key: GroupKey,
    jobs: Sequence[Job],
    statuses: Sequence[str],
    token: str,
    claimed_by: str,
    lease_seconds: int,
) -> ClaimedGroup | None:
    if not jobs:
        return None
    held = 0
    for part in batches([job.id for job in jobs]):
        statement = (
            update(t)
            .where(t.c.id.in_(part), by_status(conn, statuses))
            .values(
                status=RUNNING,
                claim_token=token,
                claimed_by=claimed_by,
                lease_expires_at=now_precise(lease_seconds),
            )
        )
        held += conn.execute(statement).rowcount
    if held != len(jobs):
        raise LeaseLostError(f"{key}: {held} of {len(jobs)} rows could be taken under their own lock.")
    return ClaimedGroup(key=key, token=token, jobs=tuple(replace(job, status=JobStatus.RUNNING) for job in jobs))


def renew_leases(conn: Connection, token: str, lease_seconds: int) -> int:
    """Extend the lease of every job still held under ``token``; returns how many are."""
    return _renew(conn, t.c.claim_token == token, lease_seconds)


def renew_run(conn: Connection, claimed_by: str, lease_seconds: int) -> int:
    """Extend every lease of a chain of runs; returns how many jobs it holds."""
    return _renew(conn, t.c.claimed_by == claimed_by, lease_seconds)


def _renew(conn: Connection, held: Any, lease_seconds: int) -> int:
    statement = update(t).where(t.c.status == RUNNING, held).values(lease_expires_at=now_precise(lease_seconds))
    return conn.execute(statement).rowcount


def finish_jobs(conn: Connection, token: str, outcomes: Sequence[JobOutcome]) -> None:
    """Write the outcomes of a claimed group, fenced by its token.

    Raises ``LeaseLostError`` where a row is no longer held; the caller's transaction must roll back.
    """
    alike: dict[tuple[Any, ...], list[int]] = {}
    for outcome in outcomes:
        signature = (
            outcome.status.value,
            outcome.retry_count,
            outcome.due_in_seconds,
            outcome.error_kind.value if outcome.error_kind else None,
            outcome.message,
            outcome.engine_key,
        )
        alike.setdefault(signature, []).append(outcome.job.id)
    for (status, retries, due, kind, message, engine_key), ids in alike.items():
        values: dict[str, Any] = {
            "status": status,
            "retry_count": retries,
            "error_kind": kind,
            "last_error_message": message,
            **UNCLAIMED,
        }
        if engine_key is not None:
            values["engine_key"] = engine_key
        if status == PENDING:
            values["next_retry_at"] = now_seconds(due)
        written = 0
        for part in batches(sorted(ids)):
            fence = (t.c.id.in_(part), by_status(conn, (RUNNING,)), t.c.claim_token == token)
            written += conn.execute(update(t).where(*fence).values(**values)).rowcount
        if written != len(ids):
            raise LeaseLostError(f"{written} of {len(ids)} jobs were still held; nothing was written.")


def release_claims(db: Database, claimed_by: str) -> int:
    """Give back what a run still holds: PENDING, due now, no attempt burned."""
    return db.run(lambda conn: _release(conn, t.c.claimed_by == claimed_by))


def release_group(db: Database, token: str) -> int:
    """Give back what is still held under ``token``."""
    return db.run(lambda conn: _release(conn, t.c.claim_token == token))


def _release(conn: Connection, held: Any) -> int:
    ids = [row[0] for row in conn.execute(select(t.c.id).where(t.c.status == RUNNING, held).order_by(t.c.id))]
    count = 0
    for part in batches(ids):
        statement = (
            update(t)
            .where(t.c.id.in_(part), by_status(conn, (RUNNING,)), held)
            .values(status=PENDING, next_retry_at=now_seconds(), **UNCLAIMED)
        )
        count += conn.execute(statement).rowcount
    return count


def sweep_expired(db: Database, *, max_retries: int, limit: int = 200) -> list[tuple[Job, JobStatus]]:
    """Return expired leases to the queue, oldest first, counting an attempt; used-up ones become FAILED.

    RUNNING rows without a lease belong to another application's worker and are left alone.
    """

    def work(conn: Connection) -> list[tuple[Job, JobStatus]]:
        lapsed = (t.c.status == RUNNING, t.c.lease_expires_at < now_precise())
        statement = (
            select(*COLUMNS)
            .where(*lapsed)
            .order_by(t.c.lease_expires_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        alike: dict[tuple[int, JobStatus], list[Job]] = {}
        for job in (as_job(row) for row in conn.execute(statement).all()):
            status = JobStatus.FAILED if job.retry_count + 1 >= max_retries else JobStatus.PENDING
            alike.setdefault((job.retry_count + 1, status), []).append(job)
        for (retries, status), jobs in alike.items():
            ids = [job.id for job in jobs]
            conn.execute(
                update(t)
                .where(t.c.id.in_(ids), by_status(conn, (RUNNING,)), t.c.lease_expires_at < now_precise())
                .values(
                    status=status.value,
                    retry_count=retries,
                    next_retry_at=now_seconds(),
                    error_kind=ErrorKind.LEASE_EXPIRED.value,
                    last_error_message=LEASE_EXPIRED,
                    **UNCLAIMED,
                )
            )
        return [(job, status) for (_, status), jobs in alike.items() for job in jobs]

    return db.run(work)
