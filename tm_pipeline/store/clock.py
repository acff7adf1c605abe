"""The database's clock as SQL expressions: leases and due times never use a worker's clock.

SQLite has no server, so its functions read the clock that ``open_database`` was given.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from tm_pipeline.store.types import UtcTimestamp


class _Now(FunctionElement[datetime]):
    """Without a clause it is now itself, and takes no parameter: a multi-row upsert may hold none outside its rows."""

    inherit_cache = True


class _NowSeconds(_Now):
    name = "tm_now"
    type = UtcTimestamp()
    inherit_cache = True


class _NowPrecise(_Now):
    name = "tm_now_precise"
    type = UtcTimestamp(6)
    inherit_cache = True


@compiles(_Now)
def _mysql(element: _Now, compiler: SQLCompiler, **options: Any) -> str:
    now = "CURRENT_TIMESTAMP(6)" if isinstance(element, _NowPrecise) else "CURRENT_TIMESTAMP"
    offset = compiler.process(element.clauses, **options)
    return f"({now} + INTERVAL {offset} SECOND)" if offset else now


@compiles(_Now, "sqlite")
def _sqlite(element: _Now, compiler: SQLCompiler, **options: Any) -> str:
    return f"{element.name}({compiler.process(element.clauses, **options) or 0})"


def _offset(offset: "ColumnElement[int] | int") -> list[ColumnElement[int]]:
    if isinstance(offset, int):
        return [bindparam(None, offset, Integer, unique=True)] if offset else []
    return [offset]


def now_seconds(offset: "ColumnElement[int] | int" = 0) -> ColumnElement[datetime]:
    """The database's now plus ``offset`` seconds, in whole seconds: for TIMESTAMP columns."""
    return _NowSeconds(*_offset(offset))


def now_precise(offset: "ColumnElement[int] | int" = 0) -> ColumnElement[datetime]:
    """The database's now plus ``offset`` seconds, in microseconds: for TIMESTAMP(6) columns."""
    return _NowPrecise(*_offset(offset))


def read_now(conn: Connection) -> datetime:
    """The database's now as an aware UTC time."""
    value: Any = conn.execute(select(now_precise().label("now"))).scalar_one()
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).replace(tzinfo=UTC)
