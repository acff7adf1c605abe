"""Read-model rows: written by key, read in one statement with their source (S44, S56)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.domain.read_models import ReadModelRow
from tm_pipeline.store.batches import batches
from tm_pipeline.store.sources import SourceRow, as_source_row
from tm_pipeline.store.tables import read_model_table, source_columns, source_table
from tm_pipeline.store.upserts import upsert


def _content(domain: Domain) -> str:
    return "value" if domain.read_model.shape is ReadModelShape.SCALAR else "payload"


def write_rows(conn: Connection, domain: Domain, rows: Sequence[ReadModelRow]) -> None:
    """Write read-model rows by (key, locale)."""
    if not rows:
        return
    spec = domain.read_model
    changed = (_content(domain), "source_fingerprint", "source_version", *sorted(spec.hot_columns))
    values = [
        {
            spec.key_column: row.resource_id,
            "locale": row.locale,
            _content(domain): row.value
            if row.payload is None
            else json.dumps(dict(row.payload), ensure_ascii=False, sort_keys=True),
            "source_fingerprint": row.source_fingerprint,
            "source_version": row.source_version,
            **{name: row.hot.get(name, "") for name in spec.hot_columns},
        }
        for row in rows
    ]
    upsert(conn, read_model_table(domain), values, key=(spec.key_column, "locale"), changed=changed)


def delete_rows(conn: Connection, domain: Domain, ids: Sequence[int], *, locale: str | None = None) -> int:
    """Remove the read models of resources, in one locale or all."""
    table = read_model_table(domain)
    count = 0
    for part in batches(ids):
        statement = delete(table).where(table.c[domain.read_model.key_column].in_(part))
        if locale is not None:
            statement = statement.where(table.c.locale == locale)
        count += conn.execute(statement).rowcount
    return count


def fingerprints(conn: Connection, domain: Domain, ids: Sequence[int]) -> dict[tuple[int, str], str]:
    """(id, locale) → the fingerprint of the source that each read model was built from."""
    table = read_model_table(domain)
    key = table.c[domain.read_model.key_column]
    found: dict[tuple[int, str], str] = {}
    for part in batches(ids):
        statement = select(key, table.c.locale, table.c.source_fingerprint).where(key.in_(part))
        found.update({(int(row[0]), row[1]): row[2] for row in conn.execute(statement)})
    return found


def ids_between(conn: Connection, domain: Domain, low: int, high: int | None) -> set[int]:
    """Resources in the id range (low, high] that have a read model; ``high`` None is open."""
    table = read_model_table(domain)
    key = table.c[domain.read_model.key_column]
    statement = select(key).where(key > low).distinct()
    if high is not None:
        statement = statement.where(key <= high)
    return {int(row[0]) for row in conn.execute(statement)}


def count_rows(conn: Connection, domain: Domain) -> dict[str, int]:
    """Rows by locale."""
    table = read_model_table(domain)
    statement = select(table.c.locale, func.count()).group_by(table.c.locale)
    return {row[0]: int(row[1]) for row in conn.execute(statement)}


def read_with_source(
    conn: Connection, domain: Domain, resource_id: int, locales: Sequence[str]
) -> tuple[SourceRow | None, Mapping[str, ReadModelRow]]:
    """The source row and its read models in ``locales``, in one statement by two unique keys."""
    source, model = source_table(domain), read_model_table(domain)
    spec = domain.read_model
    names = source_columns(domain)
    columns: list[Any] = [source.c[name].label(f"s_{name}") for name in names]
    columns += [model.c.locale, model.c[_content(domain)].label("content")]
    columns += [model.c.source_fingerprint, model.c.source_version]
    joined = source.outerjoin(
        model,
        and_(model.c[spec.key_column] == source.c[domain.source.id_column], model.c.locale.in_(list(locales))),
    )
    statement = select(*columns).select_from(joined).where(source.c[domain.source.id_column] == resource_id)
    rows = conn.execute(statement).mappings().all()
    if not rows:
        return None, {}
    found = as_source_row(domain, {name: rows[0][f"s_{name}"] for name in names})
    return found, {row["locale"]: _model(domain, resource_id, dict(row)) for row in rows if row["locale"] is not None}


def _model(domain: Domain, resource_id: int, row: Mapping[str, Any]) -> ReadModelRow:
    scalar = domain.read_model.shape is ReadModelShape.SCALAR
    return ReadModelRow(
        resource_id=resource_id,
        locale=row["locale"],
        payload=None if scalar else json.loads(row["content"]),
        value=row["content"] if scalar else None,
        source_fingerprint=row["source_fingerprint"],
        source_version=row["source_version"],
    )
