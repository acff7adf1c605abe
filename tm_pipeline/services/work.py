"""Working on claimed groups: lease kept, fields translated, result recorded; groups in threads (design §7.4).

The work is never in the caller's thread. A signal interrupts that one only, so a call in flight ends and its
reply is kept: whoever stops a run waits for one call and loses nothing that was paid.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress

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

KeepGoing = Callable[[], bool]
Ended = Callable[[GroupResult], None]


def work_group(
    ctx: Context,
    group: ClaimedGroup,
    *,
    run_id: str,
    keep_going: KeepGoing = lambda: True,
    ended: Ended = lambda _result: None,
) -> GroupResult:
    """Translate and record one claimed group; a fault is raised, and gives the group back or burns an attempt.

    ``keep_going`` is asked before each paid call; once false, the rest of the group is released.
    """

    def work(group: ClaimedGroup, going: KeepGoing) -> GroupResult:
        return _work(ctx, group, run_id, going)

    return _in_threads(ctx, [group], work, keep_going=keep_going, ended=ended)[0]


def work_groups(
    ctx: Context,
    groups: Sequence[ClaimedGroup],
    *,
    run_id: str,
    keep_going: KeepGoing = lambda: True,
    ended: Ended = lambda _result: None,
) -> list[GroupResult]:
    """Work on ``groups`` in up to ``max_in_flight`` threads; a fault in one leaves the others working.

    Results are in the order of ``groups``; a group that hit a fault says so in its message. ``ended`` hears of
    each as it ends, in the caller's thread.
    """

    def guarded(group: ClaimedGroup, going: KeepGoing) -> GroupResult:
        try:
            return _work(ctx, group, run_id, going)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other groups go on and the log has it
            _log.exception("group %s hit a fault", group.key)
            return GroupResult(key=group.key, retried=len(group.jobs), message=f"{type(error).__name__}: {error}")

    return _in_threads(ctx, groups, guarded, keep_going=keep_going, ended=ended)


def _in_threads(
    ctx: Context,
    groups: Sequence[ClaimedGroup],
    work: Callable[[ClaimedGroup, KeepGoing], GroupResult],
    *,
    keep_going: KeepGoing,
    ended: Ended,
) -> list[GroupResult]:
    """Whatever interrupts the wait stops each thread before its next call, and gives back what had not begun."""
    interrupted = threading.Event()

    def going() -> bool:
        return not interrupted.is_set() and keep_going()

    with ThreadPoolExecutor(max_workers=max(1, min(len(groups), ctx.policy.max_in_flight))) as pool:
        futures = [pool.submit(work, group, going) for group in groups]
        waiting = set(futures)
        try:
            for future in as_completed(futures):
                waiting.discard(future)
                ended(future.result())
        except BaseException:
            interrupted.set()
            pool.shutdown(cancel_futures=True)
            _after_interrupt(ctx, groups, futures, waiting, ended)
            raise
        return [future.result() for future in futures]


def _after_interrupt(
    ctx: Context,
    groups: Sequence[ClaimedGroup],
    futures: Sequence[Future[GroupResult]],
    waiting: set[Future[GroupResult]],
    ended: Ended,
) -> None:
    for group, future in zip(groups, futures, strict=True):
        if future.cancelled():
            with suppress(TmPipelineError):  # without the database the lease ends by itself
                release_group(ctx.db, group.token)
        elif future in waiting and future.exception() is None:
            ended(future.result())


def _work(ctx: Context, group: ClaimedGroup, run_id: str, keep_going: KeepGoing) -> GroupResult:
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


def _book_fault(ctx: Context, group: ClaimedGroup, error: Exception, run_id: str) -> None:
    """A fault of our own burns an attempt, or one bad group would be claimed again for ever."""
    fault = TmPipelineError(f"internal fault, {type(error).__name__}: {error}")
    outcomes = [
        outcome_of_error(job, fault, max_retries=ctx.policy.max_retries, backoff=ctx.backoff) for job in group.jobs
    ]
    record_group(ctx, group, outcomes, run_id=run_id)
