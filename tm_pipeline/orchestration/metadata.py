"""How results look in the UI: counts as numbers, groups as a table.

What belongs here: turning a service's result into Dagster metadata. What does not: deciding anything.
"""

from collections.abc import Sequence
from typing import Any

from dagster import MetadataValue

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services.materialise import Materialised
from tm_pipeline.services.record import GroupResult
from tm_pipeline.services.reserve import Reserved
from tm_pipeline.services.run_report import RunReport
from tm_pipeline.store.runs import GroupCounts

SHOWN_GROUPS = 50
SHOWN_FAILURES = 5


def group_line(result: GroupResult) -> str:
    """One group in one line of the log."""
    became = ", ".join(f"{count} {status}" for status, count in result.statuses.items()) or "nothing written"
    why = f" ({result.message})" if result.message else ""
    return (
        f"{result.key}: {became}; {result.reused} from memory, {result.calls} calls, "
        f"{result.characters} characters, {result.seconds:.1f} s{why}"
    )


def step_metadata(results: Sequence[GroupResult]) -> dict[str, Any]:
    """The numbers of one step, and the first message that a person should read."""
    message = next((result.message for result in results if result.message), None)
    return {
        "completed": sum(result.completed for result in results),
        "retry_scheduled": sum(result.retried - result.given_back for result in results),
        "given_back": sum(result.given_back for result in results),
        "failed": sum(result.failed for result in results),
        "needs_review": sum(result.review for result in results),
        "needs_credential": sum(result.credential for result in results),
        "from_memory": sum(result.reused for result in results),
        "provider_calls": sum(result.calls for result in results),
        "characters": sum(result.characters for result in results),
        "seconds": round(sum(result.seconds for result in results), 3),
        **({"message": message} if message else {}),
    }


def step_output(results: Sequence[GroupResult]) -> list[dict[str, Any]]:
    """What the mapped op hands on: keys and counts, never texts."""
    return [
        {"group": str(result.key), **result.statuses, "calls": result.calls, "seconds": round(result.seconds, 3)}
        for result in results
    ]


def report_metadata(report: RunReport, released: int) -> dict[str, Any]:
    """The summary of a chain of runs: totals and a table of groups."""
    completed = report.count(JobStatus.COMPLETED)
    return {
        "groups": len(report.groups),
        "completed": completed,
        "retry_scheduled": report.count(JobStatus.PENDING),
        "failed": report.count(JobStatus.FAILED),
        "needs_review": report.count(JobStatus.NEEDS_REVIEW),
        "needs_credential": report.count(JobStatus.NEEDS_CREDENTIAL),
        "released": released,
        "from_memory": report.reused,
        "memory_hit_rate": round(report.reused / completed, 4) if completed else 0.0,
        "provider_calls": report.calls,
        "characters": report.characters,
        "characters_billed": report.billed,
        **({"call_p50_ms": report.call_p50_ms} if report.call_p50_ms is not None else {}),
        **({"call_p95_ms": report.call_p95_ms} if report.call_p95_ms is not None else {}),
        "table": MetadataValue.md(_table(report.groups)),
    }


def _table(groups: Sequence[GroupCounts]) -> str:
    rows = [f"| {group.key} | {_became(group)} | {group.reused} |" for group in groups[:SHOWN_GROUPS]]
    rest = len(groups) - SHOWN_GROUPS
    more = [f"| … and {rest} more | | |"] if rest > 0 else []
    return "\n".join(["| group | became | from memory |", "| --- | --- | --- |", *rows, *more])


def _became(group: GroupCounts) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(group.statuses.items()))


def reserved_metadata(reserved: Reserved) -> dict[str, int]:
    """The counts of an intake."""
    names = (
        "resources",
        "unchanged",
        "withdrawn",
        "segments",
        "passthrough",
        "hits",
        "booked",
        "superseded",
        "invalid",
    )
    return {name: int(getattr(reserved, name)) for name in names}


def failures_of(done: Materialised, locale: str) -> list[str]:
    """The read models of a language that could not be written, each with its reason."""
    return [f"{key}: {reason}" for key, reason in done.failed if key.target_language == locale]


def read_model_metadata(done: Materialised, locale: str, rows: int) -> dict[str, Any]:
    """The numbers of one partition after a materialisation."""
    failed = failures_of(done, locale)
    shown = "\n".join(f"- {line}" for line in failed[:SHOWN_FAILURES])
    return {
        "dagster/row_count": rows,
        "rows_touched": done.rows_by_locale.get(locale, 0),
        "failed": len(failed),
        **({"first_failures": MetadataValue.md(shown)} if failed else {}),
    }
