"""A sensor decides on at most three statements on MariaDB, whatever there is to see; bench/sensors times them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import event, update

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.context import Context
from tm_pipeline.settings import Settings
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.engine import open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.provider_states import open_circuit
from tm_pipeline.store.refreshes import mark_refresh
from tm_pipeline.store.tables import metadata, source_table
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.product import insert_rows, reserve_everything

MOST = 3
REGISTRY = DomainRegistry({domain.resource_type: replace(domain, immediate=True) for domain in BUILTIN})
REPOSITORY = build_definitions(settings=Settings.from_env({}), registry=REGISTRY).get_repository_def()
RESOURCES = {"pipeline": Pipeline()}
SENSORS = [
    "alert_sensor",
    "backlog_sensor",
    "fixed_delay_sensor",
    "immediate_sensor",
    "read_models_sensor",
    "source_change_sensor",
]

pytestmark = pytest.mark.db


@pytest.fixture
def mariadb(mariadb_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    db.dispose()
    monkeypatch.setenv("TM_DATABASE_URL", mariadb_url)
    monkeypatch.setenv("TM_PROVIDER", "pseudo")
    current_application.cache_clear()
    context = Pipeline().context
    yield context
    context.db.dispose()
    current_application.cache_clear()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@contextmanager
def sent(ctx: Context) -> Iterator[list[tuple[str, Any]]]:
    """The statements that the block sends, with their parameters."""
    found: list[tuple[str, Any]] = []

    def note(_conn: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: Any) -> None:
        found.append((statement, parameters))

    event.listen(ctx.db.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(ctx.db.engine, "before_cursor_execute", note)


def evaluate(name: str, instance: dg.DagsterInstance) -> Any:
    with dg.build_sensor_context(instance=instance, repository_def=REPOSITORY, resources=RESOURCES) as context:
        return REPOSITORY.get_sensor_def(name).evaluate_tick(context)


def a_busy_product(ctx: Context) -> None:
    """Everything that sensors look at, some due and some waiting, and nothing in the outbox."""
    insert_rows(ctx, "category", [{"id": number, "name": f"이름 {number}"} for number in range(1, 40)])
    insert_rows(ctx, "content", [{"id": number, "title": f"제목 {number}"} for number in range(1, 40)])
    reserve_everything(ctx)
    jobs = metadata.tables["translation_job"]
    with ctx.db.begin() as conn:
        for domain in ctx.registry:
            conn.execute(update(source_table(domain)).values(updated_at=datetime(2020, 1, 1, tzinfo=UTC)))
        conn.execute(update(jobs).where(jobs.c.id % 3 == 0).values(next_retry_at=now_seconds(600)))
    key = GroupKey(resource_type="category", resource_id=1, target_language="en")
    ctx.db.run(lambda conn: mark_refresh(conn, [key], reason="test"))
    for name in ("papago", "deepl"):
        ctx.db.run(lambda conn, one=name: open_circuit(conn, one, "quota"))  # type: ignore[misc]


@pytest.mark.parametrize("name", SENSORS)
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_a_sensor_decides_on_at_most_three_statements(
    mariadb: Context, instance: dg.DagsterInstance, name: str, *, busy: bool
) -> None:
    if busy:
        a_busy_product(mariadb)
    evaluate(name, instance)  # books what is new, which is no decision
    with sent(mariadb) as statements:
        evaluate(name, instance)
    assert len(statements) <= MOST, [statement for statement, _ in statements]
