"""Which runs are forgotten, and what stays."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tm_pipeline.orchestration.prune import KnownRun, prunable, prune
from tm_pipeline.services.context import Context
from tm_pipeline.services.outputs import load_output, save_output
from tm_pipeline_tests.product import count

NOW = datetime(2026, 12, 1, tzinfo=UTC)
NOTHING: frozenset[str] = frozenset()


def run(number: int, days: int | None, *, root: int | None = None, job: str = "tick") -> KnownRun:
    ended = None if days is None else NOW - timedelta(days=days)
    return KnownRun(run_id=f"r{number}", root=f"r{root or number}", job=job, ended=ended)


def old(runs: Sequence[KnownRun], *, keep: int = 0, needed: frozenset[str] = NOTHING, most: int = 100) -> list[str]:
    return prunable(runs, before=NOW - timedelta(days=90), keep_of_each_job=keep, needed=needed, most=most)


def test_old_runs_go_oldest_first_and_young_or_live_ones_stay() -> None:
    assert old([run(5, None), run(4, 1), run(3, 91), run(2, 100), run(1, 200)]) == ["r1", "r2", "r3"]
    assert old([run(3, 91), run(2, 100), run(1, 200)], most=2) == ["r1", "r2"]


def test_the_newest_of_each_job_stay_however_old() -> None:
    runs = [run(4, 100), run(3, 110, job="intake"), run(2, 120), run(1, 130, job="intake")]
    assert old(runs, keep=1) == ["r1", "r2"]


def test_a_chain_of_re_executions_stays_whole_while_one_of_it_is_kept() -> None:
    assert old([run(3, 10, root=1), run(2, 100), run(1, 200)]) == ["r2"]
    assert old([run(3, None, root=1), run(1, 200)]) == []


def test_the_run_of_an_assets_last_materialisation_stays() -> None:
    assert old([run(2, 100), run(1, 200)], needed=frozenset({"r1"})) == ["r2"]


RUNS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 300)), st.integers(1, 12), st.sampled_from(["tick", "intake"])),
    max_size=12,
)


@given(RUNS, st.integers(0, 4), st.integers(0, 12))
def test_what_is_kept_is_kept_for_ever_and_a_second_pruning_finds_nothing_new(
    shapes: list[tuple[int | None, int, str]], keep: int, most: int
) -> None:
    runs = [run(n, days, root=root, job=job) for n, (days, root, job) in enumerate(shapes, start=1)][::-1]
    gone = set(old(runs, keep=keep, most=most))
    assert len(gone) <= most
    left = [one for one in runs if one.run_id not in gone]
    assert {one.root for one in runs if one.ended is None}.isdisjoint({one.root for one in runs if one.run_id in gone})
    if len(gone) < most:
        assert old(left, keep=keep, most=most) == []


@dg.op
def work() -> int:
    return 1


@dg.job
def tick() -> None:
    work()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_a_forgotten_run_takes_its_outputs_along_and_leaves_the_history_of_texts(
    ctx: Context, instance: dg.DagsterInstance
) -> None:
    runs = [tick.execute_in_process(instance=instance).run_id for _ in range(8)]
    for run_id in runs:
        save_output(ctx, run_id=run_id, step_key="work", name="result", mapping_key="", value=1)
    history = count(ctx, "translation_event"), count(ctx, "provider_call")
    dry = prune(ctx, instance, older_than_days=-1, keep_of_each_job=6, dry_run=True)
    assert dry == {"matched": 2, "deleted": 0}
    assert prune(ctx, instance, older_than_days=-1, keep_of_each_job=6, dry_run=False) == {"matched": 2, "deleted": 2}
    assert [instance.get_run_by_id(run_id) is not None for run_id in runs] == [False] * 2 + [True] * 6
    assert count(ctx, "op_output") == 6
    assert load_output(ctx, run_id=runs[-1], step_key="work", name="result", mapping_key="") == 1
    assert (count(ctx, "translation_event"), count(ctx, "provider_call")) == history


def test_the_command_prunes_the_instance_of_dagster_home(ctx: Context, sqlite_url: str, tmp_path: Path) -> None:
    environment = {"DAGSTER_HOME": str(tmp_path), "TM_DATABASE_URL": sqlite_url, "PATH": ""}
    command = [str(Path(sys.executable).with_name("tm-pipeline")), "prune-runs", "--older-than", "1", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"matched": 0, "deleted": 0}
