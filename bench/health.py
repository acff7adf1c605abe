"""What the ten-minute report and the checks cost on a big database, as JSON lines.

Usage: python -m bench.health [--url mysql+pymysql://…] [--rows 1000000]

Jobs, units, ledger and history get ``--rows`` rows each, made inside the database (MariaDB's sequence tables).
The first time of each line is with cold tables, the median with warm ones.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import event, text

from bench.queue import context, fill
from tm_pipeline.services import coverage, health
from tm_pipeline.services.context import Context
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.invariants import named_queries, violations
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.databases import MariaDbServer, create_database

REPEATS = 6
CALLS_PER_SECOND = 50
TABLES = ("translation_job", "translation_memory", "provider_call", "translation_event", "read_model_refresh")

FILL = """
UPDATE translation_job SET status = ELT(1 + id % 10, 'PENDING', 'PENDING', 'COMPLETED', 'COMPLETED', 'COMPLETED',
'COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED', 'NEEDS_REVIEW');
INSERT INTO translation_memory (source_hash, source_text, source_language, target_language, translated_text,
provider, provider_version, normalization_version) SELECT SHA2(seq, 256), REPEAT('글', 60), 'ko', IF(seq % 2, 'en',
'ja'), REPEAT('t', 150), IF(seq % 5, 'papago', 'human'), '1', 'v1' FROM {sequence};
INSERT INTO provider_call (request_key, attempt, operation, provider, engine_key, characters, billed_units, state,
latency_ms, reply, run_id, job_ids, started_at, finished_at) SELECT SHA2(seq, 256), 1, 'translate', IF(seq % 7,
'papago', 'deepl'), 'papago', 60, 60, IF(seq % 100, 'DONE', 'UNKNOWN'), seq % 400, REPEAT('t', 300), 'run', '1',
NOW(6) - INTERVAL (:rows - seq) DIV :rate SECOND, NOW(6) FROM {sequence};
INSERT INTO translation_event (resource_type, resource_id, job_id, event, to_status, actor, run_id, reason,
occurred_at) SELECT 'content', seq, seq, 'recorded', IF(seq % 20, 'COMPLETED', 'FAILED'), 'pipeline', 'run', IF(seq
% 3, NULL, 'memory'), NOW(6) - INTERVAL (:rows - seq) DIV :rate SECOND FROM {sequence};
INSERT INTO read_model_refresh (resource_type, resource_id, target_language, reason, attempts, next_attempt_at)
SELECT ELT(1 + seq % 8, 'content', 'series', 'ai_character', 'original_work', 'category', 'content_theme',
'series_genre', 'game_line'), seq, 'en', 'bench', seq % 2, NOW() - INTERVAL seq SECOND FROM {tenth};
INSERT INTO category (id, name, updated_at) SELECT seq, CONCAT('이름 ', seq), '2026-01-01' FROM {tenth};
INSERT INTO category_translation (category_id, locale, value, source_fingerprint) SELECT seq, 'en', CONCAT('name ',
seq), REPEAT('0', 64) FROM {tenth}
"""


def prepare(db: Database, rows: int) -> None:
    fill(db, rows)
    with db.begin() as conn:
        for statement in FILL.split(";"):
            made = text(statement.format(sequence=f"seq_1_to_{rows}", tenth=f"seq_1_to_{rows // 10}"))
            known = {"rows": rows, "rate": CALLS_PER_SECOND}
            conn.execute(made, {name: value for name, value in known.items() if f":{name}" in statement})
    with db.begin() as conn:
        for table in (*TABLES, "category", "category_translation"):
            conn.execute(text(f"ANALYZE TABLE {table}"))


@contextmanager
def counted(db: Database) -> Iterator[list[int]]:
    box = [0]

    def count(*_: object) -> None:
        box[0] += 1

    event.listen(db.engine, "before_cursor_execute", count)
    try:
        yield box
    finally:
        event.remove(db.engine, "before_cursor_execute", count)


def reports(ctx: Context) -> Mapping[str, Callable[[], object]]:
    category = ctx.domain("category")
    return {
        "queue_numbers": lambda: health.queue_numbers(ctx),
        "spend_numbers": lambda: health.spend_numbers(ctx),
        "memory_numbers": lambda: health.memory_numbers(ctx),
        "drift_numbers": lambda: health.drift_numbers(ctx),
        "coverage_of_one_language": lambda: coverage.coverage_of(ctx, category, ["en"]),
        "sample": lambda: coverage.sample(ctx, category, "en"),
    }


def measure(url: str, rows: int) -> None:
    db = open_database(url)
    migrate(db, with_sample=True)
    prepare(db, rows)
    for name, report in reports(context(db, 0.0)).items():
        times = []
        with counted(db) as statements:
            for _ in range(REPEATS):
                begun = time.perf_counter()
                report()
                times.append((time.perf_counter() - begun) * 1_000)
        emit(
            bench=name,
            rows=rows,
            first_ms=round(times[0]),
            median_ms=round(statistics.median(times)),
            statements=statements[0] // REPEATS,
        )
    for name in named_queries():
        begun = time.perf_counter()
        with db.read() as conn:
            violations(conn, {name})
        emit(bench="invariant", name=name, rows=rows, seconds=round(time.perf_counter() - begun, 2))
    db.dispose()


def emit(**values: object) -> None:
    print(json.dumps(values), flush=True)


def main() -> None:
    """Measure on the given database, or on a private MariaDB server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="an empty MariaDB database; without it a private server is started")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    if arguments.url:
        measure(arguments.url, arguments.rows)
        return
    server = MariaDbServer()
    try:
        server.start()
        measure(create_database(server.url("mysql")), arguments.rows)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
