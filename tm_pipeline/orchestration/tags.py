"""Run tags: short, in the alphabet that Dagster filters by.

What belongs here: tag names and lanes. What does not: anything that reads a run.
"""

import re
from enum import StrEnum

LANE = "tm/lane"
TRIGGER = "tm/trigger"
REASON = "tm/reason"
HOST = "tm/host"
MAX_RUNTIME = "dagster/max_runtime"
ROOT_RUN = "dagster/root_run_id"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
MAX_RUNTIME_SECONDS = "1800"  # a run lost with its host is STARTED for ever without it, and blocks its lane

LOCALIZATION = "team:localization"
PLATFORM = "team:platform"

_NOT_IN_A_VALUE = re.compile(r"[^A-Za-z0-9_.-]")


class Lane(StrEnum):
    """A queue lane; ``dagster.yaml`` limits the runs of each."""

    TICK = "tick"
    BACKLOG = "backlog"
    IMMEDIATE = "immediate"
    INTAKE = "intake"
    READ_MODELS = "read_models"
    OPERATOR = "operator"


def lane_tags(lane: Lane) -> dict[str, str]:
    """The tags of a job in ``lane``; on the job, so that launchpad, CLI and re-executions carry them."""
    return {LANE: lane.value, MAX_RUNTIME: MAX_RUNTIME_SECONDS}


def tag_value(text: str) -> str:
    """``text`` in the alphabet and length of a tag's value; other values are kept but cannot be filtered by."""
    return _NOT_IN_A_VALUE.sub("-", text)[:63]
