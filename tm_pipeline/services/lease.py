"""Keeping a lease alive while its group is worked on (design §8).

The keeper renews from its own thread and connection at a third of the lease. When it cannot, the
worker stops itself before the lease ends: ``alive`` turns false while nobody else can own the group yet.
"""

import threading
import time
from types import TracebackType
from typing import Self

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.services.context import Context
from tm_pipeline.store.claims import renew_leases


class LeaseKeeper:
    """A context manager around the work on one claimed group; started last to stop last."""

    def __init__(self, ctx: Context, token: str) -> None:
        self._ctx = ctx
        self._token = token
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._lease = float(ctx.policy.lease_seconds)
        self._renewed_at = time.monotonic()
        self._thread = threading.Thread(target=self._renew_until_stopped, name="lease-keeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def alive(self) -> bool:
        """Whether the next call may still be made: its time-out must end before the lease does."""
        left = self._lease - (time.monotonic() - self._renewed_at)
        return not self._lost.is_set() and left > self._ctx.policy.call_timeout_seconds

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self._lease / 3):
            begun = time.monotonic()
            try:
                renewed = self._ctx.db.run(lambda conn: renew_leases(conn, self._token, int(self._lease)))
            except TmPipelineError:
                continue  # the next third tries again; alive() ends the work before the lease does
            if renewed == 0:
                self._lost.set()
                return
            self._renewed_at = begun
