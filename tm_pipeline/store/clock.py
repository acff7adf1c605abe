"""The database's clock as SQL expressions: leases and due times never use a worker's clock.

SQLite has no server, so its functions read the clock that ``open_database`` was given.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from tm_pipeline.store.types import UtcTimestamp


class _Now(ColumnElement[datetime]):
    inherit_cache = False

    def __init__(self, fsp: int, offset: "ColumnElement[int] | int") -> None:
        self.type = UtcTimestamp(fsp)
        self.fsp = fsp
        self.offset = bindparam(None, offset, Integer, unique=True) if isinstance(offset, int) else offset


@compiles(_Now)
def _mysql(element: _Now, compiler: SQLCompiler, **options: Any) -> str:
    now = "CURRENT_TIMESTAMP(6)" if element.fsp else "CURRENT_TIMESTAMP"
    return f"({now} + INTERVAL {compiler.process(element.offset, **options)} SECOND)"


@compiles(_Now, "sqlite")
def _sqlite(element: _Now, compiler: SQLCompiler, **options: Any) -> str:
    name = "tm_now_precise" if element.fsp else "tm_now"
    return f"{name}({compiler.process(element.offset, **options)})"


def now_seconds(offset: "ColumnElement[int] | int" = 0) -> ColumnElement[datetime]:
    """The database's now plus ``offset`` seconds, in whole seconds: for TIMESTAMP columns."""
    return _Now(0, offset)


def now_precise(offset: "ColumnElement[int] | int" = 0) -> ColumnElement[datetime]:
    """The database's now plus ``offset`` seconds, in microseconds: for TIMESTAMP(6) columns."""
    return _Now(6, offset)


def read_now(conn: Connection) -> datetime:
    """The database's now as an aware UTC time."""
    value: Any = conn.execute(select(now_precise().label("now"))).scalar_one()
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).replace(tzinfo=UTC)
