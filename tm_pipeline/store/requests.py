"""The outbox that applications append to in their own transaction (C51)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from tm_pipeline.store.batches import batches
from tm_pipeline.store.tables import translation_request as t
from tm_pipeline.store.tables import translation_request_dead as dead

REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One row of ``translation_request``."""

    id: int
    resource_type: str
    resource_id: int
    field_key: str | None
    source_text: str | None
    source_language: str | None
    source_version: int | None
    target_language: str | None
    reason: str
    requested_at: datetime | None


def append_request(
    conn: Connection,
    *,
    resource_type: str,
    resource_id: int,
    field_key: str | None = None,
    source_text: str | None = None,
    source_language: str | None = None,
    source_version: int | None = None,
    target_language: str | None = None,
    reason: str,
) -> None:
    """Append one request; call it in the transaction that changes the resource."""
    conn.execute(
        insert(t).values(
            resource_type=resource_type,
            resource_id=resource_id,
            field_key=field_key,
            source_text=source_text,
            source_language=source_language,
            source_version=source_version,
            target_language=target_language,
            reason=reason,
        )
    )


def append_request_once(
    conn: Connection, resource_type: str, resource_id: int, target_language: str | None, reason: str
) -> bool:
    """Append unless the same request waits already; true where a row was added."""
    same_language = t.c.target_language.is_(None) if target_language is None else t.c.target_language == target_language
    waiting = select(t.c.id).where(
        t.c.resource_type == resource_type,
        t.c.resource_id == resource_id,
        same_language,
        t.c.reason == reason,
    )
    if conn.execute(waiting.limit(1)).first() is not None:
        return False
    append_request(
        conn,
        resource_type=resource_type,
        resource_id=resource_id,
        target_language=target_language,
        reason=reason,
    )
    return True


def oldest_requests(conn: Connection, limit: int = 500) -> list[RequestRow]:
    """The waiting requests with the lowest ids; ids are no order of commits, so nothing remembers them."""
    rows = conn.execute(select(t).order_by(t.c.id).limit(limit))
    return [RequestRow(**row._asdict()) for row in rows]


def delete_requests(conn: Connection, ids: Sequence[int]) -> None:
    """Remove folded requests."""
    for part in batches(sorted(ids)):
        conn.execute(delete(t).where(t.c.id.in_(part)))


def bury_requests(conn: Connection, rejected: Sequence[tuple[RequestRow, str]]) -> None:
    """Move requests that can never be folded aside, with the reason."""
    if not rejected:
        return
    rows = [
        {key: value for key, value in asdict(row).items() if key != "id"}
        | {"rejected_reason": reason[:REASON_CHARACTERS]}
        for row, reason in rejected
    ]
    conn.execute(insert(dead), rows)
    delete_requests(conn, [row.id for row, _ in rejected])


def pending_requests_exist(conn: Connection) -> bool:
    """Whether any request waits."""
    return conn.execute(select(t.c.id).limit(1)).first() is not None
