"""What a chain of runs did, read from the history and the ledger: right after any crash or resume."""

from collections.abc import Sequence
from dataclasses import dataclass

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services.context import Context
from tm_pipeline.store.runs import GroupCounts, calls_of_run, recorded_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Totals of a chain: characters sent, units billed; latencies in ms, None without a call."""

    groups: Sequence[GroupCounts]
    calls: int
    characters: int
    billed: int
    call_p50_ms: int | None
    call_p95_ms: int | None

    def count(self, status: JobStatus) -> int:
        """Fields that became ``status``."""
        return sum(group.statuses.get(status.value, 0) for group in self.groups)

    @property
    def reused(self) -> int:
        """Completed fields that were not paid for."""
        return sum(group.reused for group in self.groups)


def report_run(ctx: Context, run_id: str) -> RunReport:
    """The report of the chain whose root run is ``run_id``."""
    with ctx.db.read() as conn:
        groups = recorded_groups(conn, run_id)
        calls = calls_of_run(conn, run_id)
    return RunReport(
        groups=groups,
        calls=calls.calls,
        characters=calls.characters,
        billed=calls.billed,
        call_p50_ms=_percentile(calls.latencies_ms, 0.50),
        call_p95_ms=_percentile(calls.latencies_ms, 0.95),
    )


def _percentile(ordered: Sequence[int], share: float) -> int | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
