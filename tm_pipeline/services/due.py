"""What sensors ask: is a tick, an intake or a read model due? At most three indexed statements, never a full count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.ticks import waiting_words
from tm_pipeline.services.claim import claimable_domains
from tm_pipeline.services.context import Context
from tm_pipeline.store.requests import pending_requests_exist
from tm_pipeline.store.snapshots import (
    DueSnapshot,
    RefreshSnapshot,
    due_snapshot,
    latest_changes,
    refresh_snapshot,
    watermarks,
)
from tm_pipeline.store.watermarks import Watermark

FULL_EVERY = timedelta(hours=24)
FUTURE_EVERY = timedelta(minutes=1)  # a time ahead of the database's clock stays newer than every scan


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeDue:
    """Why an intake is due, in the alphabet of run tags, and whether it reconciles whole tables."""

    reason: str
    full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeIdle:
    """Why none is due, in numbers."""

    reason: str


def tick_snapshot(ctx: Context, resource_types: Sequence[str] | None = None) -> DueSnapshot:
    """The due work of the given domains, by default all, whose engine may be called now."""
    domains = claimable_domains(ctx, resource_types)
    asked = len(ctx.registry.domains) if resource_types is None else len(resource_types)
    with ctx.db.read() as conn:
        return due_snapshot(conn, domains, stopped_domains=asked - len(domains))


def read_models_due(ctx: Context) -> RefreshSnapshot:
    """The configured domains with due refresh marks, and what waits."""
    with ctx.db.read() as conn:
        return refresh_snapshot(conn, [domain.resource_type for domain in ctx.registry])


def read_models_idle_reason(snapshot: RefreshSnapshot) -> str:
    """Why no read model is rebuilt now, in numbers."""
    return f"0 read models due, {waiting_words(snapshot.waiting, snapshot.next_due_seconds)}"


def intake_due(ctx: Context) -> IntakeDue | IntakeIdle:
    """The first reason for an intake: an outbox row, a daily reconciliation, a changed source table."""
    domains = list(ctx.registry)
    with ctx.db.read() as conn:
        if pending_requests_exist(conn):
            return IntakeDue(reason="outbox", full=False)
        marks, now = watermarks(conn)
        changes = {} if now is None else latest_changes(conn, domains)
    return decide_intake(now=now, domains=domains, marks=marks, changes=changes)


def decide_intake(
    *,
    now: datetime | None,
    domains: Sequence[Domain],
    marks: Mapping[str, Watermark],
    changes: Mapping[str, datetime],
) -> IntakeDue | IntakeIdle:
    """Decide without an outbox row; ``now`` is the database's, and None before the first scan of all."""
    next_full: list[float] = []
    for domain in domains:
        name = domain.resource_type
        mark = marks.get(name)
        if now is None or mark is None or mark.watermark is None or mark.last_full_at is None:
            return IntakeDue(reason=f"first-scan-of-{name}", full=False)
        if now - mark.last_full_at > FULL_EVERY:
            return IntakeDue(reason="daily-reconciliation", full=True)
        if _has_changed(now, mark.watermark, changes.get(name)):
            return IntakeDue(reason=f"changes-in-{name}", full=False)
        next_full.append((mark.last_full_at + FULL_EVERY - now).total_seconds())
    wait = f", next reconciliation in {min(next_full):.0f} s" if next_full else ""
    return IntakeIdle(reason=f"0 outbox rows, 0 of {len(domains)} source tables changed{wait}")


def _has_changed(now: datetime, watermark: datetime, changed: datetime | None) -> bool:
    # A row of the watermark's own second may have been committed after the scan read the table.
    if changed is None or changed < watermark.replace(microsecond=0):
        return False
    return changed <= now or now - watermark >= FUTURE_EVERY
