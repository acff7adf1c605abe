"""Marks of read models that must be rebuilt, each with its own back-off (S78)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, literal, select, update

from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.store.batches import batches
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.tables import read_model_refresh as t
from tm_pipeline.store.upserts import upsert


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """One due mark; ``attempts`` counts failures."""

    id: int
    key: GroupKey
    attempts: int


def mark_refresh(conn: Connection, keys: Sequence[GroupKey], *, reason: str) -> None:
    """Mark read models for a rebuild, due now; a mark that is there becomes due again with a clean record.

    Waits where a materialisation holds the mark, so a change that arrives meanwhile is never lost.
    """
    if not keys:
        return
    rows = [
        {
            "resource_type": key.resource_type,
            "resource_id": key.resource_id,
            "target_language": key.target_language,
            "reason": reason,
            "attempts": 0,
        }
        for key in sorted(set(keys))
    ]
    upsert(
        conn,
        t,
        rows,
        key=("resource_type", "resource_id", "target_language"),
        changed=("reason", "attempts"),
        also={"next_attempt_at": now_seconds()},
    )


def lock_due(
    conn: Connection,
    resource_type: str,
    *,
    locales: Sequence[str] | None = None,
    ids: Sequence[int] | None = None,
    limit: int = 100,
) -> list[Refresh]:
    """Due marks of a domain, oldest first, locked until the transaction ends; held ones are passed over."""
    statement = (
        select(t.c.id, t.c.resource_id, t.c.target_language, t.c.attempts)
        .where(t.c.resource_type == resource_type, t.c.next_attempt_at <= now_seconds())
        .order_by(t.c.next_attempt_at, t.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    if locales is not None:
        statement = statement.where(t.c.target_language.in_(list(locales)))
    if ids is not None:
        statement = statement.where(t.c.resource_id.in_(list(ids)))
    return [
        Refresh(
            id=row.id,
            key=GroupKey(resource_type=resource_type, resource_id=row.resource_id, target_language=row.target_language),
            attempts=row.attempts,
        )
        for row in conn.execute(statement)
    ]


def delete_refreshes(conn: Connection, ids: Sequence[int]) -> None:
    """Remove settled marks."""
    for part in batches(sorted(ids)):
        conn.execute(delete(t).where(t.c.id.in_(part)))


def postpone(conn: Connection, refresh_id: int, *, seconds: int, message: str) -> None:
    """Keep a mark for later, with the reason."""
    conn.execute(
        update(t)
        .where(t.c.id == refresh_id)
        .values(attempts=t.c.attempts + 1, next_attempt_at=now_seconds(seconds), last_error_message=message)
    )


def due_domains(conn: Connection) -> dict[str, set[str]]:
    """Domains and languages with due marks."""
    statement = select(t.c.resource_type, t.c.target_language).where(t.c.next_attempt_at <= now_seconds()).distinct()
    found: dict[str, set[str]] = {}
    for row in conn.execute(statement):
        found.setdefault(row.resource_type, set()).add(row.target_language)
    return found


def failing(conn: Connection) -> int:
    """Marks whose last rebuild failed, at most 10,001 counted."""
    capped = select(literal(1)).where(t.c.attempts > 0, t.c.last_error_message.is_not(None)).limit(10_001)
    return len(conn.execute(capped).all())
