"""Does the live schema have what the code relies on: every column with its type, every key that carries a promise?

More than that may be there: an application adds columns and keys of its own to the shared tables.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Column, Connection, inspect, text
from sqlalchemy.exc import NoSuchTableError

from tm_pipeline.store.tables import metadata

Key = tuple[str, ...]

UNIQUE_KEYS: Mapping[str, Sequence[Key]] = {
    "translation_memory": (("source_hash", "source_language", "target_language", "provider", "normalization_version"),),
    "translation_job": (("resource_type", "resource_id", "field_key", "target_language", "source_hash"),),
    "language_detection_result": (("source_hash", "provider", "normalization_version"),),
    "read_model_refresh": (("resource_type", "resource_id", "target_language"),),
    "provider_call": (("request_key", "attempt"), ("active_key",)),
    "alert": (("alert_key",),),
}
PLAN_KEYS: Mapping[str, Sequence[Key]] = {
    "translation_job": (
        ("status", "next_retry_at"),
        ("resource_type", "resource_id", "target_language", "status"),
        ("resource_type", "status", "next_retry_at"),
    ),
    "read_model_refresh": (("resource_type", "next_attempt_at"),),
    "provider_call": (("state", "deadline_at"),),
    "alert": (("state", "next_attempt_at"),),
}
_DISPLAY_WIDTH = re.compile(r"^(bigint|int|tinyint|double|mediumtext|text)(?:\([\d,]+\))?.*$")


def drift(conn: Connection) -> list[str]:
    """What is missing or different, one clear line each."""
    found: list[str] = []
    for name in metadata.tables:
        try:
            inspect(conn).get_columns(name)
        except NoSuchTableError:
            found.append(f"table {name} is missing")
            continue
        found += [*_columns(conn, name), *_keys(conn, name)]
    return found


def _columns(conn: Connection, table: str) -> Iterator[str]:
    live = _mysql_types(conn, table) if conn.dialect.name != "sqlite" else _sqlite_types(conn, table)
    for column in metadata.tables[table].columns:
        if column.name not in live:
            yield f"{table}.{column.name} is missing"
            continue
        wanted = _wanted(column, conn)
        if live[column.name] != wanted:
            yield f"{table}.{column.name} is {live[column.name]}, the code expects {wanted}"


def _wanted(column: Column[object], conn: Connection) -> str:
    return _plain(column.type.dialect_impl(conn.dialect).compile(dialect=conn.dialect))


def _plain(written: str) -> str:
    """A type without what does not matter here: display widths, fixed or varying length, the name of a truth value."""
    lowered = written.lower().replace("datetime", "timestamp").replace("integer", "int")
    lowered = re.sub(r"^bool(ean)?$", "tinyint", lowered)
    lowered = re.sub(r"^char\(", "varchar(", lowered)
    return _DISPLAY_WIDTH.sub(r"\1", lowered)


def _mysql_types(conn: Connection, table: str) -> dict[str, str]:
    statement = text(
        "SELECT column_name, column_type FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = :name"
    )
    return {row[0]: _plain(str(row[1])) for row in conn.execute(statement, {"name": table})}


def _sqlite_types(conn: Connection, table: str) -> dict[str, str]:
    rows = inspect(conn).get_columns(table)
    return {row["name"]: _plain(row["type"].compile(dialect=conn.dialect)) for row in rows}


def _keys(conn: Connection, table: str) -> Iterator[str]:
    indexes = [(tuple(item["column_names"]), bool(item["unique"])) for item in inspect(conn).get_indexes(table)]
    for key in UNIQUE_KEYS.get(table, ()):
        if (key, True) not in indexes:
            yield f"{table} lacks its unique key ({', '.join(key)})"
    for key in PLAN_KEYS.get(table, ()):
        if not any(present[: len(key)] == key for present, _ in indexes):
            yield f"{table} lacks its key ({', '.join(key)})"


def automatic_times(conn: Connection) -> list[str]:
    """Due times that the server sets anew whenever their row changes; old servers do so unasked (MySQL only)."""
    statement = text(
        "SELECT table_name, column_name, extra FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND extra <> '' AND column_name IN "
        "('next_retry_at', 'lease_expires_at', 'next_attempt_at', 'deadline_at', 'blocked_until')"
    )
    return [
        f"{row[0]}.{row[1]} changes by itself: {row[2]}"
        for row in conn.execute(statement)
        if "on update" in str(row[2]).lower()
    ]
