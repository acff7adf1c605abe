"""Insert-or-update in both dialects, for tables whose update takes the new row's values as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects import mysql, sqlite
from sqlalchemy.sql.dml import Insert

from tm_pipeline.store.batches import batches
from tm_pipeline.store.clock import now_seconds


def upsert(
    conn: Connection,
    table: Any,
    rows: Sequence[Mapping[str, Any]],
    *,
    key: Sequence[str],
    changed: Sequence[str],
    also: Mapping[str, Any] | None = None,
) -> None:
    """Insert ``rows``; where ``key`` exists, set the ``changed`` columns to the new row's and ``also`` as given.

    Rows are sorted by key, which keeps concurrent writers from dead-locking.
    """
    ordered = sorted(rows, key=lambda row: tuple(row[name] for name in key))
    statement = _statement(conn, table, key, changed, also or {})
    for part in batches(ordered):
        conn.execute(statement, [dict(row) for row in part])


def _statement(
    conn: Connection, table: Any, key: Sequence[str], changed: Sequence[str], also: Mapping[str, Any]
) -> Insert:
    if conn.dialect.name == "sqlite":
        lite = sqlite.insert(table)
        touched = {"updated_at": now_seconds()} if "updated_at" in table.c else {}
        values = {name: lite.excluded[name] for name in changed} | touched | dict(also)
        return lite.on_conflict_do_update(index_elements=list(key), set_=values)
    full = mysql.insert(table)
    return full.on_duplicate_key_update([(name, full.inserted[name]) for name in changed] + list(also.items()))
