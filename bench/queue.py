"""The queue's numbers as JSON lines: statements, jobs/s and CPU per job, claim times, reservation rate.

Usage: python -m bench.queue [--url mysql+pymysql://…] [--backlog 1000,100000,1000000] [--jobs 1500]

Ratios and counts are the result; times on a shared machine are upper bounds. The engine is in this
process and sleeps for the given time, so that only the pipeline's own cost is measured.
"""

import argparse
import json
import resource
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import event, insert, text

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import BookingReason, GroupKey, JobDraft
from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.domain.text import source_hash
from tm_pipeline.ports import BatchOutcome, Capabilities, Engine, ItemOutcome, TranslationRequest
from tm_pipeline.services.claim import claim_groups, claimable_domains
from tm_pipeline.services.context import Context, Policy
from tm_pipeline.services.reserve import reserve
from tm_pipeline.services.work import work_groups
from tm_pipeline.store.claims import candidate_groups, release_claims
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.jobs import upsert_jobs
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.sources import SourceRow
from tm_pipeline.store.tables import metadata
from tm_pipeline_tests.databases import MariaDbServer, create_database

TICK_GROUPS = 5
GROUP_FIELDS = 3
RESERVE_SEGMENTS = 100_000


class SleepingProvider:
    """An engine that answers after ``seconds``."""

    name = "bench"
    version = "1"
    capabilities = Capabilities()

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def translate(self, request: TranslationRequest) -> BatchOutcome:
        if self._seconds:
            time.sleep(self._seconds)
        outcomes = tuple(
            ItemOutcome(id=item.id, text=f"({request.target_language}) {source_hash(item.text)[:16]}", billed_units=1)
            for item in request.items
        )
        return BatchOutcome(outcomes=outcomes)


class OneEngine:
    """Every domain is translated by the sleeping provider."""

    def __init__(self, seconds: float) -> None:
        self._engine = Engine(key="bench", provider=SleepingProvider(seconds))

    def engine_for(self, _resource_type: str) -> Engine:
        return self._engine

    def provider_names(self) -> Sequence[str]:
        return ["bench"]


def context(db: Database, seconds: float) -> Context:
    return Context(
        db=db,
        registry=builtin_registry(),
        engines=OneEngine(seconds),
        detector=None,
        policy=Policy(),
        random=lambda: 0.5,
    )


@contextmanager
def counted(db: Database) -> Iterator[list[int]]:
    """Count the statements that the block sends."""
    box = [0]

    def count(*_: object) -> None:
        box[0] += 1

    event.listen(db.engine, "before_cursor_execute", count)
    try:
        yield box
    finally:
        event.remove(db.engine, "before_cursor_execute", count)


def empty(db: Database) -> None:
    with db.begin() as conn:
        for name in (
            "translation_job",
            "translation_memory",
            "provider_call",
            "read_model_refresh",
            "translation_event",
        ):
            conn.execute(metadata.tables[name].delete())


