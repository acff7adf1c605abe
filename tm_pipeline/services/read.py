"""The reader's side: one statement, no provider, never waits (S55–S58, S97; design §11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.languages import canonical
from tm_pipeline.domain.read_models import ReadModelRow
from tm_pipeline.domain.segments import source_fingerprint
from tm_pipeline.services.context import Context
from tm_pipeline.services.intake import READ_MISS
from tm_pipeline.store.read_models import read_with_source
from tm_pipeline.store.requests import append_request_once
from tm_pipeline.store.sources import read_rows


class Origin(StrEnum):
    """Where a reading came from."""

    READ_MODEL = "read_model"
    FALLBACK = "fallback"
    SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader sees. ``stale`` is true where the source has changed since, or nothing is translated yet."""

    resource_type: str
    resource_id: int
    locale: str
    origin: Origin
    stale: bool
    fields: Mapping[str, str]


def read(ctx: Context, resource_type: str, resource_id: int, locale: str, *, book: bool = True) -> Reading:
    """The read model, else a fallback locale, else the source; a miss is booked without waiting.

    Raises ``UsageError`` for an unknown domain, a language that is no language, or a resource that
    does not exist or is not published.
    """
    domain = ctx.domain(resource_type)
    wanted = canonical(locale)
    order = [wanted, *(fallback for fallback in domain.fallback_locales if fallback != wanted)]
    with ctx.db.read() as conn:
        source, models = read_with_source(conn, domain, resource_id, order)
    if source is None or not source.published:
        raise UsageError(f"There is no published {resource_type} with id {resource_id}.")
    present = source_fingerprint(domain, source.values, source.language)
    found = next((models[name] for name in order if name in models), None)
    stale = found is None or found.locale != wanted or found.source_fingerprint != present
    if stale and book and wanted in domain.target_languages:
        ctx.db.run(lambda conn: append_request_once(conn, resource_type, resource_id, wanted, READ_MISS))
    if found is None:
        fields = {key: source.values.get(key) or "" for key in domain.field_keys}
        return _reading(domain, resource_id, wanted, Origin.SOURCE, fields, stale=True)
    origin = Origin.READ_MODEL if found.locale == wanted else Origin.FALLBACK
    return _reading(domain, resource_id, wanted, origin, _fields(domain, found, domain.field_keys), stale=stale)


def is_published(ctx: Context, resource_type: str, resource_id: int) -> bool:
    """Whether the product has this resource and shows it."""
    domain = ctx.domain(resource_type)
    with ctx.db.read() as conn:
        return any(row.published for row in read_rows(conn, domain, [resource_id]))


def _reading(
    domain: Domain, resource_id: int, locale: str, origin: Origin, fields: Mapping[str, str], *, stale: bool
) -> Reading:
    return Reading(
        resource_type=domain.resource_type,
        resource_id=resource_id,
        locale=locale,
        origin=origin,
        stale=stale,
        fields=fields,
    )


def _fields(domain: Domain, row: ReadModelRow, keys: Sequence[str]) -> dict[str, str]:
    if domain.read_model.shape is ReadModelShape.SCALAR:
        return {keys[0]: row.value or ""}
    payload = row.payload or {}
    return {key: payload.get(key, "") for key in keys}
