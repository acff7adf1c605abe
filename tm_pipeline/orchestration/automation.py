"""Is the automation alive? The heartbeat of sensors in the pipeline's database, and a check of Dagster itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.domain.alerts import one_line
from tm_pipeline.orchestration.assets import JOB_ASSET
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.alerts import undelivered
from tm_pipeline.services.context import Context
from tm_pipeline.store.heartbeat import beat

BEAT_SECONDS = 60
LONGEST_SILENCE_SECONDS = 300
LOOKED_AT_TICKS = 3  # one failed tick is news, three in a row are a state
ERROR_CHARACTERS = 200


def beat_when_due(context: dg.SensorEvaluationContext, ctx: Context, now: datetime) -> None:
    """Leave a heartbeat once a minute; the sensor's cursor remembers the last one."""
    last = float(context.cursor or 0)
    if 0 <= now.timestamp() - last < BEAT_SECONDS:
        return
    ctx.db.run(beat)
    context.update_cursor(str(int(now.timestamp())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """What Dagster knows of one daemon, sensor or schedule; ages in seconds, None where it never worked."""

    name: str
    age_seconds: float | None
    allowed_seconds: float
    switched_off: bool = False
    failed_ticks: int = 0
    error: str = ""


def dead(pulses: Iterable[Pulse]) -> list[str]:
    """What should work and does not, one line each with its numbers."""
    return [line for pulse in pulses if not pulse.switched_off for line in _ailments(pulse)]


def _ailments(pulse: Pulse) -> Iterator[str]:
    if pulse.age_seconds is None:
        yield f"{pulse.name} never worked"
    elif pulse.age_seconds > pulse.allowed_seconds:
        yield f"{pulse.name} last worked {pulse.age_seconds:.0f} s ago, allowed are {pulse.allowed_seconds:.0f} s"
    elif pulse.failed_ticks >= LOOKED_AT_TICKS:
        yield f"the last {pulse.failed_ticks} ticks of {pulse.name} failed: {pulse.error}"


def switched_off(pulses: Iterable[Pulse]) -> list[str]:
    """What a person has switched off although it should work."""
    return [f"{pulse.name} is switched off" for pulse in pulses if pulse.switched_off]


def daemon_pulses(instance: dg.DagsterInstance, now: datetime) -> list[Pulse]:
    """The daemons that this instance needs."""
    found = []
    for name, status in instance.get_daemon_statuses().items():
        seen = status.last_heartbeat
        age = None if seen is None else now.timestamp() - seen.timestamp
        found.append(Pulse(name=f"daemon {name.lower()}", age_seconds=age, allowed_seconds=LONGEST_SILENCE_SECONDS))
    return found


def sensor_pulses(
    instance: dg.DagsterInstance, sensors: Sequence[dg.SensorDefinition], now: datetime, location: str | None
) -> list[Pulse]:
    """The sensors that are switched on, in the code or by a person, and those that a person switched off."""
    on = {sensor.name: sensor.default_status is dg.DefaultSensorStatus.RUNNING for sensor in sensors}
    allowed = {
        sensor.name: float(max(LONGEST_SILENCE_SECONDS, 3 * (sensor.minimum_interval_seconds or 0)))
        for sensor in sensors
    }
    return _pulses(instance, on, allowed, now, location)


def schedule_pulses(
    instance: dg.DagsterInstance, schedules: Sequence[dg.ScheduleDefinition], now: datetime, location: str | None
) -> list[Pulse]:
    """The same of schedules, whose silence may last from one time to the next but one."""
    on = {schedule.name: schedule.default_status is dg.DefaultScheduleStatus.RUNNING for schedule in schedules}
    allowed = {schedule.name: longest_pause(str(schedule.cron_schedule)) for schedule in schedules}
    return _pulses(instance, on, allowed, now, location)


def longest_pause(cron: str) -> float:
    """Seconds that a schedule may be silent: ``*/10 * * * *`` is every ten minutes, anything rarer once a day."""
    minutes = cron.removeprefix("*/").removesuffix(" * * * *")
    every = 60 * int(minutes) if minutes.isdigit() and cron.startswith("*/") else 86_400
    return float(2 * every + LONGEST_SILENCE_SECONDS)


def _pulses(
    instance: dg.DagsterInstance, on: Mapping[str, bool], allowed: Mapping[str, float], now: datetime, place: str | None
) -> list[Pulse]:
    """One for each that Dagster has a state of; it appears when the daemon first looks at the code location."""
    found = []
    for state in instance.all_instigator_state():
        elsewhere = place is not None and state.repository_selector.location_name != place
        by_hand = state.status.value in ("RUNNING", "STOPPED")
        working = state.is_running if by_hand else on.get(state.name, False)
        if elsewhere or state.name not in on or not (working or on[state.name]):
            continue
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=LOOKED_AT_TICKS)
        errors = [tick.error.message if tick.error else "" for tick in ticks if tick.status.value == "FAILURE"]
        seen = _last_seen(state.instigator_data, [tick.timestamp for tick in ticks])
        found.append(
            Pulse(
                name=state.name,
                age_seconds=None if seen is None else max(0.0, now.timestamp() - seen),
                allowed_seconds=allowed[state.name],
                switched_off=not working,
                failed_ticks=len(errors),
                error=one_line(errors[0], ERROR_CHARACTERS) if errors else "",
            )
        )
    return found


def _last_seen(kept: object, ticks: Sequence[float]) -> float | None:
    """The newest sign of life: a tick that is kept, the last one noted, or the moment of switching on."""
    noted = (
        "last_tick_timestamp",
        "last_sensor_start_timestamp",
        "last_iteration_timestamp",
        "start_timestamp",
    )
    signs = [*ticks, *(getattr(kept, name, None) or 0.0 for name in noted)]
    return max(signs, default=0.0) or None


def _location(context: dg.AssetCheckExecutionContext) -> str | None:
    origin = context.run.remote_job_origin
    return None if origin is None else origin.repository_origin.code_location_origin.location_name


CLAIM = (
    "Looks at Dagster itself: every daemon has a fresh heartbeat, every sensor and schedule that is switched on has "
    "worked within its time and not failed three times in a row, and no alert is stuck. **An error**: start the "
    "daemon, or open the named sensor and read its last tick. **A warning** names what a person switched off, or "
    "alerts that could not be delivered. Where the daemon is dead it launches no check: press this one, or read in "
    "`tm-pipeline doctor` and `status` when the automation was last seen."
)


def build_automation_check(
    sensors: Sequence[dg.SensorDefinition], schedules: Sequence[dg.ScheduleDefinition]
) -> dg.AssetChecksDefinition:
    """The check that these sensors and schedules of the code location, and Dagster's daemons, are alive."""

    @dg.asset_check(asset=JOB_ASSET, description=CLAIM)
    def automation_is_alive(context: dg.AssetCheckExecutionContext, pipeline: Pipeline) -> dg.AssetCheckResult:
        now, location = datetime.now(UTC), _location(context)
        pulses = [
            *daemon_pulses(context.instance, now),
            *sensor_pulses(context.instance, sensors, now, location),
            *schedule_pulses(context.instance, schedules, now, location),
        ]
        return automation_result(pulses, undelivered(pipeline.context))

    return automation_is_alive


def automation_result(pulses: Sequence[Pulse], lost_alerts: int) -> dg.AssetCheckResult:
    """An error where something is dead, a warning where a person or a lost alert is the reason."""
    errors, off = dead(pulses), switched_off(pulses)
    lost = [f"{lost_alerts} alerts could not be delivered; see the table alert"] if lost_alerts else []
    return dg.AssetCheckResult(
        passed=not (errors or off or lost),
        severity=dg.AssetCheckSeverity.ERROR if errors else dg.AssetCheckSeverity.WARN,
        description="; ".join([*errors, *off, *lost]) or f"{len(pulses)} daemons, sensors and schedules are alive",
        metadata={
            "dead": len(errors),
            "switched_off": len(off),
            "undelivered_alerts": lost_alerts,
            "last_worked_seconds_ago": {
                pulse.name: None if pulse.age_seconds is None else round(pulse.age_seconds) for pulse in pulses
            },
        },
    )
