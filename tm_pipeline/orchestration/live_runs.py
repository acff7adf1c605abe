"""What sensors ask of Dagster's run storage: is one live, when did the last one end, was a failed one made good?"""

from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.domain.ended_runs import EndedRun, RunHistory
from tm_pipeline.orchestration.tags import ROOT_RUN

ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
LIVE = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)
LOOKED_AT_RUNS = 8  # records come in the order of creation, not of their end


def live_runs(instance: dg.DagsterInstance, *, limit: int = 1, **conditions: object) -> int:
    """How many runs of these conditions (``job_name``, ``tags``) are queued, starting or working, up to ``limit``."""
    filters = dg.RunsFilter(statuses=list(LIVE), **conditions)  # type: ignore[arg-type]
    return len(instance.get_run_records(filters, limit=limit))


def ended_runs(instance: dg.DagsterInstance, now: datetime, **conditions: object) -> RunHistory:
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
    return RunHistory.of(found, now)


def root_run_id(run: dg.DagsterRun) -> str:
    """The first run of the chain of re-executions that ``run`` belongs to: it owns what any of them claims."""
    return run.root_run_id or run.run_id


def chain_is_live(instance: dg.DagsterInstance, root: str) -> bool:
    """Whether a re-execution of this chain is live and holds what the chain claimed."""
    return live_runs(instance, tags={ROOT_RUN: root}) > 0


def made_good(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Whether a later run of the same chain is live or succeeded, so that the failure of ``run`` asks for nobody."""
    chain = dg.RunsFilter(tags={ROOT_RUN: root_run_id(run)}, statuses=[dg.DagsterRunStatus.SUCCESS, *LIVE])
    later = instance.get_run_records(chain, limit=LOOKED_AT_RUNS)
    own = instance.get_run_records(dg.RunsFilter(run_ids=[run.run_id]), limit=1)
    return any(record.storage_id > own[0].storage_id for record in later) if own else bool(later)
