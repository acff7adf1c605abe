"""The sensors that every host needs: drain a backlog, and give back what a dead run held."""

import dagster as dg

from tm_pipeline.orchestration.jobs import CLAIMING_JOBS, drain_backlog
from tm_pipeline.orchestration.live_runs import chain_is_live, live_runs, root_run_id
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.sensors import INTERVAL_SECONDS, Switched, switched
from tm_pipeline.orchestration.tags import HOST, LANE, LOCALIZATION, TRIGGER, Lane
from tm_pipeline.services.claim import release_run
from tm_pipeline.services.due import tick_snapshot
from tm_pipeline.settings import Settings
from tm_pipeline.store.overview import DueSnapshot

DRAIN_GROUPS = 500  # what a fast engine does in one run; a run that is out of time gives the rest back
DRAIN_GROUPS_PER_STEP = 25


def decide_drain(snapshot: DueSnapshot, settings: Settings) -> str | None:
    """Why a backlog run is due, with numbers, or None."""
    if snapshot.due_groups >= settings.backlog_groups:
        return f"{snapshot.due_groups} groups due, at least {settings.backlog_groups}"
    if snapshot.due_groups and snapshot.oldest_age_seconds >= settings.backlog_age_seconds:
        return f"the oldest has been due for {snapshot.oldest_age_seconds} s, at least {settings.backlog_age_seconds}"
    return None


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
            "the work."
        ),
        **shared,
    )
    def backlog_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        if live_runs(context.instance, tags={LANE: Lane.BACKLOG.value, HOST: host}):
            return dg.SkipReason(f"a backlog run is live on {host} (1)")
        snapshot = tick_snapshot(pipeline.context)
        why = decide_drain(snapshot, pipeline.settings)
        if why is None:
            return dg.SkipReason(f"{snapshot.due_groups} due, oldest {snapshot.oldest_age_seconds} s: no backlog")
        context.log.info(why)
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
    return dg.SkipReason(f"{release_run(pipeline.context, root)} jobs of run {root} given back")
