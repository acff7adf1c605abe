"""When the next tick may run: a fixed delay, counted from the end of the last one (S85–S92; design §12.3)."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TickSettings:
    """Delays and thresholds; a backlog over either threshold shortens the delay to ``backlog_delay_seconds``."""

    fixed_delay_seconds: float = 600.0
    backlog_groups: int = 50
    backlog_age_seconds: int = 1_800
    backlog_delay_seconds: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTick:
    """Run now."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipTick:
    """Do not run; the reason has numbers."""

    reason: str


def idle_reason(due_groups: int, waiting: int, next_due_seconds: int | None) -> str:
    """Why there is nothing to do, with numbers: "0 due, 12 waiting for back-off, next in 184 s"."""
    wait = "" if next_due_seconds is None else f", next in {next_due_seconds} s"
    return f"{due_groups} due, {waiting} waiting for back-off{wait}"


def decide_tick(
    *,
    now: datetime,
    last_end: datetime | None,
    live_runs: int,
    due_groups: int,
    waiting: int,
    next_due_seconds: int | None,
    oldest_age_seconds: int,
    settings: TickSettings,
) -> RunTick | SkipTick:
    """Decide on the numbers alone: never beside a live tick, never with nothing due, never too early.

    An end further in the future than the delay comes from a clock that stepped back; it does not block.
    """
    if live_runs:
        return SkipTick(reason=f"a tick is running ({live_runs})")
    if due_groups == 0:
        return SkipTick(reason=idle_reason(due_groups, waiting, next_due_seconds))
    backlog = due_groups >= settings.backlog_groups or oldest_age_seconds >= settings.backlog_age_seconds
    delay = (
        min(settings.backlog_delay_seconds, settings.fixed_delay_seconds) if backlog else settings.fixed_delay_seconds
    )
    if last_end is not None:
        left = delay - (now - last_end).total_seconds()
        if 0 < left <= 2 * delay:
            return SkipTick(reason=f"{due_groups} due, next tick in {left:.0f} s")
    why = "backlog" if backlog else "fixed delay"
    return RunTick(reason=f"{why}: {due_groups} due, oldest {oldest_age_seconds} s")
