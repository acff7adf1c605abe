"""Numbered SQL files, applied in order, each safe to run again after a crash in its middle (S10, S104).

MySQL's DDL is not transactional, so every statement is guarded: tables by IF NOT EXISTS, added columns
and keys by a look at the live schema.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, inspect, select, text

from tm_pipeline.domain.errors import SchemaError
from tm_pipeline.store.engine import LONG_STATEMENT_SECONDS, Database
from tm_pipeline.store.sql_files import sql_folder, statements
from tm_pipeline.store.tables import schema_version as t
from tm_pipeline.store.upserts import upsert

LOCK = "tm_pipeline.migrate"
LOCK_SECONDS = 30
_FILE = re.compile(r"^(\d{4})_(\w+)\.(mysql|sqlite)\.sql$")
_ADD_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", re.IGNORECASE)
_ADD_KEY = re.compile(r"ALTER TABLE (\w+) ADD (?:UNIQUE )?KEY (\w+)", re.IGNORECASE)

VERSION_TABLE = """CREATE TABLE IF NOT EXISTS schema_version (
    version INT NOT NULL,
    name VARCHAR(100) NOT NULL,
    checksum CHAR(64) NOT NULL,
    applied_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (version)
)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file."""

    version: int
    name: str
    content: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, so that an edited file is noticed."""
        return hashlib.sha256(self.content.encode()).hexdigest()


def migrations(db: Database) -> list[Migration]:
    """The files for this dialect, in order."""
    wanted = "sqlite" if db.is_sqlite else "mysql"
    found = []
    for path in sorted((sql_folder() / "migrations").iterdir()):
        match = _FILE.match(path.name)
        if match and match[3] == wanted:
            content = path.read_text(encoding="utf-8")
            found.append(Migration(version=int(match[1]), name=match[2], content=content))
    return found


def applied(conn: Connection) -> dict[int, str]:
    """Version → checksum of what this database has."""
    if not inspect(conn).has_table(t.name):
        return {}
    return {int(row[0]): row[1] for row in conn.execute(select(t.c.version, t.c.checksum))}


def pending(db: Database) -> list[str]:
    """The names of migrations that this database lacks; raises ``SchemaError`` where it is ahead or differs."""
    with db.read() as conn:
        done = applied(conn)
    files = migrations(db)
    ahead = sorted(set(done) - {item.version for item in files})
    if ahead:
        raise SchemaError(
            f"The database is at schema {ahead[-1]}, this code knows up to {files[-1].version}. Upgrade tm-pipeline."
        )
    for item in files:
        if item.version in done and done[item.version] != item.checksum:
            raise SchemaError(
                f"Migration {item.version:04d}_{item.name} was changed after it was applied here. "
                "Restore the file of the installed release."
            )
    return [f"{item.version:04d}_{item.name}" for item in files if item.version not in done]


def require_current(db: Database) -> None:
    """Refuse to work on a schema that is behind or ahead of the code, with one clear line."""
    behind = pending(db)
    if behind:
        raise SchemaError(f"The database lacks {', '.join(behind)}. Run tm-pipeline migrate.")


def migrate(db: Database, *, with_sample: bool = False) -> list[str]:
    """Apply what is missing, and with ``with_sample`` the sample product's tables; returns the names applied."""
    patient = db.patient()
    try:
        return _migrate(patient, with_sample=with_sample)
    finally:
        if patient is not db:
            patient.dispose()


def _migrate(db: Database, *, with_sample: bool) -> list[str]:
    with _exclusive(db):
        missing = set(pending(db))
        names = []
        for item in migrations(db):
            name = f"{item.version:04d}_{item.name}"
            if name in missing:
                _apply(db, item.content)
                row = {"version": item.version, "name": item.name, "checksum": item.checksum}
                db.run(lambda conn, r=row: upsert(conn, t, [r], key=("version",), changed=("checksum",)))  # type: ignore[misc]
                names.append(name)
        if with_sample:
            suffix = "sqlite" if db.is_sqlite else "mysql"
            _apply(db, (sql_folder() / "sample" / f"product.{suffix}.sql").read_text(encoding="utf-8"))
        return names


def _apply(db: Database, content: str) -> None:
    with db.begin() as conn:
        for statement in statements(content):
            if not _is_there(conn, statement):
                conn.execute(text(statement.replace(":", r"\:")))


def _is_there(conn: Connection, statement: str) -> bool:
    column, key = _ADD_COLUMN.match(statement), _ADD_KEY.match(statement)
    if column is not None:
        return column[2] in {item["name"] for item in inspect(conn).get_columns(column[1])}
    if key is not None:
        return key[2] in {item["name"] for item in inspect(conn).get_indexes(key[1])}
    return False


@contextmanager
def _exclusive(db: Database) -> Iterator[None]:
    """One migration at a time on MySQL; on SQLite every statement's own transaction is exclusive already."""
    with db.begin() as conn:
        conn.execute(text(VERSION_TABLE))
    if db.is_sqlite:
        yield
        return
    with db.read() as conn:
        # The lock lives in a session that is idle while the statements run in another one.
        conn.execute(text("SET SESSION wait_timeout = :seconds"), {"seconds": LONG_STATEMENT_SECONDS})
        got = conn.execute(text("SELECT GET_LOCK(:name, :seconds)"), {"name": LOCK, "seconds": LOCK_SECONDS}).scalar()
        if got != 1:
            raise SchemaError(f"Another migration has been running for {LOCK_SECONDS} s; wait for it and run again.")
        try:
            yield
        finally:
            conn.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": LOCK})
