"""Keeping leases alive while their work goes on or waits for its turn (design §8).

Both keepers renew from their own thread and connection at a third of the lease, so that renewal is the
last thing to stop.
"""

import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.services.context import Context
from tm_pipeline.store.claims import renew_leases, renew_run
from tm_pipeline.store.engine import Connection


class _Keeper(ABC):
    """A context manager that renews until it ends."""

    def __init__(self, ctx: Context, thread_name: str) -> None:
        self._ctx = ctx
        self._seconds = ctx.policy.lease_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name=thread_name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    @abstractmethod
    def _renew(self, conn: Connection) -> int:
        """Extend what is held; returns how many jobs that is."""

    @abstractmethod
    def _renewed(self, held: int, begun: float) -> bool:
        """Note a renewal that began at ``begun``; false where there is nothing left to keep."""

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self._seconds / 3):
            begun = time.monotonic()
            try:
                held = self._ctx.db.run(self._renew)
            except TmPipelineError:
                continue  # the next third tries again; whoever lost a lease meanwhile finds out at its fence
            if not self._renewed(held, begun):
                return


class LeaseKeeper(_Keeper):
    """Around the work on one claimed group.

    When it cannot renew, the worker stops itself before the lease ends: ``alive`` turns false while nobody
    else can own the group yet.
    """

    def __init__(self, ctx: Context, token: str) -> None:
        super().__init__(ctx, "lease-keeper")
        self._token = token
        self._lost = threading.Event()
        self._renewed_at = time.monotonic()

    def alive(self) -> bool:
        """Whether the next call may still be made: its time-out must end before the lease does."""
        left = self._seconds - (time.monotonic() - self._renewed_at)
        return not self._lost.is_set() and left > self._ctx.policy.call_timeout_seconds

    def _renew(self, conn: Connection) -> int:
        return renew_leases(conn, self._token, self._seconds)

    def _renewed(self, held: int, begun: float) -> bool:
        if held == 0:
            self._lost.set()
            return False
        self._renewed_at = begun
        return True


class RunLeases(_Keeper):
    """Around a whole run, for every lease of its chain.

    A run claims many groups at once, and one that waits longer than a lease for its turn would be swept,
    which counts an attempt that was never made.
    """

    def __init__(self, ctx: Context, claimed_by: str) -> None:
        super().__init__(ctx, "run-leases")
        self._claimed_by = claimed_by

    def _renew(self, conn: Connection) -> int:
        return renew_run(conn, self._claimed_by, self._seconds)

    def _renewed(self, held: int, begun: float) -> bool:  # noqa: ARG002 - a run may claim again after it held nothing
        return True
