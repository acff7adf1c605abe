"""Keeping what a run claimed until its turn comes.

A group's own keeper works while the group is worked on. A run claims many groups at once, and one that
waits longer than a lease for its turn would be swept, which counts an attempt that was never made.
"""

import threading
from types import TracebackType
from typing import Self

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.services.context import Context
from tm_pipeline.store.runs import renew_run


class RunLeases:
    """Renews every lease of a chain of runs at a third of its length, for as long as this process works on it."""

    def __init__(self, ctx: Context, claimed_by: str) -> None:
        self._ctx = ctx
        self._claimed_by = claimed_by
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name="run-leases", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _renew_until_stopped(self) -> None:
        seconds = self._ctx.policy.lease_seconds
        while not self._stop.wait(seconds / 3):
            try:
                self._ctx.db.run(lambda conn: renew_run(conn, self._claimed_by, seconds))
            except TmPipelineError:
                continue  # a lease that ends meanwhile is found out when its group is taken again
