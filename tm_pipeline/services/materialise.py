"""Read models from the memory: re-read the source, assemble, write, delete the mark (S42, S54, S75, S78).

Every rebuild goes through ``read_model_refresh`` rows, locked while their read model is written. So
two materialisations of one row cannot race, a change that arrives meanwhile waits and marks again, and
a crash leaves the mark. No provider is called here; what is missing is booked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tm_pipeline.domain.domains import Domain, MissingPolicy
from tm_pipeline.domain.errors import DatabaseUnavailableError, ReadModelError, TmPipelineError
from tm_pipeline.domain.jobs import ACTIVE, BookingReason, GroupKey, Job, JobStatus
from tm_pipeline.domain.read_models import ReadModelRow, assemble
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.services.needs import ResourceNeeds, assess
from tm_pipeline.services.reserve import reserve
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.jobs import jobs_by_group
from tm_pipeline.store.read_models import delete_rows, fingerprints, ids_between, write_rows
from tm_pipeline.store.refreshes import (
    Refresh,
    delete_refreshes,
    due_domains,
    lock_due,
    mark_refresh,
    postpone,
)
from tm_pipeline.store.sources import SourceRow, read_rows, rows_after_id

BATCH_ROWS = 100
REBOOK_SECONDS = 60  # a mark whose text had to be booked looks again after this, in case the booking was lost


@dataclass(slots=True)
class Materialised:
    """What one materialisation did; ``failed`` holds each group with its reason."""

    resource_type: str
    written: int = 0
    removed: int = 0
    waiting: int = 0
    rebooked: int = 0
    failed: list[tuple[GroupKey, str]] = field(default_factory=list)
    rows_by_locale: dict[str, int] = field(default_factory=dict)

    def absorb(self, other: "Materialised") -> None:
        """Add the counts of a further batch."""
        self.written += other.written
        self.removed += other.removed
        self.waiting += other.waiting
        self.rebooked += other.rebooked
        self.failed.extend(other.failed)
        for locale, count in other.rows_by_locale.items():
            self.rows_by_locale[locale] = self.rows_by_locale.get(locale, 0) + count


@dataclass(slots=True)
class _Batch:
    rows: list[ReadModelRow] = field(default_factory=list)
    removed: list[GroupKey] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    waiting: int = 0
    postponed: list[tuple[int, int, str]] = field(default_factory=list)
    failed: list[tuple[GroupKey, str]] = field(default_factory=list)
    missing: dict[int, SourceRow] = field(default_factory=dict)


def materialise_due(
    ctx: Context,
    *,
    resource_type: str,
    locales: Sequence[str] | None = None,
    ids: Sequence[int] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Materialised:
    """Consume the due refresh marks of one domain, batch after batch, until none is due."""
    domain = ctx.domain(resource_type)
    total = Materialised(resource_type=resource_type)
    while True:
        batch, size = _one_batch(ctx, domain, locales, ids, batch_rows)
        if size == 0:
            return total
        total.absorb(_summary(domain, batch))
        if batch.missing:
            reserve(ctx, domain, list(batch.missing.values()), reason=BookingReason.SCAN)


def request_rebuild(
    ctx: Context,
    *,
    resource_type: str,
    locales: Sequence[str] | None = None,
    ids: Sequence[int] | None = None,
    dry_run: bool = False,
) -> int:
    """Mark read models for a rebuild: all of a domain, some locales, or given ids; returns the number of marks.

    An id that is neither in the source table nor in the read model is not counted; a dry run marks none. A
    rebuild in every language also marks rows of languages that the domain no longer has: they go.
    """
    domain = ctx.domain(resource_type)
    languages = tuple(locales or domain.target_languages)
    count = 0
    for part in _present(ctx, domain, ids):
        keys = [_key(domain, resource_id, language) for resource_id in part for language in languages]
        if set(languages) >= set(domain.target_languages):
            keys += _of_other_languages(ctx, domain, part)
        if keys and not dry_run:
            ctx.db.run(lambda conn, marked=keys: mark_refresh(conn, marked, reason="rebuild"))  # type: ignore[misc]
        count += len(keys)
    return count


def _key(domain: Domain, resource_id: int, language: str) -> GroupKey:
    return GroupKey(resource_type=domain.resource_type, resource_id=resource_id, target_language=language)


def _of_other_languages(ctx: Context, domain: Domain, ids: Sequence[int]) -> list[GroupKey]:
    with ctx.db.read() as conn:
        shown = fingerprints(conn, domain, ids)
    return [_key(domain, number, locale) for number, locale in shown if locale not in domain.target_languages]


def _present(ctx: Context, domain: Domain, ids: Sequence[int] | None) -> Iterator[list[int]]:
    """Resources that have a source row or a read model, page after page: of ``ids``, or all of the domain."""
    if ids is not None:
        with ctx.db.read() as conn:
            shown = {resource_id for resource_id, _ in fingerprints(conn, domain, ids)}
            yield sorted({row.resource_id for row in read_rows(conn, domain, ids)} | shown)
        return
    after_id, size = 0, BATCH_ROWS * 5
    while True:
        with ctx.db.read() as conn:
            page = rows_after_id(conn, domain, after_id, size)
            high = page[-1].resource_id if len(page) == size else None
            shown = ids_between(conn, domain, after_id, high)
        yield sorted({row.resource_id for row in page} | shown)
        if high is None:
            return
        after_id = high


def _one_batch(
    ctx: Context, domain: Domain, locales: Sequence[str] | None, ids: Sequence[int] | None, limit: int
) -> tuple[_Batch, int]:
    """One locked batch; a write that the database refuses is repeated row by row to isolate the bad one."""

    def work(conn: Connection, size: int) -> tuple[_Batch, int]:
        marks = lock_due(conn, domain.resource_type, locales=locales, ids=ids, limit=size)
        batch = _plan(ctx, conn, domain, marks)
        _write(conn, domain, batch)
        return batch, len(marks)

    try:
        return ctx.db.run(lambda conn: work(conn, limit))
    except DatabaseUnavailableError:
        raise
    except TmPipelineError as error:
        if limit > 1:
            return _one_batch(ctx, domain, locales, ids, 1)
        reason = str(error)
        return ctx.db.run(lambda conn: _postpone_first(ctx, conn, domain, locales, ids, reason))


def _postpone_first(
    ctx: Context,
    conn: Connection,
    domain: Domain,
    locales: Sequence[str] | None,
    ids: Sequence[int] | None,
    reason: str,
) -> tuple[_Batch, int]:
    marks = lock_due(conn, domain.resource_type, locales=locales, ids=ids, limit=1)
    batch = _Batch()
    for mark in marks:
        _fail(ctx, batch, mark, reason)
    _write(conn, domain, batch)
    return batch, len(marks)


def _plan(ctx: Context, conn: Connection, domain: Domain, marks: Sequence[Refresh]) -> _Batch:
    """Decide each mark on what the source says *now*, after its lock was taken."""
    batch = _Batch()
    ids = sorted({mark.key.resource_id for mark in marks})
    if not ids:
        return batch
    sources = {row.resource_id: row for row in read_rows(conn, domain, ids) if row.published}
    languages = sorted({mark.key.target_language for mark in marks})
    needs = assess(ctx, domain, list(sources.values()), languages, ask_provider=False)
    by_id = {resource.row.resource_id: resource for resource in needs}
    incomplete = any(need.text is None for found in needs for group in found.by_language.values() for need in group)
    jobs = jobs_by_group(conn, domain.resource_type, ids) if incomplete else {}
    for mark in marks:
        resource = by_id.get(mark.key.resource_id)
        if resource is None or mark.key.target_language not in domain.target_languages:
            batch.removed.append(mark.key)
            batch.settled.append(mark.id)
            continue
        _plan_mark(ctx, batch, domain, mark, resource, jobs.get(mark.key, ()))
    return batch


def _plan_mark(
    ctx: Context, batch: _Batch, domain: Domain, mark: Refresh, resource: ResourceNeeds, jobs: Sequence[Job]
) -> None:
    texts: dict[str, str] = {}
    for need in resource.by_language[mark.key.target_language]:
        if need.text is not None:
            texts[need.segment.field_key] = need.text
            continue
        job = need.job_among(jobs)
        if job is None or job.status in {JobStatus.COMPLETED, JobStatus.SUPERSEDED}:
            batch.missing[resource.row.resource_id] = resource.row
            batch.postponed.append((mark.id, REBOOK_SECONDS, "the text was not in the memory; it was booked"))
            return
        if job.status in ACTIVE or domain.missing is MissingPolicy.HOLD:
            batch.waiting += 1
            batch.settled.append(mark.id)  # the job marks the group again when it ends
            return
        texts[need.segment.field_key] = need.segment.raw
    try:
        row = assemble(
            domain,
            mark.key.resource_id,
            mark.key.target_language,
            texts,
            source_fingerprint=resource.fingerprint,
            source_version=resource.row.version,
        )
    except ReadModelError as error:
        _fail(ctx, batch, mark, str(error))
        return
    batch.rows.append(row)
    batch.settled.append(mark.id)


def _fail(ctx: Context, batch: _Batch, mark: Refresh, reason: str) -> None:
    batch.postponed.append((mark.id, max(1, ctx.backoff(mark.attempts + 1)), reason))
    batch.failed.append((mark.key, reason))


def _write(conn: Connection, domain: Domain, batch: _Batch) -> None:
    write_rows(conn, domain, batch.rows)
    by_locale: dict[str, list[int]] = {}
    for key in batch.removed:
        by_locale.setdefault(key.target_language, []).append(key.resource_id)
    for locale, ids in sorted(by_locale.items()):
        delete_rows(conn, domain, ids, locale=locale)
    failpoint("inside_materialise")
    delete_refreshes(conn, batch.settled)
    for mark_id, seconds, message in batch.postponed:
        postpone(conn, mark_id, seconds=seconds, message=message)


def _summary(domain: Domain, batch: _Batch) -> Materialised:
    by_locale: dict[str, int] = {}
    for row in batch.rows:
        by_locale[row.locale] = by_locale.get(row.locale, 0) + 1
    return Materialised(
        resource_type=domain.resource_type,
        written=len(batch.rows),
        removed=len(batch.removed),
        waiting=batch.waiting,
        rebooked=len(batch.missing),
        failed=list(batch.failed),
        rows_by_locale=by_locale,
    )


def materialise_all_due(ctx: Context) -> list[Materialised]:
    """Consume the due marks of every domain that has some."""
    due = due_resource_types(ctx)
    return [materialise_due(ctx, resource_type=name) for name in sorted(due)]


def due_resource_types(ctx: Context) -> Mapping[str, set[str]]:
    """The configured domains with due marks, and their locales."""
    with ctx.db.read() as conn:
        due = due_domains(conn)
    return {name: locales for name, locales in due.items() if ctx.registry.get(name) is not None}
