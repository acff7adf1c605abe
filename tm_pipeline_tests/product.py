"""The product's side of the tests: rows in the sample source tables, as an application would write them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import delete, func, insert, select, update

from tm_pipeline.domain.domains import Domain
from tm_pipeline.services.context import Context
from tm_pipeline.services.intake import scan
from tm_pipeline.store.tables import read_model_table, source_table

Row = Mapping[str, object]


def insert_rows(ctx: Context, resource_type: str, rows: Sequence[Row]) -> None:
    """Insert source rows; ``id`` and the field columns as given, language NULL and published by default."""
    domain = ctx.domain(resource_type)
    table = source_table(domain)
    now = datetime.now(UTC)
    blank = {spec.column: None for spec in domain.fields}
    filled = [{**blank, "language_code": None, "is_active": 1, "updated_at": now, **dict(row)} for row in rows]
    with ctx.db.begin() as conn:
        conn.execute(insert(table), [{key: row[key] for key in row if key in table.c} for row in filled])


def edit(ctx: Context, resource_type: str, resource_id: int, **values: object) -> None:
    """Change a source row the way a product does, its ``updated_at`` included."""
    table = source_table(ctx.domain(resource_type))
    with ctx.db.begin() as conn:
        conn.execute(update(table).where(table.c.id == resource_id).values(updated_at=datetime.now(UTC), **values))


def remove(ctx: Context, resource_type: str, resource_id: int) -> None:
    """Delete a source row."""
    table = source_table(ctx.domain(resource_type))
    with ctx.db.begin() as conn:
        conn.execute(delete(table).where(table.c.id == resource_id))


def reserve_everything(ctx: Context, *, full: bool = True) -> int:
    """Scan every domain; returns the number of jobs booked."""
    return sum(scan(ctx, domain, full=full).reserved.booked for domain in ctx.registry)


def shown(ctx: Context, resource_type: str) -> dict[tuple[int, str], object]:
    """The read models of a domain: (id, locale) → payload or value."""
    domain: Domain = ctx.domain(resource_type)
    table = read_model_table(domain)
    key = table.c[domain.read_model.key_column]
    content = table.c.payload if "payload" in table.c else table.c.value
    with ctx.db.read() as conn:
        return {(row[0], row[1]): row[2] for row in conn.execute(select(key, table.c.locale, content))}


def count(ctx: Context, table_name: str) -> int:
    """Rows of one of the pipeline's tables."""
    from tm_pipeline.store.tables import metadata

    with ctx.db.read() as conn:
        return int(conn.execute(select(func.count()).select_from(metadata.tables[table_name])).scalar_one())
