"""Alert sensors: what failed in Dagster or stopped in the pipeline, told once to one sink (design §12.4)."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import dagster as dg

from tm_pipeline.domain.alerts import Alert, Failure, check_alert, run_alert, run_fault, run_key
from tm_pipeline.domain.errors import DatabaseUnavailableError
from tm_pipeline.orchestration.live_runs import made_good, root_run_id
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import PLATFORM
from tm_pipeline.services.alerts import Tell, book, circuit_alerts, deliver_due, not_booked, tell_of_database
from tm_pipeline.wiring import current_application

EVERY_SECONDS = 15
FAILURES_A_LOOK = 20
_OF_DAGSTER = re.compile(r"^Dagster\w*Error$")
_FAILED = {dg.DagsterEventType.STEP_FAILURE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The cursor: up to which failed run everything was told, and when the silent database was told last."""

    failures_after: float
    database_told: float | None = None

    @classmethod
    def parse(cls, cursor: str | None, now: datetime) -> "Looked":
        """A first look tells nothing of what failed before it."""
        return cls(**json.loads(cursor)) if cursor else cls(failures_after=now.timestamp())

    def write(self) -> str:
        """The cursor's text."""
        return json.dumps({"failures_after": self.failures_after, "database_told": self.database_told})


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that may be told: its key, and how."""

    key: str
    tell: Callable[[], str]


def build_alert_sensors(*, automation: bool) -> list[dg.SensorDefinition]:
    """The two sensors of the main code location; they see the failures of extra hosts too."""
    status = dg.DefaultSensorStatus.RUNNING if automation else dg.DefaultSensorStatus.STOPPED

    @dg.run_failure_sensor(
        default_status=status,
        minimum_interval_seconds=4,
        description=(
            "Book an alert for each failed run: one for a run and all its re-executions, none where a re-execution is "
            "live or succeeded, and one an hour where many runs fail for one reason. `alert_sensor` delivers it. "
            "**When it fails**: the failure is told by `alert_sensor`."
        ),
    )
    def run_failure_alerts(context: dg.RunFailureSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        run = context.dagster_run
        try:
            return dg.SkipReason(tell_of_failure(context.instance, pipeline, run, context.log.error))
        except DatabaseUnavailableError:
            return dg.SkipReason(f"the database does not answer; alert_sensor tells of run {run.run_id} when it does")

    @dg.sensor(
        default_status=status,
        minimum_interval_seconds=EVERY_SECONDS,
        owners=[PLATFORM],
        description=(
            "Tell of providers that stopped, of failed blocking checks and of failed runs, once each until they "
            "recover, and deliver alerts to `TM_ALERT_WEBHOOK_URL`: an alert that is not taken is tried eight times "
            "over about an hour. Every alert is an ERROR line in this sensor's log, with or without a webhook."
        ),
    )
    def alert_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.SkipReason:
        now = datetime.now(UTC)
        looked = Looked.parse(context.cursor, now)
        try:
            looked, reason = look(context, pipeline, looked)
        except DatabaseUnavailableError as error:
            application = current_application()
            told, reason = tell_of_database(
                error,
                application.alert_sink,
                now=now,
                last=looked.database_told,
                secrets=application.settings.secret_values(),
                tell=context.log.error,
            )
            looked = Looked(failures_after=looked.failures_after, database_told=told)
        context.update_cursor(looked.write())
        return dg.SkipReason(reason)

    return [run_failure_alerts, alert_sensor]


def look(context: dg.SensorEvaluationContext, pipeline: Pipeline, looked: Looked) -> tuple[Looked, str]:
    """Book what is new and deliver what is due; returns the new cursor and the numbers."""
    ctx, secrets, tell = pipeline.context, pipeline.settings.secret_values(), context.log.error
    failed = _failures(context, looked)
    stopped = circuit_alerts(ctx, secrets)
    checks = list(_check_alerts(context, secrets))
    candidates = [
        *(Candidate(key=alert.key, tell=partial(_book, pipeline, alert, tell)) for alert in (*stopped, *checks)),
        *(
            Candidate(
                key=run_key(root_run_id(record.dagster_run)),
                tell=partial(tell_of_failure, context.instance, pipeline, record.dagster_run, tell),
            )
            for record in failed
        ),
    ]
    unknown = not_booked(ctx, [candidate.key for candidate in candidates])
    news = [candidate.tell() for candidate in candidates if candidate.key in unknown]
    delivered = deliver_due(ctx, current_application().alert_sink)
    for error in delivered.errors:
        context.log.error(error)
    after = max([looked.failures_after, *(record.update_timestamp.timestamp() for record in failed)])
    numbers = f"{len(stopped)} stopped providers, {len(checks)} failed checks, {len(failed)} runs failed since"
    return Looked(failures_after=after), "; ".join([numbers, *news[:3], delivered.reason])


def _book(pipeline: Pipeline, alert: Alert, tell: Tell) -> str:
    return book(pipeline.context, alert, tell=tell).reason


def _failures(context: dg.SensorEvaluationContext, looked: Looked) -> Sequence[Any]:
    """Failed runs of this code location's jobs since the last look: what ``run_failure_alerts`` could not book."""
    repository = context.repository_def
    names = {job.name for job in repository.get_all_jobs()} if repository else set()
    after = datetime.fromtimestamp(looked.failures_after, UTC)
    filters = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=after)
    records = context.instance.get_run_records(
        filters, limit=FAILURES_A_LOOK, order_by="update_timestamp", ascending=True
    )
    return [record for record in records if record.dagster_run.job_name in names]


