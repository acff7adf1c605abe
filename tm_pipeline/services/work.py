"""Working on claimed groups: lease kept, fields translated, result recorded; groups in threads (design §7.4)."""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.domain.jobs import ClaimedGroup
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.lease import LeaseKeeper
from tm_pipeline.services.record import GroupResult, record_group
from tm_pipeline.services.translate import translate_group
from tm_pipeline.services.verdict import outcome_of_error
from tm_pipeline.store.claims import release_group

_log = logging.getLogger(__name__)


def work_group(
    ctx: Context, group: ClaimedGroup, *, run_id: str, keep_going: Callable[[], bool] = lambda: True
) -> GroupResult:
    """Translate and record one claimed group; whatever interrupts it gives the group back unburned.

    ``keep_going`` is asked before each paid call; once false, the rest of the group is released.
    """
    begun = time.monotonic()
    try:
        failpoint("after_claim")
        with LeaseKeeper(ctx, group.token) as keeper:
            outcomes = translate_group(ctx, group, run_id=run_id, keep_going=lambda: keep_going() and keeper.alive())
            return record_group(ctx, group, outcomes, run_id=run_id, seconds=time.monotonic() - begun)
    except TmPipelineError:
        release_group(ctx.db, group.token)
        raise
    except Exception as error:
        _book_fault(ctx, group, error, run_id)
        raise
    except BaseException:
        # KeyboardInterrupt and Dagster's interrupt: a stopped run must not sit on its lease.
        release_group(ctx.db, group.token)
        raise


def _book_fault(ctx: Context, group: ClaimedGroup, error: Exception, run_id: str) -> None:
    """A fault of our own burns an attempt, or one bad group would be claimed again for ever."""
    fault = TmPipelineError(f"internal fault, {type(error).__name__}: {error}")
    outcomes = [
        outcome_of_error(job, fault, max_retries=ctx.policy.max_retries, backoff=ctx.backoff) for job in group.jobs
    ]
    record_group(ctx, group, outcomes, run_id=run_id)


def work_groups(
    ctx: Context,
    groups: Sequence[ClaimedGroup],
    *,
    run_id: str,
    keep_going: Callable[[], bool] = lambda: True,
) -> list[GroupResult]:
    """Work on ``groups`` in up to ``max_in_flight`` threads; a fault in one leaves the others working.

    Results are in the order of ``groups``; a group that hit a fault says so in its message.
    """

    def guarded(group: ClaimedGroup) -> GroupResult:
        try:
            return work_group(ctx, group, run_id=run_id, keep_going=keep_going)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other groups go on and the log has it
            _log.exception("group %s hit a fault", group.key)
            return GroupResult(key=group.key, retried=len(group.jobs), message=f"{type(error).__name__}: {error}")

    with ThreadPoolExecutor(max_workers=max(1, min(len(groups), ctx.policy.max_in_flight))) as pool:
        return list(pool.map(guarded, groups))
