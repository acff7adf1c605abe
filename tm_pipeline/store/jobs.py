"""Job rows outside of a claim: booked, superseded, cancelled, restarted, listed (S33, S34, S101)."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, case, func, literal_column, select, update
from sqlalchemy.dialects import mysql, sqlite

from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.domain.jobs import ACTIVE, UNFINISHED, GroupKey, Job, JobDraft, JobSelection, JobStatus
from tm_pipeline.store.batches import batches
from tm_pipeline.store.clock import now_precise, now_seconds, read_now
from tm_pipeline.store.limits import FIELD_KEY, LANGUAGE, RESOURCE_TYPE, require_code, require_hash, require_text
from tm_pipeline.store.tables import translation_job as t

COLUMNS = (
    t.c.id,
    t.c.resource_type,
    t.c.resource_id,
    t.c.target_language,
    t.c.field_key,
    t.c.source_hash,
    t.c.source_text,
    t.c.source_language,
    t.c.status,
    t.c.retry_count,
    t.c.error_kind,
    t.c.last_error_message,
    t.c.engine_key,
    t.c.next_retry_at,
    t.c.created_at,
    t.c.updated_at,
)

RESTARTABLE = (JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SUPERSEDED, JobStatus.CANCELLED)
UNCLAIMED: dict[str, Any] = {"claim_token": None, "claimed_by": None, "lease_expires_at": None}
KNOWN_STATUSES = frozenset(status.value for status in JobStatus)


def as_job(row: Any) -> Job:
    """A job from a row of ``COLUMNS``."""
    known = {kind.value for kind in ErrorKind}
    return Job(
        id=row.id,
        group=GroupKey(
            resource_type=row.resource_type, resource_id=row.resource_id, target_language=row.target_language
        ),
        field_key=row.field_key,
        source_hash=row.source_hash,
        source_text=row.source_text,
        source_language=row.source_language,
        status=JobStatus(row.status),
        retry_count=row.retry_count,
        error_kind=ErrorKind(row.error_kind) if row.error_kind in known else None,
        last_error_message=row.last_error_message,
        engine_key=row.engine_key,
        next_retry_at=row.next_retry_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def jobs_of_resources(conn: Connection, resource_type: str, ids: Sequence[int]) -> list[Job]:
    """Every job of the resources, finished ones included.

    A row in a state that this version does not know belongs to somebody else: it is left alone, and the
    invariant ``every_status_is_known`` shows it.
    """
    found: list[Job] = []
    for part in batches(sorted(set(ids))):
        statement = select(*COLUMNS).where(t.c.resource_type == resource_type, t.c.resource_id.in_(part))
        found.extend(as_job(row) for row in conn.execute(statement) if row.status in KNOWN_STATUSES)
    return found


def jobs_by_group(conn: Connection, resource_type: str, ids: Sequence[int]) -> dict[GroupKey, list[Job]]:
    """The same, by group."""
    found: dict[GroupKey, list[Job]] = {}
    for job in jobs_of_resources(conn, resource_type, ids):
        found.setdefault(job.group, []).append(job)
    return found


def resource_ids_between(conn: Connection, resource_type: str, low: int, high: int | None) -> set[int]:
    """Resources in the id range (low, high] that have unfinished jobs; ``high`` None is open."""
    statement = select(t.c.resource_id).where(
        t.c.resource_type == resource_type,
        t.c.resource_id > low,
        t.c.status.in_(sorted(UNFINISHED)),
    )
    if high is not None:
        statement = statement.where(t.c.resource_id <= high)
    return {row[0] for row in conn.execute(statement.distinct())}


def upsert_jobs(conn: Connection, drafts: Sequence[JobDraft]) -> None:
    """Book drafts: new keys are inserted, finished ones start again, active ones stay as they are.

    Keys are sorted, which is what keeps concurrent bookers from dead-locking. Raises ``UsageError`` for a
    key and ``InvalidSourceError`` for a text that the columns cannot hold.
    """
    if not drafts:
        return
    now = read_now(conn).replace(microsecond=0)
    rows = sorted((_values(draft, now) for draft in drafts), key=_unique_key)
    statement = _sqlite_upsert() if conn.dialect.name == "sqlite" else _mysql_upsert()
    for part in batches(rows):
        conn.execute(statement, part)


def _check(draft: JobDraft) -> None:
    require_code("resource_type", draft.group.resource_type, RESOURCE_TYPE)
    require_code("field_key", draft.field_key, FIELD_KEY)
    require_code("target_language", draft.group.target_language, LANGUAGE)
    require_code("source_language", draft.source_language, LANGUAGE)
    require_hash(draft.source_hash)
    require_text("source_text", draft.source_text)


def _values(draft: JobDraft, now: datetime) -> dict[str, Any]:
    _check(draft)
    return {
        "resource_type": draft.group.resource_type,
        "resource_id": draft.group.resource_id,
        "field_key": draft.field_key,
        "source_hash": draft.source_hash,
        "source_text": draft.source_text,
        "source_language": draft.source_language,
        "target_language": draft.group.target_language,
        "status": draft.status.value,
        "retry_count": 0,
        "last_error_message": draft.message,
        "error_kind": draft.error_kind.value if draft.error_kind else None,
        "next_retry_at": now + timedelta(seconds=draft.due_in_seconds),
    }


def _unique_key(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["resource_type"],
        row["resource_id"],
        row["field_key"],
        row["target_language"],
        row["source_hash"],
    )


RESET = (
    "source_text",
    "source_language",
    "retry_count",
    "last_error_message",
    "error_kind",
    "next_retry_at",
    "status",  # last: MySQL evaluates SET from left to right, and every other column looks at the old status
)
# Literals, because a multi-row insert takes no bound parameters outside of its rows.
_RESTARTS = t.c.status.in_([literal_column(f"'{status.value}'") for status in RESTARTABLE])


def _mysql_upsert() -> Any:
    statement = mysql.insert(t)
    new = statement.inserted
    return statement.on_duplicate_key_update([(name, case((_RESTARTS, new[name]), else_=t.c[name])) for name in RESET])


def _sqlite_upsert() -> Any:
    statement = sqlite.insert(t)
    key = ["resource_type", "resource_id", "field_key", "target_language", "source_hash"]
    new = statement.excluded
    values = {name: new[name] for name in RESET} | {"updated_at": now_seconds()}
    return statement.on_conflict_do_update(index_elements=key, set_=values, where=_RESTARTS)


def supersede_jobs(conn: Connection, ids: Sequence[int]) -> None:
    """Waiting and stopped jobs become SUPERSEDED; a running one goes on, its text is paid for."""
    waiting = sorted(UNFINISHED - {JobStatus.RUNNING})
    for part in batches(sorted(ids)):
        conn.execute(
            update(t).where(t.c.id.in_(part), by_status(conn, waiting)).values(status=JobStatus.SUPERSEDED.value)
        )


def by_status(conn: Connection, statuses: Sequence[str]) -> Any:
    """A status condition beside ``id IN (…)``; the unary plus keeps SQLite from scanning its status index."""
    column = literal_column("+translation_job.status") if conn.dialect.name == "sqlite" else t.c.status
    return column.in_(list(statuses))


def _meets(selection: JobSelection) -> list[ColumnElement[bool]]:
    chosen: list[tuple[Column[Any], Sequence[Any]]] = [
        (t.c.status, [JobStatus(status).value for status in selection.statuses]),
        (t.c.resource_type, selection.resource_types),
        (t.c.target_language, selection.target_languages),
        (t.c.resource_id, selection.resource_ids),
        (t.c.id, selection.ids),
    ]
    return [column.in_(list(values)) for column, values in chosen if values]


def list_jobs(conn: Connection, selection: JobSelection, *, limit: int = 100, after_id: int = 0) -> list[Job]:
    """Jobs in id order after ``after_id``; one in a state that this version does not know is left out."""
    return [as_job(row) for row in conn.execute(_page(selection, limit, after_id)) if row.status in KNOWN_STATUSES]


def lock_jobs(conn: Connection, selection: JobSelection, *, limit: int, after_id: int) -> list[Job]:
    """The same, held until the transaction ends, so that no worker takes one meanwhile."""
    statement = _page(selection, limit, after_id).with_for_update()
    return [as_job(row) for row in conn.execute(statement) if row.status in KNOWN_STATUSES]


def _page(selection: JobSelection, limit: int, after_id: int) -> Select[Any]:
    return select(*COLUMNS).where(*_meets(selection), t.c.id > after_id).order_by(t.c.id).limit(limit)


def count_jobs(conn: Connection, selection: JobSelection) -> int:
    """How many jobs a selection has."""
    return int(conn.execute(select(func.count()).select_from(t).where(*_meets(selection))).scalar_one())


def count_expired_leases(conn: Connection) -> int:
    """Jobs whose lease has ended without a result."""
    lapsed = (t.c.status == JobStatus.RUNNING.value, t.c.lease_expires_at < now_precise())
    return int(conn.execute(select(func.count()).select_from(t).where(*lapsed)).scalar_one())


def restart_jobs(conn: Connection, ids: Sequence[int]) -> None:
    """Stopped jobs become PENDING, due now, with a fresh count of attempts."""
    _move(
        conn,
        ids,
        frozenset(JobStatus) - ACTIVE,
        status=JobStatus.PENDING.value,
        retry_count=0,
        next_retry_at=now_seconds(),
        error_kind=None,
        last_error_message=None,
    )


def cancel_jobs(conn: Connection, ids: Sequence[int], *, error_kind: ErrorKind, message: str) -> int:
    """Unfinished jobs become CANCELLED, running ones too: their worker finds its fence gone."""
    return _move(
        conn,
        ids,
        UNFINISHED,
        status=JobStatus.CANCELLED.value,
        error_kind=error_kind.value,
        last_error_message=message,
        **UNCLAIMED,
    )


def _move(conn: Connection, ids: Sequence[int], statuses: Collection[JobStatus], **values: Any) -> int:
    count = 0
    for part in batches(sorted(ids)):
        moved = update(t).where(t.c.id.in_(part), by_status(conn, sorted(statuses))).values(**values)
        count += conn.execute(moved).rowcount
    return count
