"""Forgetting old runs, which Dagster keeps for ever (S94).

What happened to a text stays in ``translation_event`` and ``provider_call``. Kept besides young and live runs:
the newest of each job, because the delay of the next tick is counted from them; a whole chain of
re-executions while one of it is kept; and the last materialisation of each asset, which its page shows.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg

from tm_pipeline.orchestration.live_runs import ENDED, root_run_id
from tm_pipeline.services.context import Context
from tm_pipeline.services.outputs import forget_outputs
from tm_pipeline.wiring import current_application

PAGE_RUNS = 500
MOST_RUNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """A run as pruning looks at it: its chain, its job, and when it ended (None while it lives)."""

    run_id: str
    root: str
    job: str
    ended: datetime | None


def prunable(
    runs: Sequence[KnownRun], *, before: datetime, keep_of_each_job: int, needed: frozenset[str], most: int
) -> list[str]:
    """The ids to delete of ``runs``, which come newest first; at most ``most``, the oldest ones."""
    seen: dict[str, int] = defaultdict(int)
    kept_roots: set[str] = set()
    for run in runs:
        seen[run.job] += 1
        young = run.ended is None or run.ended >= before
        if young or seen[run.job] <= keep_of_each_job or run.run_id in needed:
            kept_roots.add(run.root)
    old = [run.run_id for run in runs if run.root not in kept_roots]
    return old[::-1][:most]


def known_runs(instance: dg.DagsterInstance) -> Iterator[KnownRun]:
    """Every run of the instance, newest first."""
    cursor = None
    while records := instance.get_run_records(limit=PAGE_RUNS, cursor=cursor):
        for record in records:
            run = record.dagster_run
            ended = datetime.fromtimestamp(record.end_time, UTC) if record.end_time else record.update_timestamp
            yield KnownRun(
                run_id=run.run_id,
                root=root_run_id(run),
                job=run.job_name,
                ended=ended if run.status in ENDED else None,
            )
        cursor = records[-1].dagster_run.run_id


def runs_to_prune(
    instance: dg.DagsterInstance, now: datetime, *, older_than_days: int, keep_of_each_job: int, most: int
) -> list[str]:
    """The ids of the runs that may be forgotten, oldest first."""
    events = [instance.get_latest_materialization_event(key) for key in instance.all_asset_keys()]
    return prunable(
        list(known_runs(instance)),
        before=now - timedelta(days=older_than_days),
        keep_of_each_job=keep_of_each_job,
        needed=frozenset(event.run_id for event in events if event is not None),
        most=most,
    )


def forget(ctx: Context, instance: dg.DagsterInstance, run_ids: Sequence[str]) -> int:
    """Delete the runs with their events, captured output and stored op outputs; returns how many."""
    for run_id in run_ids:
        forget_outputs(ctx, run_id)
        instance.compute_log_manager.delete_logs(prefix=[run_id])
        instance.delete_run(run_id)
    return len(run_ids)


def prune(
    ctx: Context,
    instance: dg.DagsterInstance,
    *,
    older_than_days: int,
    keep_of_each_job: int,
    dry_run: bool,
    most: int = MOST_RUNS,
) -> dict[str, int]:
    """Forget what may be forgotten, at most ``most`` runs; returns how many ``matched`` and were ``deleted``."""
    old = runs_to_prune(
        instance,
        datetime.now(UTC),
        older_than_days=older_than_days,
        keep_of_each_job=keep_of_each_job,
        most=most,
    )
    return {"matched": len(old), "deleted": 0 if dry_run else forget(ctx, instance, old)}


def main() -> None:
    """Prune the instance of DAGSTER_HOME by the JSON form on the command line; prints the counts."""
    form = json.loads(sys.argv[1])
    with dg.DagsterInstance.get() as instance:
        print(json.dumps(prune(current_application().context, instance, **form)))  # noqa: T201 - read by its caller


if __name__ == "__main__":
    main()
