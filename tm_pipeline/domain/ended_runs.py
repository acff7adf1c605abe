"""What the ends of earlier runs say about the next one, whatever the clock did in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 15, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run that is over; ``ended`` is an aware UTC time."""

    run_id: str
    ended: datetime
    failed: bool


def last_to_end_first(created: Sequence[EndedRun], now: datetime) -> list[EndedRun]:
    """``created`` (the last one created first) in the order of their ends, the last one first.

    An end in the future was written before the clock stepped back. It counts only where no run has been
    created since; otherwise it would be the last end until the clock has caught up, and every decision
    would be taken as if nothing had run since.
    """
    if created and created[0].ended > now:
        return list(created)
    past = [run for run in created if run.ended <= now]
    return sorted(past, key=lambda run: run.ended, reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistory:
    """Ended runs of one kind, the last one to end first.

    ``last_created`` is the id of the one created last, ``none`` before the first. Run keys are built from it and
    not from the last end: after the clock stepped back an older end may come last again, and Dagster drops a run
    whose key it has seen.
    """

    runs: tuple[EndedRun, ...]
    last_created: str

    @classmethod
    def of(cls, created: Sequence[EndedRun], now: datetime) -> "RunHistory":
        """The history of ``created``, in which the last one created comes first."""
        last = created[0].run_id if created else "none"
        return cls(runs=tuple(last_to_end_first(created, now)), last_created=last)

    @property
    def last_end(self) -> datetime | None:
        """When the last one ended; None before the first."""
        return self.runs[0].ended if self.runs else None


def wait_after_failures(ended: Sequence[EndedRun], now: datetime, *, longest: int = LONGEST_WAIT_SECONDS) -> int:
    """Seconds until the next try after runs that failed one after the other; 0 where the last one did not.

    What made the last run fail is usually still there five seconds later.
    """
    failures = 0
    for run in ended:
        if not run.failed:
            break
        failures += 1
    if failures == 0:
        return 0
    wait = min(longest, FIRST_WAIT_SECONDS * 2 ** (failures - 1))
    left = wait - (now - ended[0].ended).total_seconds()
    return max(0, round(left)) if left <= wait else 0
