"""The Dagster resources: handles on the pipeline's application.

The application is built at the first use and cached for the process, because a Dagster resource lives
for one run or one sensor evaluation and a connection pool must outlive both.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self
from weakref import WeakSet

import dagster as dg
from pydantic import PrivateAttr

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.orchestration.live_runs import LIVE, root_run_id
from tm_pipeline.orchestration.run_summary import report_unsettled
from tm_pipeline.orchestration.tags import ROOT_RUN
from tm_pipeline.services.claim import release_run
from tm_pipeline.services.context import Context
from tm_pipeline.services.lease import RunLeases
from tm_pipeline.settings import Settings
from tm_pipeline.store.engine import Database
from tm_pipeline.store.migrate import require_current
from tm_pipeline.wiring import current_application

_log = logging.getLogger(__name__)
_checked: WeakSet[Database] = WeakSet()


def _ready() -> Context:
    """The context of this process on a schema that fits the code; raises ``SchemaError`` in one line otherwise."""
    context = current_application().context
    if context.db not in _checked:
        require_current(context.db)
        _checked.add(context.db)
    return context


class Pipeline(dg.ConfigurableResource[None]):
    """Gives ops, assets and sensors the services' context and the settings."""

    @property
    def context(self) -> Context:
        """What the services need; refuses a schema that does not fit this version."""
        return _ready()

    @property
    def settings(self) -> Settings:
        """The ``TM_*`` settings of this process."""
        return current_application().settings


class ClaimingRun(dg.ConfigurableResource[Any]):
    """One run that claims: keeps the leases of its whole chain, and knows how long it has worked.

    A run that fails or is terminated gives back at its end what it holds, and leaves its summary in the event log.
    """

    _settled: bool = PrivateAttr(default=False)
    _owner: str = PrivateAttr(default="")
    _begun: float = PrivateAttr(default=0.0)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Keep the leases from the first op to the last; in one process that is once for the run."""
        run = context.run
        if run is None:
            raise dg.DagsterInvariantViolationError("ClaimingRun works in runs only.")
        self._owner = root_run_id(run)
        self._begun, self._settled = time.monotonic(), False
        instance = context.instance
        try:
            with RunLeases(_ready(), self._owner):
                yield self
        finally:
            if not self._settled and instance is not None:
                self._give_back(instance, run)

    def _give_back(self, instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
        """Right for runs in one process, as all jobs here are: with a process for each step it would end siblings."""
        chain = instance.get_runs(dg.RunsFilter(tags={ROOT_RUN: self._owner}, statuses=list(LIVE)), limit=2)
        if any(other.run_id != run.run_id for other in chain):
            return  # this process was taken for dead, and a re-execution holds the leases now
        try:
            released = release_run(_ready(), self._owner)
            report_unsettled(_ready(), instance, run, self._owner, released)
        except TmPipelineError as error:
            _log.warning(
                "run %s could not give back what it holds, its leases end by themselves: %s", run.run_id, error
            )

    @property
    def owner(self) -> str:
        """The first run of a chain of re-executions: it owns what any run of the chain claims."""
        return self._owner

    def settled(self) -> None:
        """Note that nothing is held any more and the summary is written."""
        self._settled = True

    def in_time(self, max_seconds: int) -> bool:
        """Whether another call may start; 0 means no limit."""
        return not max_seconds or time.monotonic() - self._begun < max_seconds
