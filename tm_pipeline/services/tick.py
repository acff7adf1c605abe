"""One tick without Dagster: fold, sweep, claim, work, materialise — the same services as the ops."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tm_pipeline.domain.ticks import idle_reason
from tm_pipeline.services.claim import claim_groups
from tm_pipeline.services.context import Context
from tm_pipeline.services.due import tick_snapshot
from tm_pipeline.services.intake import fold_requests
from tm_pipeline.services.materialise import materialise_all_due
from tm_pipeline.services.record import GroupResult
from tm_pipeline.services.sweep import sweep
from tm_pipeline.services.work import work_groups


@dataclass(slots=True)
class TickSummary:
    """What a tick did; ``skipped_reason`` is set where it found nothing to do, with numbers."""

    groups: int = 0
    jobs: Counter[str] = field(default_factory=Counter)
    memory_hits: int = 0
    provider_calls: int = 0
    characters: int = 0
    read_models_written: int = 0
    materialize_failures: int = 0
    skipped_reason: str | None = None

    def absorb(self, result: GroupResult) -> None:
        """Add one group."""
        self.groups += 1
        self.jobs.update(result.statuses)
        self.memory_hits += result.reused
        self.provider_calls += result.calls
        self.characters += result.characters

    def as_dict(self) -> dict[str, object]:
        """The shape of ``tick --json`` (design §13)."""
        return {
            "groups": self.groups,
            "jobs": dict(self.jobs),
            "memory_hits": self.memory_hits,
            "provider_calls": self.provider_calls,
            "characters": self.characters,
            "read_models_written": self.read_models_written,
            "materialize_failures": self.materialize_failures,
            "skipped_reason": self.skipped_reason,
        }


def run_tick(
    ctx: Context, *, groups: int = 5, seconds: float | None = None, drain: bool = False, run_id: str
) -> TickSummary:
    """Work on up to ``groups`` due groups, or with ``drain`` on all that are due, within ``seconds``."""
    summary = TickSummary()
    deadline = None if seconds is None else time.monotonic() + seconds

    def in_time() -> bool:
        return deadline is None or time.monotonic() < deadline

    while True:
        worked = _round(ctx, summary, groups, run_id, in_time)
        if not (drain and worked and in_time()):
            break
    if summary.groups == 0 and summary.read_models_written == 0:
        snapshot = tick_snapshot(ctx)
        summary.skipped_reason = idle_reason(snapshot.due_groups, snapshot.waiting, snapshot.next_due_seconds)
    return summary


def _round(ctx: Context, summary: TickSummary, groups: int, run_id: str, in_time: Callable[[], bool]) -> bool:
    """One pass over everything; true where it moved something, so that a drain goes on."""
    folded = fold_requests(ctx)
    sweep(ctx)
    claimed = claim_groups(ctx, limit=groups, claimed_by=run_id)
    for result in work_groups(ctx, claimed, run_id=run_id, keep_going=in_time):
        summary.absorb(result)
    written = 0
    for materialised in materialise_all_due(ctx):
        written += materialised.written + materialised.removed
        summary.read_models_written += materialised.written
        summary.materialize_failures += len(materialised.failed)
    return bool(claimed or written or folded.requests > folded.reserved.deferred)
