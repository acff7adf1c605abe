"""When the next run may start: pure decisions on numbers, each with its reason in numbers (S85–S93; design §12.3)."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TickSettings:
    """Delays and thresholds; a backlog over either threshold shortens the delay to ``backlog_delay_seconds``."""

    fixed_delay_seconds: float = 600.0
    backlog_groups: int = 50
    backlog_age_seconds: int = 1_800
    backlog_delay_seconds: float = 5.0

    def delay(self, *, backlog: bool) -> float:
        """Seconds between the end of a tick and the next one; a backlog never lengthens them."""
        return min(self.backlog_delay_seconds, self.fixed_delay_seconds) if backlog else self.fixed_delay_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTick:
    """Run now."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipTick:
    """Do not run; the reason has numbers."""

    reason: str


def idle_reason(due_groups: int, waiting: int, next_due_seconds: int | None, *, stopped_domains: int = 0) -> str:
    """Why there is nothing to do, with numbers: "0 due, 12 waiting for back-off, next in 184 s"."""
    stopped = f"; {stopped_domains} domains wait for a stopped provider" if stopped_domains else ""
    return f"{due_groups} due, {waiting_words(waiting, next_due_seconds)}{stopped}"


def waiting_words(waiting: int, next_seconds: int | None) -> str:
    """How much waits and until when: "12 waiting for back-off, next in 184 s"."""
    wait = "" if next_seconds is None else f", next in {next_seconds} s"
    return f"{waiting} waiting for back-off{wait}"


def is_backlog(due_groups: int, oldest_age_seconds: int, settings: TickSettings) -> bool:
    """Whether more is due, or has been due for longer, than ordinary ticks should leave."""
    too_old = bool(due_groups) and oldest_age_seconds >= settings.backlog_age_seconds
    return due_groups >= settings.backlog_groups or too_old


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
    stopped_domains: int = 0,
) -> RunTick | SkipTick:
    """Decide on the numbers alone: never beside a live tick, never with nothing due, never too early.

    An end further in the future than the delay comes from a clock that stepped back; it does not block.
    """
    if live_runs:
        return SkipTick(reason=f"a tick is running ({live_runs})")
    if due_groups == 0:
        return SkipTick(reason=idle_reason(due_groups, waiting, next_due_seconds, stopped_domains=stopped_domains))
    backlog = is_backlog(due_groups, oldest_age_seconds, settings)
    delay = settings.delay(backlog=backlog)
    if last_end is not None:
        left = delay - (now - last_end).total_seconds()
        if 0 < left <= 2 * delay:
            return SkipTick(reason=f"{due_groups} due, next tick in {left:.0f} s")
    why = "backlog" if backlog else "fixed delay"
    return RunTick(reason=f"{why}: {due_groups} due, oldest {oldest_age_seconds} s")


def decide_drain(
    *, live_runs: int, wait_seconds: int, due_groups: int, oldest_age_seconds: int, settings: TickSettings, host: str
) -> RunTick | SkipTick:
    """A backlog run beside the ticks: one on each host while either threshold is exceeded."""
    if live_runs:
        return SkipTick(reason=f"a backlog run is live on {host} ({live_runs})")
    if wait_seconds:
        return SkipTick(reason=f"the last backlog run on {host} failed, next try in {wait_seconds} s")
    numbers = (
        f"{due_groups} due of {settings.backlog_groups}, oldest {oldest_age_seconds} s of "
        f"{settings.backlog_age_seconds} s"
    )
    if is_backlog(due_groups, oldest_age_seconds, settings):
        return RunTick(reason=f"backlog: {numbers}")
    return SkipTick(reason=f"{numbers}: no backlog")


def decide_immediate(
    *,
    domains: int,
    live_runs: int,
    wait_seconds: int,
    due_groups: int,
    waiting: int,
    next_due_seconds: int | None,
) -> RunTick | SkipTick:
    """Run at once what must show at once: no delay, but never two at once and not straight after a failure."""
    if domains == 0:
        return SkipTick(reason="no domain is immediate")
    if live_runs:
        return SkipTick(reason=f"an immediate run is live ({live_runs})")
    if wait_seconds:
        return SkipTick(reason=f"the last immediate run failed, next try in {wait_seconds} s")
    numbers = f"{due_groups} due of {domains} immediate domains"
    if due_groups == 0:
        return SkipTick(reason=f"{numbers}, {waiting_words(waiting, next_due_seconds)}")
    return RunTick(reason=f"immediate: {numbers}")
