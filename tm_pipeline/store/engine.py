"""Connections: one configured engine per database, explicit transactions, retried as a whole (S69).

Every MySQL session is UTC, strict and READ COMMITTED; every SQLite writer begins IMMEDIATE, because a
deferred one that turns writer after another's commit fails at once whatever the busy time-out.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from tm_pipeline.domain.errors import ConfigurationError
from tm_pipeline.store.faults import is_demoted, is_retryable, translated

T = TypeVar("T")

__all__ = ["Connection", "Database", "open_database"]

READ_ONLY = "tm_read_only"
CONNECT_TIMEOUT_SECONDS = 10
SOCKET_TIMEOUT_SECONDS = 60  # a frozen server must not hang a worker for ever
LONG_STATEMENT_SECONDS = 6 * 3_600  # a new index on a big table
RECYCLE_SECONDS = 280
SQLITE_BUSY_SECONDS = 30
FIRST_RETRY_SECONDS = 0.02
SESSION_SETTINGS = (
    "SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, lock_wait_timeout = 10, wait_timeout = 120, "
    "sql_mode = CONCAT_WS(',', 'STRICT_TRANS_TABLES', REPLACE(@@sql_mode, 'STRICT_TRANS_TABLES', ''))"
)


class Database:
    """One database and its pool."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A write transaction: commits at the end, rolls back on any error."""
        with self._mapped(), self.engine.connect() as conn, conn.begin():
            yield conn

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A read: sees committed rows and holds nothing afterwards."""
        with self._mapped(), self.engine.connect() as conn:
            reader = conn.execution_options(**{READ_ONLY: True})
            try:
                yield reader
            finally:
                reader.rollback()

    def run(self, work: Callable[[Connection], T], *, attempts: int = 6) -> T:
        """Run ``work`` in one transaction; dead-locks, lock waits and lost connections run all of it again.

        ``work`` must be safe to repeat when the answer to its COMMIT was lost. Raises the errors of
        ``domain/errors`` only.
        """
        for attempt in range(1, attempts + 1):
            try:
                with self.engine.connect() as conn, conn.begin():
                    return work(conn)
            except SQLAlchemyError as error:
                self._leave_old_primary(error)
                if attempt == attempts or not is_retryable(error):
                    raise translated(error) from error
                time.sleep(FIRST_RETRY_SECONDS * 2**attempt * random.random())  # noqa: S311 - jitter
        raise AssertionError("unreachable")

    def dispose(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    def patient(self) -> "Database":
        """The same database for statements that take hours; the caller disposes of it."""
        return self if self.is_sqlite else Database(_mysql_engine(self.engine.url, 2, LONG_STATEMENT_SECONDS))

    def _leave_old_primary(self, error: SQLAlchemyError) -> None:
        """After a failover pooled connections stay on a server that only reads; new ones find the writer."""
        if is_demoted(error):
            self.engine.dispose()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            self._leave_old_primary(error)
            raise translated(error) from error


def open_database(url: str, *, pool_size: int = 5, clock: Callable[[], datetime] | None = None) -> Database:
    """Configure the engine of ``url``; opens no connection. ``clock`` drives SQLite's now in tests.

    Raises ``ConfigurationError`` for a URL that names no supported database.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigurationError(
            "TM_DATABASE_URL is no database URL; use sqlite:///file.db or mysql+pymysql://user:password@host/name."
        ) from error
    if parsed.get_backend_name() == "sqlite":
        return Database(_sqlite_engine(parsed, pool_size, clock or (lambda: datetime.now(UTC))))
    if parsed.get_backend_name() in {"mysql", "mariadb"}:
        return Database(_mysql_engine(parsed, pool_size))
    raise ConfigurationError(
        f"TM_DATABASE_URL names {parsed.get_backend_name()!r}; this pipeline runs on MySQL 8, MariaDB 10.6+ and SQLite."
    )


def _mysql_engine(url: URL, pool_size: int, socket_seconds: int = SOCKET_TIMEOUT_SECONDS) -> Engine:
    url = url.set(drivername="mysql+pymysql").update_query_dict({"charset": "utf8mb4"})
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        pool_recycle=RECYCLE_SECONDS,
        isolation_level="READ COMMITTED",
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "read_timeout": socket_seconds,
            "write_timeout": socket_seconds,
        },
    )

    @event.listens_for(engine, "connect")
    def _settle(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(SESSION_SETTINGS)
        connection.commit()

    return engine


def _sqlite_engine(url: URL, pool_size: int, clock: Callable[[], datetime]) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=pool_size,
        connect_args={"timeout": SQLITE_BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _settle(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.create_function("tm_now", 1, lambda offset: _stamp(clock(), offset, whole=True))
        connection.create_function("tm_now_precise", 1, lambda offset: _stamp(clock(), offset, whole=False))

    @event.listens_for(engine, "begin")
    def _begin(conn: Connection) -> None:
        read_only = conn.get_execution_options().get(READ_ONLY)
        conn.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _stamp(now: datetime, offset: int, *, whole: bool) -> str:
    moved = now.astimezone(UTC) + timedelta(seconds=offset)
    moved = moved.replace(microsecond=0) if whole else moved
    return moved.strftime("%Y-%m-%d %H:%M:%S.%f")
