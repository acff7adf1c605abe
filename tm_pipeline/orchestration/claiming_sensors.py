"""The sensors that every host needs: drain a backlog, and give back what a dead run held."""

from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.domain.ended_runs import wait_after_failures
from tm_pipeline.domain.ticks import SkipTick, decide_drain
from tm_pipeline.orchestration.jobs import CLAIMING_JOBS, drain_backlog
from tm_pipeline.orchestration.live_runs import chain_is_live, ended_runs, live_runs, root_run_id
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.run_summary import report_unsettled
from tm_pipeline.orchestration.sensors import INTERVAL_SECONDS, Switched, switched, tick_settings
from tm_pipeline.orchestration.tags import HOST, LANE, LOCALIZATION, TRIGGER, Lane
from tm_pipeline.services.claim import release_run
from tm_pipeline.services.due import tick_snapshot
from tm_pipeline.settings import Settings

DRAIN_GROUPS = 500  # what a fast engine does in one run; a run that is out of time gives the rest back
DRAIN_GROUPS_PER_STEP = 25
LONGEST_WAIT_SECONDS = 60  # a backlog run is red as soon as one of its groups needs a person; the others go on


def drain_config(settings: Settings) -> dict[str, object]:
    """The run config of a backlog run."""
    config = {
        "max_groups": DRAIN_GROUPS,
        "groups_per_step": DRAIN_GROUPS_PER_STEP,
        "max_seconds": settings.drain_seconds,
    }
    return {"ops": {"claim_groups": {"config": config}}}


def build_claiming_sensors(*, automation: bool, host: str) -> list[dg.SensorDefinition]:
    """The sensors of one host, whose name (in the alphabet of tags) its backlog runs carry."""
    shared = switched(automation=automation)
    return [_backlog(shared, host), *_releasing(shared["default_status"])]


def _backlog(shared: Switched, host: str) -> dg.SensorDefinition:
    @dg.sensor(
        job=drain_backlog,
        owners=[LOCALIZATION],
        description=(
            "Launch a backlog run on this host while `TM_BACKLOG_GROUPS` or `TM_BACKLOG_AGE_SECONDS` is "
            "exceeded. One at a time for each host. Without a backlog the ticks of `fixed_delay_sensor` do "
            "the work. After such a run failed it waits, longer each time, up to a minute."
        ),
        **shared,
    )
    def backlog_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        now, mine = datetime.now(UTC), {LANE: Lane.BACKLOG.value, HOST: host}
        snapshot = tick_snapshot(pipeline.context)
        ended = ended_runs(context.instance, now, tags=mine)
        decision = decide_drain(
            live_runs=live_runs(context.instance, tags=mine),
            wait_seconds=wait_after_failures(ended.runs, now, longest=LONGEST_WAIT_SECONDS),
            due_groups=snapshot.due_groups,
            oldest_age_seconds=snapshot.oldest_age_seconds,
            settings=tick_settings(pipeline.settings),
            host=host,
        )
        if isinstance(decision, SkipTick):
            return dg.SkipReason(decision.reason)
        context.log.info(decision.reason)
        config = drain_config(pipeline.settings)
        return dg.RunRequest(run_config=config, tags={TRIGGER: "backlog_sensor", HOST: host})

    return backlog_sensor


def _releasing(status: dg.DefaultSensorStatus) -> list[dg.SensorDefinition]:
    @dg.run_failure_sensor(
        monitored_jobs=list(CLAIMING_JOBS),
        default_status=status,
        minimum_interval_seconds=INTERVAL_SECONDS,
        description="Give back at once what a failed run still holds; the sweep would do so when its leases end.",
    )
    def run_failure_release(context: dg.RunFailureSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        return _release(context, pipeline)

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.CANCELED,
        monitored_jobs=list(CLAIMING_JOBS),
        default_status=status,
        minimum_interval_seconds=INTERVAL_SECONDS,
        description="Give back at once what a terminated run still holds.",
    )
    def run_canceled_release(context: dg.RunStatusSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        return _release(context, pipeline)

    return [run_failure_release, run_canceled_release]


def _release(context: dg.RunStatusSensorContext, pipeline: Pipeline) -> dg.SkipReason:
    run = context.dagster_run
    root = root_run_id(run)
    if chain_is_live(context.instance, root):
        return dg.SkipReason(f"a re-execution of run {root} is live and owns its groups")
    released = release_run(pipeline.context, root)
    report_unsettled(pipeline.context, context.instance, run, root, released)
    return dg.SkipReason(f"{released} jobs of run {root} given back")
