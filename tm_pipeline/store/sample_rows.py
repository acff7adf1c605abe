"""Filling the sample product's source tables; no other code here ever writes to a source table."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, insert, select

from tm_pipeline.domain.domains import Domain
from tm_pipeline.store.tables import source_table


def add_missing_rows(conn: Connection, domain: Domain, rows: Sequence[Mapping[str, str | int | None]]) -> int:
    """Insert those ``rows`` (column → value) whose id is new; an edited row stays as it was edited.

    Returns how many were inserted.
    """
    table = source_table(domain)
    key = domain.source.id_column
    ids = [row[key] for row in rows]
    present = set(conn.scalars(select(table.c[key]).where(table.c[key].in_(ids))))
    missing = [{**domain.source.published, **row} for row in rows if row[key] not in present]
    if missing:
        conn.execute(insert(table), missing)
    return len(missing)
