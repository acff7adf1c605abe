"""What an operator does with runs in the UI, by the mutations that its buttons send."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tm_pipeline_tests.acceptance.test_backfill import Page
from tm_pipeline_tests.acceptance.test_daemon import DEADLINE_SECONDS

LOOK_SECONDS = 0.2
LAUNCH = """mutation($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on PythonError { message }
  }
}"""
REPEAT = """mutation($params: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  }
}"""
TERMINATE = "mutation($id: String!) { terminateRun(runId: $id) { __typename } }"
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
RUNS = "query { runsOrError { ... on Runs { results { runId jobName status tags { key value } } } } }"
LOG = """query($id: ID!) { logsForRun(runId: $id, limit: 1000) { ... on EventConnection { events {
  __typename
  ... on MessageEvent { message stepKey }
  ... on EngineEvent { metadataEntries { label ... on MarkdownMetadataEntry { mdStr } } }
  ... on ExecutionStepFailureEvent { failureMetadata { description } error { message } }
} } } }"""
ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})


def until(ask: Callable[[], Any], *, seconds: float = DEADLINE_SECONDS) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"nothing after {seconds:g} s"
        time.sleep(LOOK_SECONDS)
    return answer


class Launchpad:
    """The runs of the main code location, behind one webserver."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def launch(self, job: str, ops: Mapping[str, Any] | None = None, **tags: str) -> str:
        """Press *Launch run*; ``ops`` are the forms of the ops. Tag names are written with ``__`` for a slash."""
        [answer] = self._page.ask(LAUNCH, params=self._params(job, ops, tags)).values()
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def _params(self, job: str, ops: Mapping[str, Any] | None, tags: Mapping[str, str]) -> dict[str, Any]:
        return {
            "selector": {
                "repositoryLocationName": "tm_pipeline.definitions",
                "repositoryName": "__repository__",
                "jobName": job,
            },
            "mode": "default",
            "runConfigData": {"ops": {name: {"config": form} for name, form in (ops or {}).items()}},
            "executionMetadata": {"tags": [{"key": k.replace("__", "/"), "value": v} for k, v in tags.items()]},
        }

    def re_execute(self, run_id: str) -> str:
        """Press *Re-execute from failure*."""
        [answer] = self._page.ask(REPEAT, params={"parentRunId": run_id, "strategy": "FROM_FAILURE"}).values()
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def terminate(self, run_id: str) -> None:
        """Press *Terminate*."""
        assert self._page.ask(TERMINATE, id=run_id)["terminateRun"]["__typename"] == "TerminateRunSuccess"

    def status(self, run_id: str) -> str:
        """What the run's page says."""
        return str(self._page.ask(STATUS, id=run_id)["runOrError"]["status"])

    def wait_for_end(self, run_id: str) -> str:
        """The status that a run ended with."""
        until(lambda: self.status(run_id) in ENDED)
        return self.status(run_id)

    def runs(self) -> list[dict[str, Any]]:
        """The list of runs, newest first."""
        found: list[dict[str, Any]] = self._page.ask(RUNS)["runsOrError"]["results"]
        return found

    def log(self, run_id: str) -> list[dict[str, Any]]:
        """The event log of a run's page."""
        events: list[dict[str, Any]] = self._page.ask(LOG, id=run_id)["logsForRun"]["events"]
        return events
