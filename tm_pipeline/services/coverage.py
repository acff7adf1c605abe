"""Is a read model complete, current and well formed? The claims of one domain's checks, and a sample of it.

Only what nothing explains counts against a claim: a waiting, running, stopped or cancelled job, a refresh mark, an
outbox row or a change that no scan has reached yet each explain a gap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.domain.segments import source_fingerprint
from tm_pipeline.services.context import Context
from tm_pipeline.store.coverage import (
    Content,
    Coverage,
    asked_for,
    contents,
    contents_of,
    coverage,
    explained,
    newest_contents,
)
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.read_models import fingerprints
from tm_pipeline.store.snapshots import watermarks
from tm_pipeline.store.sources import SourceRow, read_rows, rows_after_id

PAGE_ROWS = 500
SAMPLE_ROWS = 5
NAMED = 5  # offenders that a result names
COUNTED = 1_000  # offenders that an audit keeps of each kind


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One field of one read model beside its source."""

    resource_id: int
    field_key: str
    source: str
    target: str


@dataclass(slots=True)
class Audit:
    """Read models against their sources; ``lost`` are not there, ``stale`` show an older source, for no reason.

    Of each kind the first ``COUNTED`` are kept. ``judged`` counts resource × language; it is 0 for a domain without
    ``updated_at``: whether intake has seen the present state of a row cannot be told there.
    """

    judged: int = 0
    lost: list[GroupKey] = field(default_factory=list)
    stale: list[GroupKey] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAudit:
    """Rows whose field keys are not those of the domain."""

    rows: int
    wrong: int
    first: Sequence[str]


def coverage_of(ctx: Context, domain: Domain, locales: Sequence[str]) -> Mapping[str, Coverage]:
    """Coverage by language; reads keys of the domain's tables, so for runs and checks, not for ticks."""
    with ctx.db.read() as conn:
        return coverage(conn, domain, locales)


def sample(ctx: Context, domain: Domain, locale: str, ids: Sequence[int] = ()) -> list[SampleRow]:
    """A few rows as they are shown: of ``ids``, or those added last; each with its first field that has a text."""
    with ctx.db.read() as conn:
        if ids:
            found = contents_of(conn, domain, ids[:SAMPLE_ROWS], locale)
        else:
            found = newest_contents(conn, domain, locale, SAMPLE_ROWS)
        sources = {row.resource_id: row for row in read_rows(conn, domain, [content.resource_id for content in found])}
    pairs = [(content, sources.get(content.resource_id)) for content in found]
    return [row for content, source in pairs if source for row in [_sampled(domain, content, source)] if row]


def _sampled(domain: Domain, content: Content, source: SourceRow) -> SampleRow | None:
    for key in domain.field_keys:
        text, target = source.values.get(key), content.texts.get(key)
        if text and text.strip() and isinstance(target, str):
            return SampleRow(resource_id=content.resource_id, field_key=key, source=text, target=target)
    return None


def audit_keys(ctx: Context, domain: Domain) -> KeyAudit:
    """Compare the keys of every row with the domain's fields; reads the whole read model."""
    wanted, rows, wrong, first = set(domain.field_keys), 0, 0, list[str]()
    with ctx.db.read() as conn:
        for content in contents(conn, domain):
            rows += 1
            if set(content.texts) == wanted and all(isinstance(text, str) for text in content.texts.values()):
                continue
            wrong += 1
            if len(first) < NAMED:
                first.append(f"{domain.resource_type}-{content.resource_id} {content.locale}")
    return KeyAudit(rows=rows, wrong=wrong, first=first)


def audit_rows(ctx: Context, domain: Domain, *, page_rows: int = PAGE_ROWS) -> Audit:
    """Compare every published row that intake has seen with its read models; reads the whole source table."""
    audit, after = Audit(), 0
    with ctx.db.read() as conn:
        mark = watermarks(conn)[0].get(domain.resource_type)
    seen = mark.watermark if mark else None
    if domain.source.updated_at_column is None or seen is None:
        return audit
    while True:
        with ctx.db.read() as conn:
            page = rows_after_id(conn, domain, after, page_rows)
            _audit_page(conn, audit, domain, [row for row in page if _is_seen(row, seen)])
        if len(page) < page_rows:
            return audit
        after = page[-1].resource_id


def _is_seen(row: SourceRow, watermark: datetime) -> bool:
    # A row of the watermark's own second may be newer than the scan.
    return row.published and row.updated_at is not None and row.updated_at < watermark.replace(microsecond=0)


def _audit_page(conn: Connection, audit: Audit, domain: Domain, rows: Sequence[SourceRow]) -> None:
    audit.judged += len(rows) * len(domain.target_languages)
    lost, stale = _gaps(conn, domain, rows)
    if not lost and not stale:
        return
    # Read once more: a row that was written between two of the statements is no gap.
    again = read_rows(conn, domain, sorted({group.resource_id for group in lost | stale}))
    still_lost, still_stale = _gaps(conn, domain, [row for row in again if row.published])
    for first, second, kept in ((lost, still_lost, audit.lost), (stale, still_stale, audit.stale)):
        kept.extend(sorted(first & second)[: COUNTED - len(kept)])


def _gaps(conn: Connection, domain: Domain, rows: Sequence[SourceRow]) -> tuple[set[GroupKey], set[GroupKey]]:
    """The groups of these rows without a read model, and those with one of another source, that nothing explains."""
    shown = fingerprints(conn, domain, [row.resource_id for row in rows])
    lost: set[GroupKey] = set()
    stale: set[GroupKey] = set()
    for row in rows:
        present = source_fingerprint(domain, row.values, row.language)
        for language in domain.target_languages:
            known = shown.get((row.resource_id, language))
            if known != present:
                group = GroupKey(
                    resource_type=domain.resource_type, resource_id=row.resource_id, target_language=language
                )
                (lost if known is None else stale).add(group)
    doubtful = sorted({group.resource_id for group in lost | stale})
    if not doubtful:
        return lost, stale
    asked = asked_for(conn, domain.resource_type, doubtful)
    excused = explained(conn, domain.resource_type, doubtful)
    excused |= {group for group in lost | stale if group.resource_id in asked}
    return lost - excused, stale - excused
