"""What sensors ask of Dagster's run storage: is one live, when did the last one end, did the last ones fail?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.orchestration.tags import ROOT_RUN

ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
LIVE = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)
LOOKED_AT_RUNS = 6  # records come in the order of creation, not of their end
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 15, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run that is over; ``ended`` is an aware UTC time."""

    run_id: str
    ended: datetime
    failed: bool


def live_runs(instance: dg.DagsterInstance, *, limit: int = 1, **conditions: object) -> int:
    """How many runs of these conditions (``job_name``, ``tags``) are queued, starting or working, up to ``limit``."""
    filters = dg.RunsFilter(statuses=list(LIVE), **conditions)  # type: ignore[arg-type]
    return len(instance.get_run_records(filters, limit=limit))


def ended_runs(instance: dg.DagsterInstance, **conditions: object) -> Sequence[EndedRun]:
    """The newest of the runs of these conditions that are over, the last one to end first."""
    filters = dg.RunsFilter(statuses=list(ENDED), **conditions)  # type: ignore[arg-type]
    found = [
        EndedRun(
            run_id=record.dagster_run.run_id,
            # A run that never started has no end of its own.
            ended=datetime.fromtimestamp(record.end_time, UTC) if record.end_time else record.update_timestamp,
            failed=record.dagster_run.status is dg.DagsterRunStatus.FAILURE,
        )
        for record in instance.get_run_records(filters, limit=LOOKED_AT_RUNS)
    ]
    return sorted(found, key=lambda run: run.ended, reverse=True)


def wait_after_failures(ended: Sequence[EndedRun], now: datetime) -> int:
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
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (failures - 1))
    left = wait - (now - ended[0].ended).total_seconds()
    return max(0, round(left)) if left <= wait else 0


def root_run_id(run: dg.DagsterRun) -> str:
    """The first run of the chain of re-executions that ``run`` belongs to: it owns what any of them claims."""
    return run.root_run_id or run.run_id


def chain_is_live(instance: dg.DagsterInstance, root: str) -> bool:
    """Whether a re-execution of this chain is live and holds what the chain claimed."""
    return live_runs(instance, tags={ROOT_RUN: root}) > 0
