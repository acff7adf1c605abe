"""The summary of a run that claims: written by its last op, or where that did not come so far, into its event log."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.events import EngineEventData

from tm_pipeline.orchestration.metadata import report_metadata
from tm_pipeline.services.context import Context
from tm_pipeline.services.run_report import report_run

UNSETTLED = "Summary of a run that ended early"


def run_summary(ctx: Context, owner: str, released: int) -> dict[str, Any]:
    """The metadata of the chain of runs that ``owner`` began."""
    return report_metadata(report_run(ctx, owner), released)


def summary_line(summary: Mapping[str, Any]) -> str:
    """The same in one line of the log."""
    stopped = summary["failed"] + summary["needs_review"] + summary["needs_credential"]
    return (
        f"{summary['groups']} groups, {summary['completed']} fields completed, {summary['from_memory']} of them from "
        f"memory, {stopped} need a person, {summary['retry_scheduled']} wait for a retry; "
        f"{summary['provider_calls']} calls, {summary['characters']} characters; {summary['released']} jobs given back"
    )


def report_unsettled(ctx: Context, instance: dg.DagsterInstance, run: dg.DagsterRun, owner: str, released: int) -> None:
    """Write the summary into the event log of a run whose `settle_tick` did not run, once.

    The run itself does so when it can; the release sensors do so for a run whose process is gone.
    """
    told = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    if any(entry.dagster_event and (entry.dagster_event.message or "").startswith(UNSETTLED) for entry in told):
        return
    summary = run_summary(ctx, owner, released)
    instance.report_engine_event(
        f"{UNSETTLED}: {summary_line(summary)}", run, engine_event_data=EngineEventData(metadata=summary)
    )
