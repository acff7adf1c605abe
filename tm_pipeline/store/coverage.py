"""How much of a domain its read model covers, what it shows, and what explains a gap."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, literal, select, true, union_all

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.domain.jobs import GroupKey, JobStatus
from tm_pipeline.store.batches import batches
from tm_pipeline.store.tables import read_model_refresh as r
from tm_pipeline.store.tables import read_model_table, source_table
from tm_pipeline.store.tables import translation_job as t
from tm_pipeline.store.tables import translation_request as q

PUBLISHED, SHOWN, STOPPED = "published", "shown", "stopped"
NEEDS_PERSON = (JobStatus.FAILED, JobStatus.NEEDS_REVIEW, JobStatus.NEEDS_CREDENTIAL)
SETTLED = (JobStatus.COMPLETED, JobStatus.SUPERSEDED)
NEWEST_ROWS = 200  # among which a sample looks for rows of its language
PAGE_ROWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Of ``published`` resources, those whose read model is there and has no field that a person must look at."""

    published: int
    covered: int

    @property
    def percent(self) -> float:
        """0 to 100; nothing published is nothing missing."""
        return round(100 * self.covered / self.published, 2) if self.published else 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one read-model row holds, by field key; a scalar has the key of its domain's only field."""

    row_id: int
    resource_id: int
    locale: str
    texts: Mapping[str, Any]


def coverage(conn: Connection, domain: Domain, locales: Sequence[str]) -> dict[str, Coverage]:
    """The coverage of each locale, in one statement: one snapshot, so that no share is over 100 %."""
    if not locales:
        return {}
    source, model = source_table(domain), read_model_table(domain)
    key = source.c[domain.source.id_column]
    published = _published(domain)
    both = source.join(model, model.c[domain.read_model.key_column] == key)
    mine = and_(published, model.c.locale.in_(list(locales)))
    stopped = and_(
        t.c.resource_type == domain.resource_type,
        t.c.status.in_([status.value for status in NEEDS_PERSON]),
        t.c.resource_id == key,
        t.c.target_language == model.c.locale,
    )
    everything = literal("").label("locale")
    parts = [
        select(literal(PUBLISHED).label("kind"), everything, func.count().label("amount"))
        .select_from(source)
        .where(published),
        *(
            select(literal(SHOWN), literal(locale), func.count())
            .select_from(both)
            .where(published, model.c.locale == locale)
            for locale in locales
        ),
        select(literal(STOPPED), model.c.locale, func.count(key.distinct()))
        .select_from(both.join(t, stopped))
        .where(mine)
        .group_by(model.c.locale),
    ]
    found = {(row.kind, row.locale): int(row.amount) for row in conn.execute(union_all(*parts))}
    return {
        locale: Coverage(
            published=found[PUBLISHED, ""],
            covered=found.get((SHOWN, locale), 0) - found.get((STOPPED, locale), 0),
        )
        for locale in locales
    }


def _published(domain: Domain) -> ColumnElement[bool]:
    table = source_table(domain)
    return and_(true(), *(table.c[name] == wanted for name, wanted in domain.source.published.items()))


def newest_contents(conn: Connection, domain: Domain, locale: str, limit: int) -> list[Content]:
    """The rows of the newest resources in a locale; none where it has none among the last of the table."""
    table = read_model_table(domain)
    key = table.c[domain.read_model.key_column]
    last = select(table.c.id, key.label("key"), table.c.locale).order_by(key.desc()).limit(NEWEST_ROWS).subquery("last")
    statement = (
        _contents(domain)
        .join(last, last.c.id == table.c.id)
        .where(last.c.locale == locale)
        .order_by(last.c.key.desc())
        .limit(limit)
    )
    return [_content(domain, row) for row in conn.execute(statement)]


def contents_of(conn: Connection, domain: Domain, ids: Sequence[int], locale: str) -> list[Content]:
    """The rows of some resources in a locale."""
    table = read_model_table(domain)
    statement = _contents(domain).where(table.c[domain.read_model.key_column].in_(list(ids)), table.c.locale == locale)
    return [_content(domain, row) for row in conn.execute(statement)]


def contents(conn: Connection, domain: Domain) -> Iterator[Content]:
    """Every row, page after page."""
    table = read_model_table(domain)
    after, page = 0, PAGE_ROWS
    while page == PAGE_ROWS:
        rows = conn.execute(_contents(domain).where(table.c.id > after).order_by(table.c.id).limit(PAGE_ROWS)).all()
        yield from (_content(domain, row) for row in rows)
        page = len(rows)
        after = rows[-1].id if rows else after


def _contents(domain: Domain) -> Any:
    table, spec = read_model_table(domain), domain.read_model
    column = table.c.value if spec.shape is ReadModelShape.SCALAR else table.c.payload
    return select(table.c.id, table.c[spec.key_column].label("resource_id"), table.c.locale, column.label("content"))


def _content(domain: Domain, row: Any) -> Content:
    if domain.read_model.shape is ReadModelShape.SCALAR:
        texts = {domain.field_keys[0]: row.content}
    else:
        parsed = json.loads(row.content)
        texts = parsed if isinstance(parsed, dict) else {}
    return Content(row_id=int(row.id), resource_id=int(row.resource_id), locale=row.locale, texts=texts)


def explained(conn: Connection, resource_type: str, ids: Sequence[int]) -> set[GroupKey]:
    """Groups of these resources with a job that is neither done nor obsolete, or a refresh mark."""
    found: set[GroupKey] = set()
    for part in batches(ids):
        open_jobs = select(t.c.resource_id, t.c.target_language).where(
            t.c.resource_type == resource_type,
            t.c.resource_id.in_(part),
            t.c.status.not_in([status.value for status in SETTLED]),
        )
        marks = select(r.c.resource_id, r.c.target_language).where(
            r.c.resource_type == resource_type, r.c.resource_id.in_(part)
        )
        for statement in (open_jobs.distinct(), marks):
            found |= {
                GroupKey(resource_type=resource_type, resource_id=int(row[0]), target_language=row[1])
                for row in conn.execute(statement)
            }
    return found


def asked_for(conn: Connection, resource_type: str, ids: Sequence[int]) -> set[int]:
    """Those of the resources with a row in the outbox, so that intake will look at them."""
    found: set[int] = set()
    for part in batches(ids):
        statement = select(q.c.resource_id).where(q.c.resource_type == resource_type, q.c.resource_id.in_(part))
        found |= {int(row[0]) for row in conn.execute(statement)}
    return found
