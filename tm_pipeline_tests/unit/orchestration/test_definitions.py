"""What operators see in the UI is complete, and loading the code location touches nothing outside the process."""

import subprocess
import sys
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph

from tm_pipeline.orchestration import config
from tm_pipeline.orchestration.build import build_definitions, build_worker_definitions
from tm_pipeline.settings import Settings

DOMAINS = (
    "ai_character",
    "category",
    "content",
    "content_theme",
    "game_line",
    "original_work",
    "series",
    "series_genre",
)
CLAIMING_JOBS = {"drain_backlog", "translate_due_groups", "translate_immediate"}
CLAIMING_SENSORS = {"backlog_sensor", "run_canceled_release", "run_failure_release"}

DEFS = build_definitions(settings=Settings.from_env({}))
WORKER = build_worker_definitions(settings=Settings.from_env({}), host="host-b")

IMPORT_WITHOUT_SOCKETS = """
import socket

class Blocked(socket.socket):
    def connect(self, address):
        raise AssertionError(f"connects to {address}")
    connect_ex = bind = connect

def blocked(*arguments, **options):
    raise AssertionError(f"connects to or resolves {arguments}")

socket.socket = Blocked
socket.create_connection = socket.getaddrinfo = blocked
import importlib, sys
print(type(importlib.import_module(sys.argv[1]).defs).__name__)
"""


def jobs(defs: dg.Definitions) -> list[dg.JobDefinition]:
    found = defs.get_repository_def().get_all_jobs()
    return [job for job in found if not job.name.startswith("__")]


def graph() -> AssetGraph:
    return DEFS.get_repository_def().asset_graph


def config_classes() -> list[type[dg.Config]]:
    found = [value for value in vars(config).values() if isinstance(value, type) and issubclass(value, dg.Config)]
    return [value for value in found if value.__module__ == config.__name__]


@pytest.mark.parametrize("defs", [DEFS, WORKER], ids=["main", "worker"])
def test_the_definitions_load(defs: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(defs)


def test_an_extra_host_has_no_asset_schedule_or_tick_sensor() -> None:
    repository = WORKER.get_repository_def()
    assert {job.name for job in jobs(WORKER)} == CLAIMING_JOBS
    assert {sensor.name for sensor in repository.sensor_defs} == CLAIMING_SENSORS
    assert list(repository.schedule_defs) == []
    assert list(repository.asset_graph.get_all_asset_keys()) == []


def test_every_job_op_sensor_and_schedule_is_described() -> None:
    repository = DEFS.get_repository_def()
    ops = [node.definition for job in jobs(DEFS) for node in job.nodes]
    things: list[Any] = [*jobs(DEFS), *ops, *repository.sensor_defs, *repository.schedule_defs]
    assert [thing.name for thing in things if not (thing.description or "").strip()] == []


def test_every_op_says_what_to_do_when_it_is_red() -> None:
    ops = [node.definition for job in jobs(DEFS) for node in job.nodes]
    told = ("**When it fails**", "**Red**")
    assert {op.name for op in ops if not any(words in (op.description or "") for words in told)} == set()


def test_every_asset_has_a_description_group_kinds_and_owners() -> None:
    for key in graph().get_all_asset_keys():
        node = graph().get(key)
        assert node.description, key
        assert node.group_name != "default", key
        assert node.kinds, key
        assert node.owners, key


def test_every_job_has_an_owner_a_lane_and_a_longest_time() -> None:
    for job in jobs(DEFS):
        assert job.owners, job.name
        assert job.tags["tm/lane"], job.name
        assert int(job.tags["dagster/max_runtime"]) > 0, job.name


def test_a_read_model_has_one_partition_for_each_language_and_the_others_cannot_be_materialised() -> None:
    models = {f"{name}_translation" for name in DOMAINS}
    for key in graph().get_all_asset_keys():
        node = graph().get(key)
        assert node.is_materializable == (key.to_user_string() in models)
        if node.is_materializable:
            assert node.partitions_def is not None
            assert list(node.partitions_def.get_partition_keys()) == ["en", "ja", "ko"]


def test_every_launchpad_field_is_described_and_has_a_default_that_shows() -> None:
    assert config_classes()
    for form in config_classes():
        for name, field in form.model_fields.items():
            assert field.description, f"{form.__name__}.{name}"
            assert not field.is_required(), f"{form.__name__}.{name}"
            assert field.default is not None, f"{form.__name__}.{name}"


def test_every_job_starts_from_an_empty_launchpad() -> None:
    for job in jobs(DEFS):
        assert dg.validate_run_config(job, {}), job.name


@pytest.mark.parametrize(("automation", "working"), [("on", True), ("off", False), ("", False)])
def test_sensors_and_schedules_work_by_themselves_only_where_automation_is_on(
    automation: str, *, working: bool
) -> None:
    settings = Settings.from_env({"TM_AUTOMATION": automation})
    repository = build_definitions(settings=settings).get_repository_def()
    automatic: list[Any] = [*repository.sensor_defs, *repository.schedule_defs]
    statuses = {thing.default_status.value for thing in automatic}
    assert statuses == {"RUNNING" if working else "STOPPED"}


@pytest.mark.parametrize("module", ["tm_pipeline.definitions", "tm_pipeline.worker"])
def test_loading_a_code_location_opens_no_connection(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_WITHOUT_SOCKETS, module],
        env={"TM_DATABASE_URL": "mysql+pymysql://nobody@127.0.0.1:1/none", "TM_PROVIDER": "papago"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Definitions"
