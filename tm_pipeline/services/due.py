"""What sensors ask: is a tick or an intake due? A few indexed statements each, never a full count."""

from dataclasses import dataclass
from datetime import timedelta

from tm_pipeline.domain.domains import Domain
from tm_pipeline.services.claim import claimable_domains
from tm_pipeline.services.context import Context
from tm_pipeline.store.clock import read_now
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.overview import DueSnapshot, due_snapshot
from tm_pipeline.store.requests import pending_requests_exist
from tm_pipeline.store.sources import latest_change
from tm_pipeline.store.watermarks import get_watermark

FULL_EVERY = timedelta(hours=24)
FUTURE_EVERY = timedelta(minutes=1)  # a time ahead of the database's clock stays newer than every scan


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeDue:
    """Why an intake is due, in the alphabet of run tags, and whether it reconciles whole tables."""

    reason: str
    full: bool


def tick_snapshot(ctx: Context) -> DueSnapshot:
    """The due work of the domains whose engine may be called now."""
    domains = claimable_domains(ctx)
    with ctx.db.read() as conn:
        return due_snapshot(conn, domains)


def intake_due(ctx: Context) -> IntakeDue | None:
    """The first reason for an intake: an outbox row, a daily reconciliation, a changed source table."""
    with ctx.db.read() as conn:
        if pending_requests_exist(conn):
            return IntakeDue(reason="outbox", full=False)
        for domain in ctx.registry:
            due = _domain_due(conn, domain)
            if due is not None:
                return due
    return None


def _domain_due(conn: Connection, domain: Domain) -> IntakeDue | None:
    mark = get_watermark(conn, domain.resource_type)
    if mark is None or mark.watermark is None or mark.last_full_at is None:
        return IntakeDue(reason=f"first-scan-of-{domain.resource_type}", full=False)
    now = read_now(conn)
    if now - mark.last_full_at > FULL_EVERY:
        return IntakeDue(reason="daily-reconciliation", full=True)
    changed = latest_change(conn, domain)
    # A row of the watermark's own second may have been committed after the scan read the table.
    if changed is None or changed < mark.watermark.replace(microsecond=0):
        return None
    if changed <= now or now - mark.watermark >= FUTURE_EVERY:
        return IntakeDue(reason=f"changes-in-{domain.resource_type}", full=False)
    return None
