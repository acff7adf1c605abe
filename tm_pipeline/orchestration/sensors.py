"""Sensors: when a run is due. Each decides on a few indexed statements and says why it skips, in numbers.

The database and the live runs are the truth; run keys only keep a daemon's crash from launching twice.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.ticks import RunTick, SkipTick, TickSettings, decide_tick
from tm_pipeline.orchestration.jobs import reserve_translations, translate_due_groups
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LANE, RANGE_END, RANGE_START, TRIGGER, Lane
from tm_pipeline.services.claim import release_run
from tm_pipeline.services.due import intake_due, tick_snapshot
from tm_pipeline.services.materialise import due_resource_types
from tm_pipeline.settings import Settings

INTERVAL_SECONDS = 4  # the daemon's loop is 5 s; asking for 5 gives 5 or 10 at random
LOOKED_AT_RUNS = 5  # run records come in the order of creation, not of their end
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
LIVE = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)


def tick_decision(instance: dg.DagsterInstance, pipeline: Pipeline, now: datetime) -> tuple[RunTick | SkipTick, str]:
    """What to do now, and the id of the last finished tick, ``none`` before the first."""
    lane = {LANE: Lane.TICK.value}
    live = instance.get_run_records(dg.RunsFilter(tags=lane, statuses=list(LIVE)), limit=1)
    ended = instance.get_run_records(dg.RunsFilter(tags=lane, statuses=list(ENDED)), limit=LOOKED_AT_RUNS)
    last = max(ended, key=lambda record: record.end_time or 0.0, default=None)
    last_end = datetime.fromtimestamp(last.end_time, UTC) if last is not None and last.end_time else None
    snapshot = tick_snapshot(pipeline.context)
    settings = pipeline.settings
    decision = decide_tick(
        now=now,
        last_end=last_end,
        live_runs=len(live),
        due_groups=snapshot.due_groups,
        waiting=snapshot.waiting,
        next_due_seconds=snapshot.next_due_seconds,
        oldest_age_seconds=snapshot.oldest_age_seconds,
        settings=TickSettings(
            fixed_delay_seconds=settings.fixed_delay_ms / 1_000,
            backlog_groups=settings.backlog_groups,
            backlog_age_seconds=settings.backlog_age_seconds,
        ),
    )
    return decision, last.dagster_run.run_id if last is not None else "none"


def tick_request(last_run: str, settings: Settings, trigger: str) -> dg.RunRequest:
    """The run of a tick: at most one successor for each finished one."""
    config = {"ops": {"claim_groups": {"config": {"max_groups": settings.groups_per_tick}}}}
    return dg.RunRequest(run_key=f"tick-after-{last_run}", run_config=config, tags={TRIGGER: trigger})


def build_sensors(registry: DomainRegistry, *, automation: bool) -> list[dg.SensorDefinition]:
    """Every sensor; ``automation`` decides whether they run without being switched on."""
    status = dg.DefaultSensorStatus.RUNNING if automation else dg.DefaultSensorStatus.STOPPED
    fixed = {"minimum_interval_seconds": INTERVAL_SECONDS, "default_status": status}
    return [*_launching(registry, fixed), *_releasing(status)]


def _launching(registry: DomainRegistry, fixed: dict[str, object]) -> Sequence[dg.SensorDefinition]:
    @dg.sensor(job=translate_due_groups, **fixed)  # type: ignore[arg-type]
    def fixed_delay_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        """Launch a tick `TM_FIXED_DELAY_MS` after the last one **ended**, sooner while there is a backlog."""
        decision, last = tick_decision(context.instance, pipeline, datetime.now(UTC))
        if isinstance(decision, SkipTick):
            return dg.SkipReason(decision.reason)
        context.log.info(decision.reason)
        return tick_request(last, pipeline.settings, "fixed_delay_sensor")

    @dg.sensor(job=reserve_translations, **fixed)  # type: ignore[arg-type]
    def source_change_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        """Launch intake when the outbox has rows, a source table changed, or a full reconciliation is due."""
        live = context.instance.get_run_records(
            dg.RunsFilter(job_name=reserve_translations.name, statuses=list(LIVE)), limit=1
        )
        if live:
            return dg.SkipReason("intake is running")
        due = intake_due(pipeline.context)
        if due is None:
            return dg.SkipReason("0 outbox rows, no source change, no reconciliation due")
        config = {"ops": {"reserve": {"config": {"full": due.full}}}}
        return dg.RunRequest(run_config=config, tags={TRIGGER: "source_change_sensor", "tm/reason": due.reason})

    assets = [dg.AssetKey(domain.read_model.table) for domain in registry]

    @dg.sensor(asset_selection=dg.AssetSelection.assets(*assets), **fixed)  # type: ignore[arg-type]
    def read_models_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.SensorResult | dg.SkipReason:
        """Launch one run over all languages for the domains with due refresh marks."""
        lane = {TRIGGER: "read_models_sensor"}
        if context.instance.get_run_records(dg.RunsFilter(tags=lane, statuses=list(LIVE)), limit=1):
            return dg.SkipReason("a read-model run is live")
        due = due_resource_types(pipeline.context)
        requests = [_read_model_request(pipeline, names) for names in _alike(pipeline, sorted(due))]
        return dg.SensorResult(run_requests=requests) if requests else dg.SkipReason("0 read models due")

    return [fixed_delay_sensor, source_change_sensor, read_models_sensor]


def _alike(pipeline: Pipeline, names: Sequence[str]) -> list[list[str]]:
    """Domains with the same languages fit one run over one partition range."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(pipeline.context.domain(name).target_languages, []).append(name)
    return list(groups.values())


def _read_model_request(pipeline: Pipeline, names: Sequence[str]) -> dg.RunRequest:
    domains = [pipeline.context.domain(name) for name in names]
    languages = domains[0].target_languages
    return dg.RunRequest(
        asset_selection=[dg.AssetKey(domain.read_model.table) for domain in domains],
        run_config={"ops": {domain.read_model.table: {"config": {"only_due": True}} for domain in domains}},
        tags={RANGE_START: languages[0], RANGE_END: languages[-1], TRIGGER: "read_models_sensor"},
    )


def _releasing(status: dg.DefaultSensorStatus) -> Sequence[dg.SensorDefinition]:
    def release(context: dg.RunStatusSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        run = context.dagster_run
        released = release_run(pipeline.context, run.root_run_id or run.run_id)
        return dg.SkipReason(f"{released} jobs released from run {run.run_id}")

    @dg.run_failure_sensor(
        monitored_jobs=[translate_due_groups],
        default_status=status,
        minimum_interval_seconds=INTERVAL_SECONDS,
    )
    def run_failure_release(context: dg.RunFailureSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        """Give back at once what a failed tick still holds; the sweep would do so when its leases end."""
        return release(context, pipeline)

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.CANCELED,
        monitored_jobs=[translate_due_groups],
        default_status=status,
        minimum_interval_seconds=INTERVAL_SECONDS,
    )
    def run_canceled_release(context: dg.RunStatusSensorContext, pipeline: Pipeline) -> dg.SkipReason:
        """Give back at once what a terminated tick still holds."""
        return release(context, pipeline)

    return [run_failure_release, run_canceled_release]
