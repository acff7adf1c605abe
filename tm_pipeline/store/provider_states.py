"""One row per provider: circuit, shared pause and who paused it (design §9)."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, case, or_, select, update

from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.tables import provider_state as t
from tm_pipeline.store.upserts import upsert

REASON_CHARACTERS = 500
CLOSED, OPEN = "CLOSED", "OPEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """What stops a provider, if anything."""

    provider: str
    circuit: str
    reason: str | None
    opened_at: datetime | None
    blocked_until: datetime | None
    paused_by: str | None


def load_states(conn: Connection) -> dict[str, ProviderState]:
    """The states by provider; a provider without a row was never stopped."""
    rows = conn.execute(select(t.c.provider, t.c.circuit, t.c.reason, t.c.opened_at, t.c.blocked_until, t.c.paused_by))
    return {row.provider: ProviderState(**row._asdict()) for row in rows}


def stopped_providers(conn: Connection) -> frozenset[str]:
    """The providers that may not be called now: circuit open, or in a pause that has not ended."""
    stopped = or_(t.c.circuit != CLOSED, t.c.blocked_until > now_precise())
    return frozenset(conn.execute(select(t.c.provider).where(stopped)).scalars())


def _ensure(conn: Connection, provider: str) -> None:
    upsert(conn, t, [{"provider": provider, "circuit": CLOSED}], key=("provider",), changed=("provider",))


def block_until(conn: Connection, provider: str, seconds: int, reason: str) -> None:
    """Pause every worker's calls for ``seconds``; never shortens a longer pause."""
    _ensure(conn, provider)
    until = now_precise(seconds)
    later = case((t.c.blocked_until > until, t.c.blocked_until), else_=until)
    conn.execute(
        update(t).where(t.c.provider == provider).values(blocked_until=later, reason=reason[:REASON_CHARACTERS])
    )


def open_circuit(conn: Connection, provider: str, reason: str) -> None:
    """Stop spending until a person closes the circuit; the first reason stays."""
    _ensure(conn, provider)
    conn.execute(
        update(t)
        .where(t.c.provider == provider, t.c.circuit == CLOSED)
        .values(circuit=OPEN, reason=reason[:REASON_CHARACTERS], opened_at=now_precise())
    )


def close_circuit(conn: Connection, provider: str) -> None:
    """Let calls through again, and end any pause."""
    conn.execute(
        update(t)
        .where(t.c.provider == provider)
        .values(circuit=CLOSED, reason=None, opened_at=None, blocked_until=None, paused_by=None)
    )


def pause(conn: Connection, provider: str, by: str, reason: str) -> None:
    """Stop a provider by hand."""
    open_circuit(conn, provider, reason)
    conn.execute(
        update(t).where(t.c.provider == provider).values(paused_by=by[:128], reason=reason[:REASON_CHARACTERS])
    )
