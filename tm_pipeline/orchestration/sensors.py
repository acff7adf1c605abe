"""Sensors: when a run is due. Each decides on at most three indexed statements and says why it skips, in numbers.

The database and the live runs are the truth; run keys only keep a daemon's crash from launching twice.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypedDict

import dagster as dg

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.ended_runs import wait_after_failures
from tm_pipeline.domain.ticks import RunTick, SkipTick, TickSettings, decide_immediate, decide_tick
from tm_pipeline.orchestration.assets import ROWS_CHECK, asset_name
from tm_pipeline.orchestration.automation import beat_when_due
from tm_pipeline.orchestration.jobs import reserve_translations, translate_due_groups, translate_immediate
from tm_pipeline.orchestration.live_runs import ended_runs, live_runs
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.tags import LANE, LOCALIZATION, PLATFORM, RANGE_END, RANGE_START, REASON, TRIGGER, Lane
from tm_pipeline.services.due import IntakeIdle, intake_due, read_models_due, read_models_idle_reason, tick_snapshot
from tm_pipeline.settings import Settings

INTERVAL_SECONDS = 4  # the daemon's loop is 5 s; asking for 5 gives 5 or 10 at random
IMMEDIATE_GROUPS = 50  # each a step of its own in the UI; what is left is the next run's


class Switched(TypedDict):
    """What every polling sensor shares."""

    minimum_interval_seconds: int
    default_status: dg.DefaultSensorStatus


def switched(*, automation: bool) -> Switched:
    """The interval, and whether a sensor works without being switched on."""
    status = dg.DefaultSensorStatus.RUNNING if automation else dg.DefaultSensorStatus.STOPPED
    return {"minimum_interval_seconds": INTERVAL_SECONDS, "default_status": status}


def tick_settings(settings: Settings) -> TickSettings:
    """The delays and thresholds of the settings."""
    return TickSettings(
        fixed_delay_seconds=settings.fixed_delay_ms / 1_000,
        backlog_groups=settings.backlog_groups,
        backlog_age_seconds=settings.backlog_age_seconds,
    )


def tick_decision(instance: dg.DagsterInstance, pipeline: Pipeline, now: datetime) -> tuple[RunTick | SkipTick, str]:
    """What to do now, and the id of the finished tick that was created last, ``none`` before the first."""
    lane = {LANE: Lane.TICK.value}
    ended = ended_runs(instance, now, tags=lane)
    snapshot = tick_snapshot(pipeline.context)
    decision = decide_tick(
        now=now,
        last_end=ended.last_end,
        live_runs=live_runs(instance, tags=lane),
        due_groups=snapshot.due_groups,
        waiting=snapshot.waiting,
        next_due_seconds=snapshot.next_due_seconds,
        oldest_age_seconds=snapshot.oldest_age_seconds,
        settings=tick_settings(pipeline.settings),
        stopped_domains=snapshot.stopped_domains,
    )
    return decision, ended.last_created


def tick_request(last_run: str, settings: Settings, trigger: str) -> dg.RunRequest:
    """The run of a tick: at most one successor for each finished one."""
    config = {"ops": {"claim_groups": {"config": {"max_groups": settings.groups_per_tick}}}}
    return dg.RunRequest(run_key=f"tick-after-{last_run}", run_config=config, tags={TRIGGER: trigger})


def build_sensors(registry: DomainRegistry, *, automation: bool) -> list[dg.SensorDefinition]:
    """The sensors that launch ticks, immediate runs, intake and read models."""
    shared = switched(automation=automation)
    return [_fixed_delay(shared), _immediate(registry, shared), _source_change(shared), _read_models(registry, shared)]


def _fixed_delay(shared: Switched) -> dg.SensorDefinition:
    @dg.sensor(
        job=translate_due_groups,
        owners=[LOCALIZATION],
        description=(
            "Launch a tick `TM_FIXED_DELAY_MS` after the last one **ended**, sooner while there is a "
            "backlog. Never beside a live tick, never with nothing due. A skip says when the next one comes."
        ),
        **shared,
    )
    def fixed_delay_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        now = datetime.now(UTC)
        beat_when_due(context, pipeline.context, now)
        decision, last = tick_decision(context.instance, pipeline, now)
        if isinstance(decision, SkipTick):
            return dg.SkipReason(decision.reason)
        context.log.info(decision.reason)
        return tick_request(last, pipeline.settings, "fixed_delay_sensor")

    return fixed_delay_sensor


def _immediate(registry: DomainRegistry, shared: Switched) -> dg.SensorDefinition:
    names = [domain.resource_type for domain in registry if domain.immediate]

    @dg.sensor(
        job=translate_immediate,
        owners=[LOCALIZATION],
        description=(
            "Launch a run as soon as a group of a domain with `immediate: true` is due: no delay, one run at a time. "
            "After such a run failed it waits, longer each time, up to ten minutes; the ordinary ticks take "
            "these groups meanwhile."
        ),
        **shared,
    )
    def immediate_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        if not names:
            return dg.SkipReason("no domain is immediate")
        now, lane = datetime.now(UTC), {LANE: Lane.IMMEDIATE.value}
        ended = ended_runs(context.instance, now, tags=lane)
        snapshot = tick_snapshot(pipeline.context, names)
        decision = decide_immediate(
            domains=len(names),
            live_runs=live_runs(context.instance, tags=lane),
            wait_seconds=wait_after_failures(ended.runs, now),
            due_groups=snapshot.due_groups,
            waiting=snapshot.waiting,
            next_due_seconds=snapshot.next_due_seconds,
        )
        if isinstance(decision, SkipTick):
            return dg.SkipReason(decision.reason)
        context.log.info(decision.reason)
        return immediate_request(names, ended.last_created, pipeline.settings)

    return immediate_sensor


def immediate_request(names: Sequence[str], last_run: str, settings: Settings) -> dg.RunRequest:
    """The run of the immediate domains: at most one successor for each finished one."""
    config = {"max_groups": IMMEDIATE_GROUPS, "max_seconds": settings.drain_seconds, "domains": list(names)}
    return dg.RunRequest(
        run_key=f"immediate-after-{last_run}",
        run_config={"ops": {"claim_groups": {"config": config}}},
        tags={TRIGGER: "immediate_sensor"},
    )


def _source_change(shared: Switched) -> dg.SensorDefinition:
    @dg.sensor(
        job=reserve_translations,
        owners=[PLATFORM],
        description=(
            "Launch intake when the outbox has rows, a source table changed, or a full reconciliation is "
            "due. After intake failed it waits, longer each time, up to ten minutes."
        ),
        **shared,
    )
    def source_change_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        if live_runs(context.instance, job_name=reserve_translations.name):
            return dg.SkipReason("intake is running (1)")
        now = datetime.now(UTC)
        wait = wait_after_failures(ended_runs(context.instance, now, job_name=reserve_translations.name).runs, now)
        if wait:
            return dg.SkipReason(f"intake failed, next try in {wait} s")
        due = intake_due(pipeline.context)
        if isinstance(due, IntakeIdle):
            return dg.SkipReason(due.reason)
        config = {"ops": {"reserve": {"config": {"full": due.full}}}}
        return dg.RunRequest(run_config=config, tags={TRIGGER: "source_change_sensor", REASON: due.reason})

    return source_change_sensor


def _read_models(registry: DomainRegistry, shared: Switched) -> dg.SensorDefinition:
    assets = [dg.AssetKey(asset_name(domain)) for domain in registry]

    @dg.sensor(
        asset_selection=dg.AssetSelection.assets(*assets),
        owners=[LOCALIZATION],
        description=(
            "Launch one run over all languages for the domains with due refresh marks. After such a run "
            "failed it waits, longer each time, up to ten minutes."
        ),
        **shared,
    )
    def read_models_sensor(context: dg.SensorEvaluationContext, pipeline: Pipeline) -> dg.SensorResult | dg.SkipReason:
        mine = {TRIGGER: "read_models_sensor"}
        if live_runs(context.instance, tags=mine):
            return dg.SkipReason("a read-model run is live (1)")
        now = datetime.now(UTC)
        wait = wait_after_failures(ended_runs(context.instance, now, tags=mine).runs, now)
        if wait:
            return dg.SkipReason(f"the last read-model run failed, next try in {wait} s")
        snapshot = read_models_due(pipeline.context)
        if not snapshot.due_domains:
            return dg.SkipReason(read_models_idle_reason(snapshot))
        requests = [_read_model_request(pipeline, names) for names in _alike(pipeline, sorted(snapshot.due_domains))]
        return dg.SensorResult(run_requests=requests)

    return read_models_sensor


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
        asset_selection=[dg.AssetKey(asset_name(domain)) for domain in domains],
        # Left out, every check of these assets would run each time, and some read whole tables.
        asset_check_keys=[dg.AssetCheckKey(dg.AssetKey(asset_name(domain)), ROWS_CHECK) for domain in domains],
        run_config={"ops": {asset_name(domain): {"config": {"only_due": True}} for domain in domains}},
        tags={
            LANE: Lane.READ_MODELS.value,
            RANGE_START: languages[0],
            RANGE_END: languages[-1],
            TRIGGER: "read_models_sensor",
        },
    )
