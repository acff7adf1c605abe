"""Claim, lease, fence, sweep: the group is the unit, its PENDING and RUNNING rows are the mutex (S66–S74).

The shape stood 190,000 claims under kill −9, freezes and cut connections (database study §2): candidates
without locks in index order, then each group in its own short transaction with NOWAIT. SKIP LOCKED over
job rows tears groups apart and is never used here but for the sweep.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, literal, or_, select, union_all, update
from sqlalchemy.exc import SQLAlchemyError

from tm_pipeline.domain.errors import ErrorKind, LeaseLostError
from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, Job, JobOutcome, JobStatus
from tm_pipeline.store.clock import now_precise, now_seconds
from tm_pipeline.store.engine import Database
from tm_pipeline.store.faults import is_lock_conflict
from tm_pipeline.store.jobs import COLUMNS, as_job, by_status, chunks
from tm_pipeline.store.tables import translation_job as t

WINDOW_ROWS_PER_GROUP = 24
MIN_WINDOW_ROWS = 60
MAX_PAGES = 8
PENDING, RUNNING, FAILED = JobStatus.PENDING.value, JobStatus.RUNNING.value, JobStatus.FAILED.value
UNCLAIMED: dict[str, Any] = {"claim_token": None, "claimed_by": None, "lease_expires_at": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimableDomain:
    """A domain whose provider may be called now, with its head start in the queue."""

    resource_type: str
    priority_seconds: int = 0


def candidate_groups(
    conn: Connection,
    domains: Sequence[ClaimableDomain],
    limit: int,
    *,
    exclude: frozenset[GroupKey] = frozenset(),
    target_languages: Sequence[str] | None = None,
) -> list[GroupKey]:
    """Up to ``limit`` due groups without a RUNNING row, by due time minus the domain's head start; locks nothing.

    One statement: a bounded index scan for each domain. Further pages only where a group with very many
    rows fills a window.
    """
    window = max(MIN_WINDOW_ROWS, WINDOW_ROWS_PER_GROUP * limit)
    after: dict[str, tuple[datetime, int]] = {}
    open_domains = list(domains)
    found: dict[GroupKey, datetime] = {}
    for _ in range(MAX_PAGES):
        rows = _window(conn, open_domains, after, window, target_languages)
        sizes: dict[str, int] = {}
        for row in rows:
            key = GroupKey(
                resource_type=row.resource_type,
                resource_id=row.resource_id,
                target_language=row.target_language,
            )
            head_start = next(d.priority_seconds for d in domains if d.resource_type == row.resource_type)
            if key not in exclude:
                found.setdefault(key, row.next_retry_at - timedelta(seconds=head_start))
            sizes[row.resource_type] = sizes.get(row.resource_type, 0) + 1
            after[row.resource_type] = (row.next_retry_at, row.id)
        open_domains = [d for d in open_domains if sizes.get(d.resource_type, 0) == window]
        if len(found) >= limit or not open_domains:
            break
    return sorted(found, key=lambda key: (found[key], key))[:limit]


def _window(
    conn: Connection,
    domains: Sequence[ClaimableDomain],
    after: dict[str, tuple[datetime, int]],
    window: int,
    target_languages: Sequence[str] | None,
) -> Sequence[Any]:
    if not domains:
        return []
    scans = [_domain_window(domain, after.get(domain.resource_type), window, target_languages) for domain in domains]
    if len(scans) == 1:
        return conn.execute(scans[0]).all()
    parts = [select(scan.subquery(f"d{number}")) for number, scan in enumerate(scans)]
    return conn.execute(union_all(*parts)).all()


def _domain_window(
    domain: ClaimableDomain, after: tuple[datetime, int] | None, window: int, languages: Sequence[str] | None
) -> Any:
    running = t.alias("r")
    statement = (
        select(t.c.resource_type, t.c.resource_id, t.c.target_language, t.c.next_retry_at, t.c.id)
        .where(
            t.c.resource_type == domain.resource_type,
            t.c.status == PENDING,
            t.c.next_retry_at <= now_seconds(),
            ~select(literal(1))
            .where(
                running.c.resource_type == t.c.resource_type,
                running.c.resource_id == t.c.resource_id,
                running.c.target_language == t.c.target_language,
                running.c.status == RUNNING,
            )
            .exists(),
        )
        .order_by(t.c.next_retry_at, t.c.id)
        .limit(window)
    )
    if after is not None:
        due, last_id = after
        statement = statement.where(or_(t.c.next_retry_at > due, and_(t.c.next_retry_at == due, t.c.id > last_id)))
    if languages is not None:
        statement = statement.where(t.c.target_language.in_(list(languages)))
    return statement


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
    taken: list[ClaimedGroup] = []
    tried: set[GroupKey] = set()
    for _ in range(MAX_PAGES):
        missing = limit - len(taken)
        with db.read() as conn:
            candidates = candidate_groups(
                conn, domains, missing, exclude=frozenset(tried), target_languages=target_languages
            )
        for key in candidates:
            tried.add(key)
            group = take_group(db, key, token=uuid.uuid4().hex, claimed_by=claimed_by, lease_seconds=lease_seconds)
            if group is not None:
                taken.append(group)
        if len(taken) >= limit or len(candidates) < missing:
            break
    return taken


def take_group(db: Database, key: GroupKey, *, token: str, claimed_by: str, lease_seconds: int) -> ClaimedGroup | None:
    """Take a group's due jobs, or None where it is held, running or no longer due."""

    def work(conn: Connection) -> ClaimedGroup | None:
        rows = _lock(conn, key, (PENDING, RUNNING))
        if rows is None or any(row.status == RUNNING for row in rows):
            return None
        due = [as_job(row) for row in rows if row.due]
        return _hold(conn, key, due, (PENDING,), token, claimed_by, lease_seconds)

    return db.run(work)


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
        wanted = [as_job(row) for row in rows if row.status != PENDING or row.due]
        return _hold(conn, key, wanted, statuses, token, claimed_by, lease_seconds)

    return db.run(work)


def _lock(conn: Connection, key: GroupKey, statuses: Sequence[str]) -> Sequence[Any] | None:
    """The group's rows under lock in id order; None where somebody holds one of them."""
    statement = (
        select(
            *COLUMNS,
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
    for part in chunks([job.id for job in jobs]):
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
    return ClaimedGroup(key=key, token=token, jobs=tuple(jobs))


def renew_leases(conn: Connection, token: str, lease_seconds: int) -> int:
    """Extend the lease of every job still held under ``token``; returns how many are."""
    statement = (
        update(t)
        .where(t.c.status == RUNNING, t.c.claim_token == token)
        .values(lease_expires_at=now_precise(lease_seconds))
    )
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
        for part in chunks(sorted(ids)):
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
    for part in chunks(ids):
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
        moved: list[tuple[Job, JobStatus]] = []
        for job in (as_job(row) for row in conn.execute(statement).all()):
            status = JobStatus.FAILED if job.retry_count + 1 >= max_retries else JobStatus.PENDING
            fenced = update(t).where(
                t.c.id == job.id, by_status(conn, (RUNNING,)), t.c.lease_expires_at < now_precise()
            )
            changed = conn.execute(
                fenced.values(
                    status=status.value,
                    retry_count=job.retry_count + 1,
                    next_retry_at=now_seconds(),
                    error_kind=ErrorKind.LEASE_EXPIRED.value,
                    last_error_message="The worker stopped renewing its lease; it crashed, froze or lost its network.",
                    **UNCLAIMED,
                )
            ).rowcount
            if changed:
                moved.append((job, status))
        return moved

    return db.run(work)
