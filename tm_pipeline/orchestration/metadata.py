"""How results look in the UI: counts as numbers, groups as a table.

What belongs here: turning a service's result into Dagster metadata. What does not: deciding anything.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from tm_pipeline.services.materialise import Materialised
from tm_pipeline.services.record import GroupResult
from tm_pipeline.services.reserve import Reserved

SHOWN_GROUPS = 50


def group_metadata(result: GroupResult) -> dict[str, Any]:
    """The numbers of one group."""
    return {
        "completed": result.completed,
        "retry_scheduled": result.retried,
        "failed": result.failed,
        "needs_review": result.review,
        "needs_credential": result.credential,
        "from_memory": result.reused,
        "provider_calls": result.calls,
        "characters": result.characters,
        "seconds": round(result.seconds, 3),
        **({"message": result.message} if result.message else {}),
    }


def as_output(result: GroupResult) -> dict[str, Any]:
    """What the mapped op hands on: keys and counts, never texts."""
    return {"group": str(result.key), **{k: v for k, v in group_metadata(result).items() if k != "message"}}


def tick_summary(groups: Sequence[dict[str, Any]], released: int) -> dict[str, Any]:
    """The summary of a tick: totals and a table of groups."""
    total = {
        name: sum(group[name] for group in groups)
        for name in ("completed", "retry_scheduled", "from_memory", "provider_calls", "characters")
    }
    done = total["completed"]
    rows = [
        f"| {group['group']} | {group['completed']} | {group['retry_scheduled']} | {group['provider_calls']} "
        f"| {group['seconds']} |"
        for group in groups[:SHOWN_GROUPS]
    ]
    table = "\n".join(["| group | completed | retry | calls | s |", "| --- | --- | --- | --- | --- |", *rows])
    return {
        **total,
        "groups": len(groups),
        "released": released,
        "memory_hit_rate": round(total["from_memory"] / done, 4) if done else 0.0,
        "table": dg.MetadataValue.md(table),
    }


def reserved_metadata(reserved: Reserved) -> dict[str, Any]:
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
    return {name: getattr(reserved, name) for name in names}


def read_model_metadata(done: Materialised, locale: str, rows: int) -> dict[str, Any]:
    """The numbers of one partition after a materialisation."""
    failed = [f"{key}: {reason}" for key, reason in done.failed if key.target_language == locale]
    return {
        "dagster/row_count": rows,
        "rows_touched": done.rows_by_locale.get(locale, 0),
        "failed": len(failed),
        **({"first_failure": failed[0]} if failed else {}),
    }
