"""Taking groups again: at the start of a step, and when a person re-executes it, perhaps weeks later (design §8).

The database says what is left to do. What somebody else does or did, or what nobody wants any more, is left as it
is, with a reason that an operator can read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, JobStatus
from tm_pipeline.services.claim import reacquire
from tm_pipeline.services.context import Context
from tm_pipeline.store.runs import GroupState, group_state


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftGroup:
    """A group that is not worked on, and why."""

    key: GroupKey
    reason: str

    def __str__(self) -> str:
        return f"{self.key}: {self.reason}"


def take_again(
    ctx: Context, keys: Sequence[GroupKey], *, claimed_by: str, include_failed: bool
) -> tuple[list[ClaimedGroup], list[LeftGroup]]:
    """The groups of ``keys`` that are ours to work on, and those that are left as they are."""
    held: list[ClaimedGroup] = []
    left: list[LeftGroup] = []
    for key in keys:
        if ctx.registry.get(key.resource_type) is None:
            reason = f"the domain {key.resource_type} is not configured any more; its jobs stay as they are"
            left.append(LeftGroup(key=key, reason=reason))
            continue
        group = reacquire(ctx, key, claimed_by=claimed_by, include_failed=include_failed)
        if group is None:
            left.append(LeftGroup(key=key, reason=_why_not(ctx, key, claimed_by)))
        else:
            held.append(group)
    return held, left


def _why_not(ctx: Context, key: GroupKey, claimed_by: str) -> str:
    with ctx.db.read() as conn:
        state = group_state(conn, key)
    if state.held_by is not None and state.held_by != claimed_by:
        return f"run {state.held_by} works on it now; nothing to do here"
    if state.due or state.held_by is not None:
        return "another run is taking it now; nothing to do here"
    return _at_rest(state)


def _at_rest(state: GroupState) -> str:
    if not state.statuses:
        return "it has no jobs any more; nothing to do"
    found = ", ".join(f"{count} {status}" for status, count in state.statuses.items())
    if JobStatus.PENDING.value in state.statuses:
        return f"it waits for its back-off ({found}); a later tick takes it"
    if set(state.statuses) <= {JobStatus.COMPLETED.value, JobStatus.SUPERSEDED.value, JobStatus.CANCELLED.value}:
        return f"nothing is left to do ({found}); another run finished it, or its source changed"
    return f"a person decides on it ({found}); see retry_jobs and resume_provider"
