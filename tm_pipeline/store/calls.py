"""The spend ledger: one row for every call to an engine, before and after it (design §9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.store.batches import batches
from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.tables import provider_call as t

MESSAGE_CHARACTERS = 500


class CallState(StrEnum):
    """What is known of a call."""

    IN_FLIGHT = "IN_FLIGHT"  # the intent is written, the reply is not
    DONE = "DONE"  # a complete reply was paid for
    REFUSED = "REFUSED"  # surely unpaid
    UNKNOWN = "UNKNOWN"  # it may have been paid: the worker or the reply was lost


@dataclass(frozen=True, slots=True, kw_only=True)
class CallIntent:
    """A call about to be made; after ``deadline_seconds`` without a reply its worker counts as dead."""

    request_key: str
    attempt: int
    operation: str
    provider: str
    engine_key: str
    source_language: str
    target_language: str
    source_hash: str
    characters: int
    run_id: str
    job_ids: str
    deadline_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What single flight and replay need to know of a ledger row; a person's decision made it ``settled``."""

    id: int
    request_key: str
    state: CallState
    error_kind: ErrorKind | None
    error_message: str | None
    reply: str | None
    settled: bool = False


def open_call(conn: Connection, intent: CallIntent) -> int | None:
    """Write the intent; None where another worker has this attempt or a call in flight for this key."""
    try:
        result = conn.execute(
            insert(t).values(
                request_key=intent.request_key,
                attempt=intent.attempt,
                active_key=intent.request_key,
                operation=intent.operation,
                provider=intent.provider,
                engine_key=intent.engine_key,
                source_language=intent.source_language,
                target_language=intent.target_language,
                source_hash=intent.source_hash,
                characters=intent.characters,
                billed_units=0,
                billed_estimated=True,
                state=CallState.IN_FLIGHT.value,
                run_id=intent.run_id,
                job_ids=intent.job_ids,
                deadline_at=now_precise(intent.deadline_seconds),
                started_at=now_precise(),
            )
        )
    except IntegrityError:
        conn.rollback()
        return None
    key = result.inserted_primary_key
    return int(key[0]) if key is not None else None


def close_call(
    conn: Connection,
    call_id: int,
    *,
    state: CallState,
    http_status: int | None = None,
    error_kind: ErrorKind | None = None,
    message: str | None = None,
    latency_ms: int | None = None,
    reply: str | None = None,
    billed_units: int = 0,
    billed_estimated: bool = True,
) -> None:
    """Write what came back and free the key for others."""
    conn.execute(
        update(t)
        .where(t.c.id == call_id)
        .values(
            active_key=None,
            state=state.value,
            http_status=http_status,
            error_kind=error_kind.value if error_kind else None,
            error_message=message[:MESSAGE_CHARACTERS] if message else None,
            latency_ms=latency_ms,
            reply=reply,
            billed_units=billed_units,
            billed_estimated=billed_estimated,
            finished_at=now_precise(),
        )
    )


def calls_for_keys(conn: Connection, request_keys: Sequence[str]) -> dict[str, list[Call]]:
    """The ledger rows of each key, oldest first."""
    found: dict[str, list[Call]] = {}
    for part in batches(request_keys):
        statement = (
            select(t.c.id, t.c.request_key, t.c.state, t.c.error_kind, t.c.error_message, t.c.reply, t.c.settled_at)
            .where(t.c.request_key.in_(part))
            .order_by(t.c.id)
        )
        for row in conn.execute(statement):
            call = Call(
                id=row.id,
                request_key=row.request_key,
                state=CallState(row.state),
                error_kind=ErrorKind(row.error_kind) if row.error_kind else None,
                error_message=row.error_message,
                reply=row.reply,
                settled=row.settled_at is not None,
            )
            found.setdefault(row.request_key, []).append(call)
    return found


def expire_calls(conn: Connection, *, limit: int = 200) -> list[int]:
    """Calls whose worker did not come back become UNKNOWN: possibly paid, and free to be tried again."""
    overdue = (t.c.state == CallState.IN_FLIGHT.value, t.c.deadline_at < now_precise())
    ids = [row[0] for row in conn.execute(select(t.c.id).where(*overdue).order_by(t.c.deadline_at).limit(limit))]
    if ids:
        lost = "The worker ended between the request and its reply; the call may have been paid."
        values = {
            "active_key": None,
            "state": CallState.UNKNOWN.value,
            "error_kind": ErrorKind.UNKNOWN_CALL.value,
            "error_message": lost,
        }
        conn.execute(update(t).where(t.c.id.in_(ids), *overdue).values(finished_at=now_precise(), **values))
    return ids


def count_overdue_calls(conn: Connection) -> int:
    """Calls whose worker did not come back."""
    overdue = (t.c.state == CallState.IN_FLIGHT.value, t.c.deadline_at < now_precise())
    return int(conn.execute(select(func.count()).select_from(t).where(*overdue)).scalar_one())


def mark_reply_invalid(conn: Connection, call_id: int, message: str) -> None:
    """Keep a paid reply from being replayed: the checks refused it."""
    conn.execute(
        update(t)
        .where(t.c.id == call_id)
        .values(error_kind=ErrorKind.OUTPUT_INVALID.value, error_message=message[:MESSAGE_CHARACTERS])
    )


def settle_doubtful_calls(conn: Connection, request_keys: Sequence[str]) -> int:
    """Calls that may have been paid, and replies that the checks refused, no longer count against their text."""
    doubtful = or_(t.c.state == CallState.UNKNOWN.value, t.c.error_kind == ErrorKind.OUTPUT_INVALID.value)
    return _settle(conn, request_keys, doubtful)


def settle_calls(conn: Connection, request_keys: Sequence[str]) -> int:
    """Every ended call of these keys is over: its reply is not replayed, the text is paid for once more."""
    return _settle(conn, request_keys, t.c.state != CallState.IN_FLIGHT.value)


def _settle(conn: Connection, request_keys: Sequence[str], which: ColumnElement[bool]) -> int:
    count = 0
    for part in batches(sorted(set(request_keys))):
        unsettled = (t.c.request_key.in_(part), t.c.settled_at.is_(None), which)
        count += conn.execute(update(t).where(*unsettled).values(settled_at=now_precise())).rowcount
    return count
