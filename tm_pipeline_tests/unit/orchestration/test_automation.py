"""Dagster's own records of daemons, sensors and schedules, judged by an asset check; ``doctor`` where it is dead."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.remote_origin import InProcessCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    ScheduleInstigatorData,
    SensorInstigatorData,
    TickData,
    TickStatus,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._daemon.types import DaemonHeartbeat
from dagster_shared.error import SerializableErrorInfo
from sqlalchemy import update

from tm_pipeline.orchestration.automation import (
    Pulse,
    automation_result,
    daemon_pulses,
    longest_pause,
    schedule_pulses,
    sensor_pulses,
)
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.services.context import Context
from tm_pipeline.settings import Settings
from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.doctor import examine
from tm_pipeline.store.heartbeat import beat
from tm_pipeline.store.tables import automation_heartbeat

REPOSITORY = build_definitions(settings=Settings.from_env({"TM_AUTOMATION": "on"})).get_repository_def()
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
PLACE = "tm_pipeline.definitions"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as kept:
        yield kept


def record(
    instance: dg.DagsterInstance,
    name: str,
    *,
    status: InstigatorStatus = InstigatorStatus.DECLARED_IN_CODE,
    ticks: tuple[tuple[int, TickStatus], ...] = (),
    place: str = PLACE,
) -> None:
    """What the daemon keeps of a sensor or schedule; ticks as (seconds ago, status), the oldest first."""
    location = InProcessCodeLocationOrigin(LoadableTargetOrigin(python_file="x.py"), location_name=place)
    origin = RemoteRepositoryOrigin(location, "__repository__").get_instigator_origin(name)
    schedule = name.endswith("_schedule")
    kind = InstigatorType.SCHEDULE if schedule else InstigatorType.SENSOR
    data = ScheduleInstigatorData("*/10 * * * *", start_timestamp=None) if schedule else SensorInstigatorData()
    state = instance.add_instigator_state(InstigatorState(origin, kind, status, data))
    for ago, outcome in ticks:
        failed = outcome is TickStatus.FAILURE
        instance.create_tick(
            TickData(
                instigator_origin_id=state.instigator_origin_id,
                instigator_name=name,
                instigator_type=kind,
                status=outcome,
                timestamp=(NOW - timedelta(seconds=ago)).timestamp(),
                error=SerializableErrorInfo("it broke\n", [], "ValueError") if failed else None,
                selector_id=state.selector_id,
            )
        )


def described(pulses: list[Pulse]) -> str:
    return str(automation_result(pulses, 0).description)


def sensors(instance: dg.DagsterInstance) -> list[Pulse]:
    return sensor_pulses(instance, REPOSITORY.sensor_defs, NOW, PLACE)


OK, FAILED = TickStatus.SKIPPED, TickStatus.FAILURE


def test_sensors_and_schedules_that_work_pass_with_their_number(instance: dg.DagsterInstance) -> None:
    record(instance, "fixed_delay_sensor", ticks=((20, OK), (5, OK)))
    record(instance, "ten_minute_schedule", ticks=((590, OK),))
    pulses = [*sensors(instance), *schedule_pulses(instance, REPOSITORY.schedule_defs, NOW, PLACE)]
    result = automation_result(pulses, 0)
    assert result.passed
    assert result.description == "2 daemons, sensors and schedules are alive"


@pytest.mark.parametrize(
    ("name", "ticks", "words"),
    [
        ("fixed_delay_sensor", ((301, OK),), "fixed_delay_sensor last worked 301 s ago, allowed are 300 s"),
        ("queue_health_sensor", ((1_801, OK),), "queue_health_sensor last worked 1801 s ago, allowed are 1800 s"),
        (
            "fixed_delay_sensor",
            ((15, FAILED), (10, FAILED), (5, FAILED)),
            "the last 3 ticks of fixed_delay_sensor failed: it broke",
        ),
        ("read_models_sensor", (), "read_models_sensor never worked"),
    ],
)
def test_a_sensor_that_is_late_fails_or_never_worked_is_an_error_with_its_numbers(
    instance: dg.DagsterInstance, name: str, ticks: tuple[tuple[int, TickStatus], ...], words: str
) -> None:
    record(instance, name, ticks=ticks)
    result = automation_result(sensors(instance), 0)
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert result.description == words


def test_one_failed_tick_among_good_ones_is_no_error(instance: dg.DagsterInstance) -> None:
    record(instance, "fixed_delay_sensor", ticks=((15, FAILED), (10, OK), (5, FAILED)))
    assert automation_result(sensors(instance), 0).passed


def test_a_schedule_may_be_silent_for_two_of_its_pauses(instance: dg.DagsterInstance) -> None:
    record(instance, "ten_minute_schedule", ticks=((1_501, OK),))
    pulses = schedule_pulses(instance, REPOSITORY.schedule_defs, NOW, PLACE)
    assert described(pulses) == "ten_minute_schedule last worked 1501 s ago, allowed are 1500 s"
    assert longest_pause("0 3 * * *") == 2 * 86_400 + 300


def test_what_a_person_switched_off_is_a_warning_that_names_it(instance: dg.DagsterInstance) -> None:
    record(instance, "fixed_delay_sensor", status=InstigatorStatus.STOPPED, ticks=((9_000, OK),))
    result = automation_result(sensors(instance), 0)
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert result.description == "fixed_delay_sensor is switched off"


def test_what_is_off_by_its_definition_and_what_is_elsewhere_or_gone_is_not_missed(
    instance: dg.DagsterInstance,
) -> None:
    off = build_definitions(settings=Settings.from_env({"TM_AUTOMATION": "off"})).get_repository_def()
    record(instance, "fixed_delay_sensor", status=InstigatorStatus.STOPPED)
    record(instance, "a_sensor_of_an_older_release", ticks=((99_999, OK),))
    record(instance, "backlog_sensor", ticks=((99_999, OK),), place="an-old-host")
    assert sensor_pulses(instance, off.sensor_defs, NOW, PLACE) == []


def test_a_sensor_that_a_person_switched_on_is_missed_too(instance: dg.DagsterInstance) -> None:
    off = build_definitions(settings=Settings.from_env({"TM_AUTOMATION": "off"})).get_repository_def()
    record(instance, "fixed_delay_sensor", status=InstigatorStatus.RUNNING, ticks=((999, OK),))
    assert described(sensor_pulses(instance, off.sensor_defs, NOW, PLACE)).startswith("fixed_delay_sensor last worked")


def test_a_daemon_without_a_fresh_heartbeat_is_an_error(instance: dg.DagsterInstance) -> None:
    instance.add_daemon_heartbeat(DaemonHeartbeat((NOW - timedelta(seconds=10)).timestamp(), "SENSOR", "x", []))
    instance.add_daemon_heartbeat(DaemonHeartbeat((NOW - timedelta(seconds=999)).timestamp(), "SCHEDULER", "x", []))
    words = described(daemon_pulses(instance, NOW))
    assert "daemon scheduler last worked 999 s ago, allowed are 300 s" in words
    assert "daemon queued_run_coordinator never worked" in words
    assert "daemon sensor" not in words


def test_alerts_that_nobody_received_are_a_warning() -> None:
    result = automation_result([], 3)
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert result.description == "3 alerts could not be delivered; see the table alert"


def test_the_check_looks_at_the_sensors_of_its_own_code_location(ctx: Context, instance: dg.DagsterInstance) -> None:
    record(instance, "fixed_delay_sensor", status=InstigatorStatus.STOPPED)
    for daemon in instance.get_required_daemon_types():
        instance.add_daemon_heartbeat(DaemonHeartbeat(datetime.now(UTC).timestamp(), daemon, "x", []))
    check = dg.AssetCheckKey(dg.AssetKey("translation_job"), "automation_is_alive")
    job = REPOSITORY.get_job("__ASSET_JOB").get_subset(asset_selection=set(), asset_check_selection={check})
    result = job.execute_in_process(instance=instance)
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.description == "fixed_delay_sensor is switched off"
    assert evaluation.metadata["switched_off"].value == 1


def test_doctor_says_when_the_automation_was_last_seen_and_fails_after_five_minutes(ctx: Context) -> None:
    def finding() -> list[tuple[bool, str]]:
        return [(check.ok, check.detail) for check in examine(ctx.db) if check.name == "automation"]

    assert finding() == []
    ctx.db.run(beat)
    [(fine, _)] = finding()
    assert fine
    with ctx.db.begin() as conn:
        conn.execute(update(automation_heartbeat).values(seen_at=now_precise(-250)))
    assert finding() == [(True, "automation last seen 4 min ago")]
    with ctx.db.begin() as conn:
        conn.execute(update(automation_heartbeat).values(seen_at=now_precise(-3 * 3_600)))
    assert finding() == [(False, "automation last seen 3 h ago")]