def _check_alerts(context: dg.SensorEvaluationContext, secrets: Sequence[str]) -> Iterator[Alert]:
    """Failed checks that block or are errors; drift is a warning on its page and wakes nobody."""
    repository, storage = context.repository_def, context.instance.event_log_storage
    keys = sorted(repository.asset_graph.asset_check_keys) if repository else []
    for key, record in storage.get_latest_asset_check_execution_by_key(keys).items() if keys else ():
        evaluation = record.evaluation if record.status.value == "FAILED" else None
        if evaluation is None or not (evaluation.blocking or evaluation.severity is dg.AssetCheckSeverity.ERROR):
            continue
        passed = storage.get_asset_check_execution_history(key, limit=1, status={type(record.status).SUCCEEDED})
        since = f"after-{passed[0].id}" if passed else "never-passed"
        yield check_alert(key.asset_key.to_user_string(), key.name, since, evaluation.description, secrets)


def tell_of_failure(instance: dg.DagsterInstance, pipeline: Pipeline, run: dg.DagsterRun, tell: Tell) -> str:
    """Book the alert of a failed run unless a re-execution made it good; returns what was done."""
    root, settings = root_run_id(run), pipeline.settings
    if made_good(instance, run):
        return f"run {root} has a live or successful re-execution: no alert"
    failure = failure_of(instance, run)
    url = f"{settings.ui_url}/runs/{run.run_id}" if settings.ui_url else None
    alert = run_alert(failure, url=url, secrets=settings.secret_values())
    return book(pipeline.context, alert, same=run_fault(failure), tell=tell).reason


def failure_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Failure:
    """The first failed step's error below the framework's; for a run without one, what Dagster says of the run."""
    steps = instance.get_records_for_run(run.run_id, of_type=_FAILED, limit=100).records
    name, line = "", ""
    if steps:
        data: Any = steps[0].event_log_entry.get_dagster_event().event_specific_data
        name, line = _first_of_ours(data.error)
        line = (data.user_failure_data.description if data.user_failure_data else "") or line
    else:
        ended = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE, limit=1).records
        line = (ended[0].event_log_entry.get_dagster_event().message if ended else "") or "it ended without a word"
    return Failure(
        job=run.job_name, root_run_id=root_run_id(run), error_class=name, error=line, failed_steps=len(steps)
    )


def _first_of_ours(error: Any) -> tuple[str, str]:
    while error is not None and error.cause is not None and _OF_DAGSTER.match(error.cls_name or ""):
        error = error.cause
    if error is None:
        return "", ""
    name = error.cls_name or ""
    return name, re.sub(rf"^(?:[\w.]+\.)?{re.escape(name)}:\s*", "", error.message)
