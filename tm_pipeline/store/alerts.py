"""Alerts: booked once by their key, held back while their fault is quiet, kept until they are delivered or given up."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tm_pipeline.domain.alerts import Alert, alert_body, is_quiet, with_held_back
from tm_pipeline.store.clock import now_precise, read_now
from tm_pipeline.store.provider_states import OPEN
from tm_pipeline.store.tables import alert as t
from tm_pipeline.store.tables import alert_fault, provider_state
from tm_pipeline.store.upserts import upsert

ERROR_CHARACTERS = 500
KEPT_DAYS = 90
PRUNED_ROWS = 100


class AlertState(StrEnum):
    """Where an alert is."""

    PENDING = "PENDING"  # to be delivered
    HELD = "HELD"  # the same fault was told a short time ago; counted in its next alert
    LOGGED = "LOGGED"  # told in the log; no webhook was set
    SENT = "SENT"
    GIVEN_UP = "GIVEN_UP"  # the webhook refused it too often


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An alert that is to be delivered now."""

    id: int
    body: Mapping[str, Any]
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCircuit:
    """A provider that stopped by itself."""

    provider: str
    reason: str | None
    opened_at: datetime | None


def book_alert(conn: Connection, alert: Alert, *, fault: str, may_be_held: bool) -> tuple[AlertState, Alert] | None:
    """Book ``alert`` unless its key is booked already, which gives None; call it in a transaction of its own.

    The fault's row is locked first, so that of two runs that fail at once for one reason one is told.
    """
    last = _locked_fault(conn, fault)
    now = read_now(conn)
    held = may_be_held and is_quiet(now, last.alerted_at)
    told = alert if held else with_held_back(alert, last.held_back)
    state = AlertState.HELD if held else AlertState.PENDING
    row = {
        "alert_key": alert.key,
        "fault": fault,
        "state": state.value,
        "body": json.dumps(alert_body(told, now), ensure_ascii=False),
        "attempts": 0,
        "next_attempt_at": now,
        "booked_at": now,
    }
    if not _insert_new(conn, row):
        return None
    counted = {"held_back": alert_fault.c.held_back + 1} if held else {"held_back": 0, "alerted_at": now}
    conn.execute(update(alert_fault).where(alert_fault.c.fault == fault).values(**counted))
    _prune(conn)
    return state, told


def _locked_fault(conn: Connection, fault: str) -> Any:
    upsert(conn, alert_fault, [{"fault": fault, "held_back": 0}], key=("fault",), changed=("fault",))
    f = alert_fault.c
    return conn.execute(select(f.alerted_at, f.held_back).where(f.fault == fault).with_for_update()).one()


def _insert_new(conn: Connection, row: Mapping[str, Any]) -> bool:
    """Insert unless the key is there; true where a row was added."""
    try:
        with conn.begin_nested():
            conn.execute(insert(t).values(**row))
    except IntegrityError:
        return False
    return True


def _prune(conn: Connection) -> None:
    """Forget the oldest alerts; each booking removes more than it adds, so that the table stays small."""
    aged = now_precise(-KEPT_DAYS * 86_400)
    oldest = select(t.c.id, (t.c.booked_at < aged).label("aged")).order_by(t.c.id).limit(PRUNED_ROWS)
    ids = [row.id for row in conn.execute(oldest) if row.aged]
    if ids:
        conn.execute(delete(t).where(t.c.id.in_(ids)))


def booked_keys(conn: Connection, keys: Sequence[str]) -> frozenset[str]:
    """Those of ``keys`` that are booked already."""
    return frozenset(conn.execute(select(t.c.alert_key).where(t.c.alert_key.in_(list(keys)))).scalars())


def due_deliveries(conn: Connection, limit: int) -> list[Delivery]:
    """The alerts to deliver now, the one that is due longest first."""
    due = (
        select(t.c.id, t.c.body, t.c.attempts)
        .where(t.c.state == AlertState.PENDING.value, t.c.next_attempt_at <= now_precise())
        .order_by(t.c.next_attempt_at, t.c.id)
        .limit(limit)
    )
    return [Delivery(id=row.id, body=json.loads(row.body), attempts=row.attempts) for row in conn.execute(due)]


def take_delivery(conn: Connection, delivery: Delivery, *, retry_seconds: int) -> bool:
    """Count an attempt and put the next one off; false where another process took this attempt."""
    taken = conn.execute(
        update(t)
        .where(t.c.id == delivery.id, t.c.state == AlertState.PENDING.value, t.c.attempts == delivery.attempts)
        .values(attempts=delivery.attempts + 1, next_attempt_at=now_precise(retry_seconds))
    )
    return taken.rowcount == 1


def settle_delivery(conn: Connection, delivery_id: int, state: AlertState, error: str | None = None) -> None:
    """What became of an attempt; the reason of the last failed one stays for a person to read."""
    told = {"told_at": now_precise()} if state in (AlertState.SENT, AlertState.LOGGED) else {}
    reason = {"last_error": error[:ERROR_CHARACTERS]} if error else {}
    conn.execute(update(t).where(t.c.id == delivery_id).values(state=state.value, **told, **reason))


def open_circuits(conn: Connection) -> list[OpenCircuit]:
    """The providers that stopped by themselves; one that a person paused is no news."""
    s = provider_state.c
    stopped = select(s.provider, s.reason, s.opened_at).where(s.circuit == OPEN, s.paused_by.is_(None))
    return [
        OpenCircuit(provider=row.provider, reason=row.reason, opened_at=row.opened_at) for row in conn.execute(stopped)
    ]


def undelivered_alerts(conn: Connection, days: int = 1) -> int:
    """Alerts given up within the last ``days``, which nobody received but in the log."""
    since = now_precise(-days * 86_400)
    given_up = select(func.count()).where(t.c.state == AlertState.GIVEN_UP.value, t.c.next_attempt_at >= since)
    return int(conn.execute(given_up).scalar_one())
