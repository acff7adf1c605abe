"""The product's source tables, read only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, String, and_, inspect, literal, or_, select
from sqlalchemy.exc import NoSuchTableError

from tm_pipeline.domain.domains import Domain
from tm_pipeline.store.batches import batches
from tm_pipeline.store.tables import source_columns, source_table


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One resource as the product has it now.

    ``version`` only grows: the version column, else the microseconds of ``updated_at``.
    """

    resource_id: int
    values: Mapping[str, str | None]
    language: str | None
    version: int | None
    updated_at: datetime | None
    published: bool
    context: Mapping[str, str] = field(default_factory=dict)


def as_source_row(domain: Domain, row: Mapping[str, Any]) -> SourceRow:
    """A source row from a mapping of column → value."""
    spec = domain.source
    updated_at = row[spec.updated_at_column] if spec.updated_at_column else None
    version = row[spec.version_column] if spec.version_column else None
    if version is None and isinstance(updated_at, datetime):
        version = int(updated_at.astimezone(UTC).timestamp() * 1_000_000)
    return SourceRow(
        resource_id=int(row[spec.id_column]),
        values={part.key: _text(row[part.column]) for part in domain.fields},
        language=row[spec.language_column] if spec.language_column else None,
        version=version,
        updated_at=updated_at if isinstance(updated_at, datetime) else None,
        published=all(_plain(row[name]) == str(wanted) for name, wanted in spec.published.items()),
        context={name: str(row[name] or "") for name in spec.context_columns},
    )


def _plain(value: Any) -> str:
    """A condition's value as text; BIT(1), in which many products keep a truth value, arrives as bytes."""
    if isinstance(value, bytes):
        value = int.from_bytes(value, "big")
    return str(int(value) if isinstance(value, bool) else value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _rows(conn: Connection, domain: Domain, statement: Select[Any]) -> list[SourceRow]:
    return [as_source_row(domain, dict(row)) for row in conn.execute(statement).mappings()]


def read_rows(conn: Connection, domain: Domain, ids: Sequence[int]) -> list[SourceRow]:
    """The rows of ``ids`` that exist, published or not."""
    table = source_table(domain)
    found: list[SourceRow] = []
    for part in batches(ids):
        found.extend(_rows(conn, domain, select(table).where(table.c[domain.source.id_column].in_(part))))
    return found


def rows_after_id(conn: Connection, domain: Domain, after_id: int, limit: int) -> list[SourceRow]:
    """A page of the whole table in id order."""
    table = source_table(domain)
    key = table.c[domain.source.id_column]
    return _rows(conn, domain, select(table).where(key > after_id).order_by(key).limit(limit))


def rows_changed_since(
    conn: Connection, domain: Domain, since: datetime | None, after: tuple[datetime, int] | None, limit: int
) -> list[SourceRow]:
    """A page of the rows with ``updated_at`` ≥ ``since``, in the order of (updated_at, id)."""
    table = source_table(domain)
    if domain.source.updated_at_column is None:
        raise ValueError(f"{domain.resource_type} has no updated_at column to scan by")
    key, changed = table.c[domain.source.id_column], table.c[domain.source.updated_at_column]
    statement = select(table).order_by(changed, key).limit(limit)
    if since is not None:
        statement = statement.where(changed >= _spellings(conn, since)[0])
    if after is not None:
        at, last_id = after
        statement = statement.where(or_(changed > at, and_(changed.in_(_spellings(conn, at)), key > last_id)))
    return _rows(conn, domain, statement)


def _spellings(conn: Connection, moment: datetime) -> list[Any]:
    """How a time may be written, least first: SQLite compares text, and its own default has no fraction."""
    if conn.dialect.name != "sqlite" or moment.microsecond:
        return [moment]
    written = moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    return [literal(written, String), literal(f"{written}.000000", String)]


def check_source(conn: Connection, domain: Domain) -> list[str]:
    """What the source and read-model tables lack, one clear line each."""
    problems = _missing(conn, domain, domain.source.table, source_columns(domain), "source")
    spec = domain.read_model
    content = "value" if spec.shape.value == "value" else "payload"
    wanted = (spec.key_column, "locale", content, "source_fingerprint", "source_version", *spec.hot_columns)
    return problems + _missing(conn, domain, spec.table, wanted, "read model")


def _missing(conn: Connection, domain: Domain, table: str, wanted: Sequence[str], role: str) -> list[str]:
    try:
        present = {column["name"] for column in inspect(conn).get_columns(table)}
    except NoSuchTableError:
        return [f"{domain.resource_type}: the {role} table {table} is missing; create it or correct the domains file."]
    absent = [name for name in wanted if name not in present]
    return [
        f"{domain.resource_type}: the {role} table {table} has no column {name}; add it or correct the domains file."
        for name in absent
    ]


def latest_change(conn: Connection, domain: Domain) -> datetime | None:
    """The newest ``updated_at`` of the source table; None where it has no such column or no row."""
    if domain.source.updated_at_column is None:
        return None
    changed = source_table(domain).c[domain.source.updated_at_column]
    found = conn.execute(select(changed).order_by(changed.desc()).limit(1)).scalar_one_or_none()
    return found if isinstance(found, datetime) else None