def book(db: Database, jobs: int, *, distinct: str) -> None:
    """Book groups of three Korean jobs of the content domain."""
    fields = ("title", "detail", "tags")
    drafts = []
    for number in range(jobs):
        words = f"{distinct} {number}번째 문장입니다"
        group = GroupKey(resource_type="content", resource_id=number // GROUP_FIELDS + 1, target_language="en")
        drafts.append(
            JobDraft(
                group=group,
                field_key=fields[number % GROUP_FIELDS],
                source_hash=source_hash(words),
                source_text=words,
                source_language="ko",
            )
        )
    for start in range(0, jobs, 1_000):
        db.run(lambda conn, part=drafts[start : start + 1_000]: upsert_jobs(conn, part))


def drain(ctx: Context, worker: str) -> int:
    done = 0
    while claimed := claim_groups(ctx, limit=TICK_GROUPS, claimed_by=worker):
        done += sum(result.completed for result in work_groups(ctx, claimed, run_id=worker))
    return done


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def bench_drain(url: str, jobs: int) -> None:
    db = open_database(url, pool_size=20)
    for kind in ("paid", "memory"):
        for delay in (0.0, 0.005):
            for workers in (1, 2):
                _drain_once(db, kind, delay, workers, jobs)
    db.dispose()


def _drain_once(db: Database, kind: str, delay: float, workers: int, jobs: int) -> None:
    empty(db)
    book(db, jobs, distinct="가")
    ctx = context(db, delay)
    if kind == "memory":
        drain(ctx, "warm")
        with db.begin() as conn:
            conn.execute(metadata.tables["translation_job"].delete())
        book(db, jobs, distinct="가")
    cpu, begun = cpu_seconds(), time.monotonic()
    with counted(db) as statements:
        threads = [threading.Thread(target=drain, args=(ctx, f"w{index}")) for index in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seconds = time.monotonic() - begun
    emit(
        bench="drain",
        kind=kind,
        provider_ms=delay * 1_000,
        workers=workers,
        jobs=jobs,
        statements_per_job=round(statements[0] / jobs, 2),
        jobs_per_second=round(jobs / seconds, 1),
        cpu_ms_per_job=round((cpu_seconds() - cpu) * 1_000 / jobs, 2),
    )


def bench_claims(url: str, backlogs: Sequence[int]) -> None:
    db = open_database(url)
    ctx = context(db, 0.0)
    reference = None
    for size in backlogs:
        empty(db)
        fill(db, size)
        domains = claimable_domains(ctx)
        scans, claims = [], []
        for number in range(60):
            begun = time.perf_counter()
            with db.read() as conn:
                candidate_groups(conn, domains, TICK_GROUPS)
            scans.append((time.perf_counter() - begun) * 1_000)
            worker = f"claim-{number}"
            begun = time.perf_counter()
            claim_groups(ctx, limit=TICK_GROUPS, claimed_by=worker)
            claims.append((time.perf_counter() - begun) * 1_000)
            release_claims(db, worker)
        p99 = sorted(claims)[int(len(claims) * 0.99) - 1]
        reference = reference or p99
        emit(
            bench="claim",
            pending=size,
            scan_p50_ms=round(statistics.median(scans), 2),
            claim_p50_ms=round(statistics.median(claims), 2),
            claim_p99_ms=round(p99, 2),
            p99_ratio=round(p99 / reference, 2),
            worker_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
        )
    db.dispose()


def fill(db: Database, size: int) -> None:
    """Fill the queue by doubling inside the database; loading 1 M rows through a client would take minutes."""
    book(db, min(size, 1_000), distinct="나")
    have = min(size, 1_000)
    statement = text(
        "INSERT INTO translation_job (resource_type, resource_id, field_key, source_hash, source_text, "
        "source_language, target_language, status, retry_count, next_retry_at) "
        "SELECT resource_type, resource_id + :shift, field_key, source_hash, source_text, "
        "source_language, target_language, status, retry_count, next_retry_at "
        "FROM translation_job LIMIT :more"
    )
    while have < size:
        more = min(have, size - have)
        with db.begin() as conn:
            conn.execute(statement, {"shift": have, "more": more})
        have += more
    if not db.is_sqlite:
        with db.begin() as conn:
            conn.execute(text("ANALYZE TABLE translation_job"))


def bench_reserve(url: str) -> None:
    """Reservation with memory look-up: half of the distinct texts are in the memory already."""
    db = open_database(url)
    empty(db)
    ctx = context(db, 0.0)
    domain = ctx.domain("content")
    rows = RESERVE_SEGMENTS // (GROUP_FIELDS * len(domain.target_languages)) + 1
    _remember(db, rows)
    segments, begun = 0, time.monotonic()
    with counted(db) as statements:
        for start in range(0, rows, 500):
            page = [_source_row(domain, number) for number in range(start, min(start + 500, rows))]
            segments += reserve(ctx, domain, page, reason=BookingReason.SCAN).segments
    seconds = time.monotonic() - begun
    emit(
        bench="reserve",
        segments=segments,
        segments_per_second=round(segments / seconds),
        segments_per_statement=round(segments / statements[0], 1),
    )
    db.dispose()


def _source_row(domain: Domain, number: int) -> SourceRow:
    values: dict[str, str | None] = {key: f"{key} {number}번 글입니다" for key in domain.field_keys}
    return SourceRow(resource_id=number + 1, values=values, language="ko", version=1, updated_at=None, published=True)


def _remember(db: Database, rows: int) -> None:
    memory = metadata.tables["translation_memory"]
    batch = []
    for number in range(0, rows, 2):
        for key in ("title", "detail", "tags"):
            words = f"{key} {number}번 글입니다"
            for target in ("en", "ja"):
                batch.append(  # noqa: PERF401 - a comprehension over three loops reads worse
                    {
                        "source_hash": source_hash(words),
                        "source_text": words,
                        "source_language": "ko",
                        "target_language": target,
                        "translated_text": f"({target}) {number}",
                        "provider": "bench",
                        "provider_version": "1",
                        "normalization_version": "v1",
                    }
                )
    for start in range(0, len(batch), 1_000):
        with db.begin() as conn:
            conn.execute(insert(memory), batch[start : start + 1_000])


def emit(**values: object) -> None:
    print(json.dumps(values), flush=True)


def measure(url: str, jobs: int, backlogs: Sequence[int]) -> None:
    """Run every bench on an empty database."""
    db = open_database(url)
    migrate(db, with_sample=True)
    db.dispose()
    bench_drain(url, jobs)
    bench_reserve(url)
    bench_claims(url, backlogs)


def main() -> None:
    """Measure on the given database, or on a private MariaDB server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="an empty database; without it a private MariaDB is started")
    parser.add_argument("--backlog", default="1000,100000,1000000", help="pending jobs for the claim bench")
    parser.add_argument("--jobs", type=int, default=1_500, help="jobs of each drain")
    arguments = parser.parse_args()
    backlogs = [int(size) for size in arguments.backlog.split(",")]
    if arguments.url:
        measure(arguments.url, arguments.jobs, backlogs)
        return
    server = MariaDbServer()
    try:
        server.start()
        measure(create_database(server.url("mysql")), arguments.jobs, backlogs)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
