"""Alerts: book each fault once, tell it at least once, never disturb the work (design §12.4).

Booking is exact: a unique key for each fault, in one transaction with the count of what was held back. Delivery
is repeated until the receiver takes it or a bound is reached, so a receiver may see one twice; ``key`` tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tm_pipeline.domain.alerts import (
    QUIET,
    Alert,
    alert_body,
    database_alert,
    fault,
    is_quiet,
    one_line,
    provider_alert,
)
from tm_pipeline.domain.errors import AlertDeliveryError, DatabaseUnavailableError
from tm_pipeline.ports import AlertSink
from tm_pipeline.services.context import Context
from tm_pipeline.store.alerts import (
    AlertState,
    Delivery,
    book_alert,
    booked_keys,
    due_deliveries,
    open_circuits,
    settle_delivery,
    take_delivery,
    undelivered_alerts,
)

DELIVERY_ATTEMPTS = 8
DELIVERIES_A_LOOK = 5  # each may take the whole time-out, and Dagster cuts a sensor off after 60 s
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 30, 1_800
DATABASE_RETRY_SECONDS = 60
ERROR_CHARACTERS = 300

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """What became of a fault: told now, held back, or booked already (``state`` None)."""

    alert: Alert
    state: AlertState | None

    @property
    def reason(self) -> str:
        """One line for the sensor."""
        if self.state is None:
            return f"{self.alert.key} was told or held back already"
        if self.state is AlertState.HELD:
            return f"{self.alert.key} held back: the same fault was told less than an hour ago"
        return f"told: {self.alert.title}"


@dataclass(slots=True)
class Delivered:
    """What one round of deliveries did."""

    sent: int = 0
    logged: int = 0
    failed: int = 0
    given_up: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """One line for the sensor."""
        return f"{self.sent} sent, {self.failed} to try again, {self.given_up} given up"


def book(ctx: Context, alert: Alert, *, same: str | None = None, tell: Tell) -> Booked:
    """Book ``alert`` and write its log line; ``same`` names the fault that many runs may share."""
    name = same or fault(alert.kind.value, alert.key)
    found = ctx.db.run(lambda conn: book_alert(conn, alert, fault=name, may_be_held=same is not None))
    if found is None:
        return Booked(alert=alert, state=None)
    state, told = found
    if state is AlertState.PENDING:
        tell(log_line(told))
    return Booked(alert=told, state=state)


def log_line(alert: Alert) -> str:
    """The line that is written whatever becomes of the webhook."""
    where = f" {alert.url}" if alert.url else ""
    run = f" [run {alert.root_run_id}]" if alert.root_run_id else ""
    return f"ALERT {alert.title} | {alert.text}{run}{where}"


def circuit_alerts(ctx: Context, secrets: Sequence[str] = ()) -> list[Alert]:
    """One alert for each provider that stopped by itself, the same for as long as it stays stopped."""
    with ctx.db.read() as conn:
        stopped = open_circuits(conn)
    return [provider_alert(item.provider, item.reason, item.opened_at, secrets) for item in stopped]


def not_booked(ctx: Context, keys: Sequence[str]) -> frozenset[str]:
    """Those of ``keys`` that nobody was told of yet."""
    if not keys:
        return frozenset()
    with ctx.db.read() as conn:
        return frozenset(keys) - booked_keys(conn, keys)


def tell_of_database(
    error: DatabaseUnavailableError,
    sink: AlertSink | None,
    *,
    now: datetime,
    last: float | None,
    secrets: Sequence[str],
    tell: Tell,
) -> tuple[float, str]:
    """Tell of a database in which nothing can be booked, once an hour; returns when it was told and a reason.

    Where the webhook does not take it, the time is one that makes it due again in a minute.
    """
    silent = "the pipeline's database does not answer"
    if last is not None and is_quiet(now, datetime.fromtimestamp(last, UTC)):
        return last, f"{silent}; told {now.timestamp() - last:.0f} s ago"
    alert = database_alert(str(error), secrets)
    tell(log_line(alert))
    try:
        if sink is not None:
            sink.send(alert_body(alert, now))
    except AlertDeliveryError as refused:
        return (now - QUIET).timestamp() + DATABASE_RETRY_SECONDS, f"{silent}; {one_line(str(refused), 200)}"
    return now.timestamp(), f"{silent}; told now"


def deliver_due(ctx: Context, sink: AlertSink | None) -> Delivered:
    """Try each alert that is due once; without a sink the log line was all there is to do."""
    with ctx.db.read() as conn:
        due = due_deliveries(conn, DELIVERIES_A_LOOK)
    done = Delivered()
    for delivery in due:
        if sink is None:
            ctx.db.run(lambda conn, item=delivery: settle_delivery(conn, item.id, AlertState.LOGGED))  # type: ignore[misc]
            done.logged += 1
        else:
            _deliver(ctx, sink, delivery, done)
    return done


def _deliver(ctx: Context, sink: AlertSink, delivery: Delivery, done: Delivered) -> None:
    wait = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**delivery.attempts)
    if not ctx.db.run(lambda conn: take_delivery(conn, delivery, retry_seconds=wait)):
        return
    try:
        sink.send(delivery.body)
    except AlertDeliveryError as error:
        last = delivery.attempts + 1 >= DELIVERY_ATTEMPTS
        reason = one_line(str(error), ERROR_CHARACTERS)
        state = AlertState.GIVEN_UP if last else AlertState.PENDING
        ctx.db.run(lambda conn: settle_delivery(conn, delivery.id, state, reason))
        done.given_up, done.failed = done.given_up + last, done.failed + (not last)
        done.errors.append(f"{delivery.body.get('title')}: {reason}")
        return
    ctx.db.run(lambda conn: settle_delivery(conn, delivery.id, AlertState.SENT))
    done.sent += 1


def undelivered(ctx: Context) -> int:
    """Alerts of the last day that were given up."""
    with ctx.db.read() as conn:
        return undelivered_alerts(conn)
