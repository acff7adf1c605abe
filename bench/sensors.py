"""What one look of each sensor costs on a big queue, as JSON lines: statements and milliseconds.

Usage: python -m bench.sensors [--url mysql+pymysql://…] [--jobs 1000000]

Half of the jobs are due, spread over all domains; the others wait for their back-off. One read model in ten jobs is
marked, half of the marks due; every source table has ten thousand rows. The first look of each line is on cold
tables, the median on warm ones; ``sql_ms`` is the database's part of it.
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import dagster as dg
from sqlalchemy import event, text

from bench.queue import emit, fill
from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.orchestration.build import build_definitions
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.settings import Settings
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline.wiring import current_application
from tm_pipeline_tests.databases import MariaDbServer, create_database

REPEATS = 10
SOURCE_ROWS = 10_000
SENSORS = (
    "fixed_delay_sensor",
    "backlog_sensor",
    "immediate_sensor",
    "read_models_sensor",
    "source_change_sensor",
    "alert_sensor",
    "queue_health_sensor",
)
NAMES = ", ".join(f"'{domain.resource_type}'" for domain in BUILTIN)
SPREAD = f"""
UPDATE translation_job SET resource_type = ELT(1 + resource_id % {len(BUILTIN)}, {NAMES}),
next_retry_at = IF(id % 2, NOW() - INTERVAL id % 100000 SECOND, NOW() + INTERVAL id % 100000 SECOND);
INSERT INTO read_model_refresh (resource_type, resource_id, target_language, reason, attempts, next_attempt_at)
SELECT ELT(1 + seq % {len(BUILTIN)}, {NAMES}), seq, 'en', 'bench', 0,
IF(seq % 2, NOW() - INTERVAL seq % 1000 SECOND, NOW() + INTERVAL seq % 1000 SECOND) FROM {{marks}};
INSERT INTO category (id, name, updated_at) SELECT seq, 'name', '2026-01-01' FROM {{rows}};
INSERT INTO sensor_watermark (resource_type, watermark, last_full_at) SELECT DISTINCT resource_type, NOW(6), NOW(6)
FROM translation_job;
ANALYZE TABLE translation_job, read_model_refresh, category
"""


def prepare(db: Database, jobs: int) -> None:
    fill(db, jobs)
    parts = SPREAD.format(marks=f"seq_1_to_{jobs // 10}", rows=f"seq_1_to_{SOURCE_ROWS}").split(";")
    for statement in parts:
        with db.patient().begin() as conn:
            conn.execute(text(statement))


@contextmanager
def timed(db: Database) -> Iterator[list[float]]:
    """The seconds of each statement that the block sends."""
    took: list[float] = []

    def before(conn: Any, *_: object) -> None:
        conn.info["begun"] = time.perf_counter()

    def after(conn: Any, *_: object) -> None:
        took.append(time.perf_counter() - conn.info["begun"])

    event.listen(db.engine, "before_cursor_execute", before)
    event.listen(db.engine, "after_cursor_execute", after)
    try:
        yield took
    finally:
        event.remove(db.engine, "before_cursor_execute", before)
        event.remove(db.engine, "after_cursor_execute", after)


def bench_sensors(jobs: int) -> None:
    registry = DomainRegistry({item.resource_type: replace(item, immediate=True) for item in BUILTIN})
    repository = build_definitions(settings=Settings.from_env({}), registry=registry).get_repository_def()
    db = current_application().context.db
    with dg.DagsterInstance.ephemeral() as instance:
        for name in SENSORS:
            looks, sql, statements, said = [], [], 0, ""
            for _ in range(REPEATS):
                begun = time.perf_counter()
                with (
                    timed(db) as took,
                    dg.build_sensor_context(
                        instance=instance, repository_def=repository, resources={"pipeline": Pipeline()}
                    ) as context,
                ):
                    data = repository.get_sensor_def(name).evaluate_tick(context)
                looks.append((time.perf_counter() - begun) * 1_000)
                sql.append(sum(took) * 1_000)
                statements, said = len(took), data.skip_message or f"{len(data.run_requests or ())} runs"
            emit(
                bench="sensor",
                sensor=name,
                jobs=jobs,
                statements=statements,
                first_ms=round(looks[0], 1),
                median_ms=round(statistics.median(looks), 1),
                sql_ms=round(statistics.median(sql), 1),
                said=said,
            )


def measure(url: str, jobs: int) -> None:
    """Run the bench on an empty database."""
    db = open_database(url)
    migrate(db, with_sample=True)
    prepare(db, jobs)
    db.dispose()
    os.environ["TM_DATABASE_URL"], os.environ["TM_PROVIDER"] = url, "pseudo"
    bench_sensors(jobs)


def main() -> None:
    """Measure on the given database, or on a private MariaDB server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="an empty MariaDB database; without it a private one is started")
    parser.add_argument("--jobs", type=int, default=1_000_000, help="jobs in the queue")
    arguments = parser.parse_args()
    if arguments.url:
        measure(arguments.url, arguments.jobs)
        return
    server = MariaDbServer()
    try:
        server.start()
        measure(create_database(server.url("mysql")), arguments.jobs)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
