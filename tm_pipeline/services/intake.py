"""Intake: the outbox that applications append to, and the scan of their source tables (S47, C51).

Both are state-based: a row is read, folded and deleted by its id, never by a cursor, because the order
of auto-increment ids is not the order of commits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.jobs import BookingReason
from tm_pipeline.domain.languages import canonical
from tm_pipeline.services.context import Context
from tm_pipeline.services.reserve import Reserved, reserve
from tm_pipeline.services.withdraw import withdraw
from tm_pipeline.store.clock import read_now
from tm_pipeline.store.jobs import resource_ids_between
from tm_pipeline.store.read_models import ids_between
from tm_pipeline.store.requests import RequestRow, bury_requests, delete_requests, oldest_requests
from tm_pipeline.store.sources import SourceRow, read_rows, rows_after_id, rows_changed_since
from tm_pipeline.store.watermarks import Watermark, get_watermark, set_watermark

PAGE_ROWS = 500
SCAN_OVERLAP = timedelta(minutes=10)  # longer than a product's transaction may stay open after it set updated_at
READ_MISS = "read_miss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What one pass over the outbox did."""

    requests: int = 0
    dead: int = 0
    reserved: Reserved = field(default_factory=Reserved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What one scan of a source table did; ``withdrawn`` counts resources that vanished from it."""

    resource_type: str
    full: bool
    rows: int = 0
    withdrawn: int = 0
    reserved: Reserved = field(default_factory=Reserved)


def fold_requests(ctx: Context, *, limit: int = PAGE_ROWS) -> Folded:
    """Book the oldest ``limit`` outbox rows; rejected ones move to ``translation_request_dead`` with the reason."""
    with ctx.db.read() as conn:
        rows = oldest_requests(conn, limit)
    rejected = [(row, why) for row in rows if (why := _rejection(ctx, row)) is not None]
    if rejected:
        ctx.db.run(lambda conn: bury_requests(conn, rejected))
    bad = {row.id for row, _ in rejected}
    batches: dict[tuple[str, str | None, BookingReason], list[RequestRow]] = {}
    for row in rows:
        if row.id not in bad:
            reason = BookingReason.READ_MISS if row.reason == READ_MISS else BookingReason.REQUEST
            batches.setdefault((row.resource_type, row.target_language, reason), []).append(row)
    total = Reserved()
    for (resource_type, language, reason), batch in sorted(batches.items(), key=lambda item: str(item[0])):
        total += _book_batch(ctx, ctx.domain(resource_type), language, reason, batch)
    return Folded(requests=len(rows), dead=len(rejected), reserved=total)


def _rejection(ctx: Context, row: RequestRow) -> str | None:
    domain = ctx.registry.get(row.resource_type)
    if domain is None:
        return f"unknown domain {row.resource_type!r}; known: {', '.join(ctx.registry.domains)}"
    if row.field_key is not None and domain.field(row.field_key) is None:
        return f"unknown field {row.field_key!r} of {row.resource_type}; known: {', '.join(domain.field_keys)}"
    if row.target_language is not None:
        try:
            language = canonical(row.target_language)
        except UsageError as error:
            return str(error)
        if language not in domain.target_languages:
            return (
                f"{row.resource_type} is not translated into {row.target_language!r}; "
                f"languages: {', '.join(domain.target_languages)}"
            )
    return None


def _book_batch(
    ctx: Context, domain: Domain, language: str | None, reason: BookingReason, batch: Sequence[RequestRow]
) -> Reserved:
    """Book the present state of the source rows that ``batch`` names.

    The source table is the truth: the text that a request carries was committed together with its row,
    so an older request can never bring an older text back. It is used only where the row is not there.
    """
    ids = sorted({row.resource_id for row in batch})
    with ctx.db.read() as conn:
        present = read_rows(conn, domain, ids)
    absent = sorted(set(ids) - {row.resource_id for row in present})
    carried = _carried_texts(absent, batch)
    withdraw(ctx, domain, [resource_id for resource_id in absent if resource_id not in carried])
    languages = [canonical(language)] if language is not None else None
    rows = [*present, *carried.values()]
    request_ids = [row.id for row in batch]
    if not rows:
        ctx.db.run(lambda conn: delete_requests(conn, request_ids))
        return Reserved(withdrawn=len(absent))
    return reserve(ctx, domain, rows, reason=reason, target_languages=languages, request_ids=request_ids)


def _carried_texts(absent: Sequence[int], batch: Sequence[RequestRow]) -> dict[int, SourceRow]:
    rows: dict[int, SourceRow] = {}
    for request in sorted(batch, key=lambda row: (row.source_version or 0, row.id)):
        if request.resource_id in absent and request.field_key is not None and request.source_text is not None:
            known = rows.get(request.resource_id)
            values = {**(known.values if known else {}), request.field_key: request.source_text}
            rows[request.resource_id] = SourceRow(
                resource_id=request.resource_id,
                values=values,
                language=request.source_language,
                version=request.source_version,
                updated_at=request.requested_at,
                published=True,
            )
    return rows


def scan(
    ctx: Context,
    domain: Domain,
    *,
    full: bool = False,
    page_rows: int = PAGE_ROWS,
    on_page: Callable[[int], None] | None = None,
) -> Scanned:
    """Book what changed in the source table since the watermark, or reconcile the whole table by hash.

    A full scan also finds resources that vanished. Without an ``updated_at`` column every scan is full.
    ``on_page`` is told the number of rows seen so far.
    """
    with ctx.db.read() as conn:
        started = read_now(conn)
        mark = get_watermark(conn, domain.resource_type)
    full = full or mark is None or mark.watermark is None or domain.source.updated_at_column is None
    since = None if full or mark is None or mark.watermark is None else mark.watermark - SCAN_OVERLAP
    rows, withdrawn, total = 0, 0, Reserved()
    after_id, after = 0, None
    while True:
        page = _page(ctx, domain, full=full, since=since, after_id=after_id, after=after, limit=page_rows)
        if full:
            high = page[-1].resource_id if len(page) == page_rows else None
            withdrawn += _withdraw_vanished(ctx, domain, after_id, high, {row.resource_id for row in page})
        if page:
            total += reserve(ctx, domain, page, reason=BookingReason.SCAN)
            rows += len(page)
            after_id = page[-1].resource_id
            after = (page[-1].updated_at or started, after_id)
        if on_page is not None:
            on_page(rows)
        if len(page) < page_rows:
            break
    last_full = started if full else (mark.last_full_at if mark else None)
    ctx.db.run(
        lambda conn: set_watermark(conn, domain.resource_type, Watermark(watermark=started, last_full_at=last_full))
    )
    return Scanned(resource_type=domain.resource_type, full=full, rows=rows, withdrawn=withdrawn, reserved=total)


def _page(
    ctx: Context,
    domain: Domain,
    *,
    full: bool,
    since: datetime | None,
    after_id: int,
    after: tuple[datetime, int] | None,
    limit: int,
) -> list[SourceRow]:
    with ctx.db.read() as conn:
        if full:
            return rows_after_id(conn, domain, after_id, limit)
        return rows_changed_since(conn, domain, since, after, limit)


def _withdraw_vanished(ctx: Context, domain: Domain, low: int, high: int | None, present: set[int]) -> int:
    """Withdraw what has jobs or read models in the id range (low, high] but no source row there."""
    with ctx.db.read() as conn:
        known = ids_between(conn, domain, low, high) | resource_ids_between(conn, domain.resource_type, low, high)
    return withdraw(ctx, domain, sorted(known - present))
