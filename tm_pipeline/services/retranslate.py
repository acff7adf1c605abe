"""Translate again what is there already: an order by domain, languages, ids and engine (S59).

The present translation stays on show until the new one is recorded, so a quota that ends half-way
leaves readers what they had. The calls paid so far are settled, or their replies would be replayed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.jobs import ACTIVE, STOPPED, GroupKey, Job, JobDraft, JobStatus
from tm_pipeline.domain.text import NORMALIZATION_VERSION
from tm_pipeline.ports import Engine
from tm_pipeline.services.calls import request_keys
from tm_pipeline.services.context import Context
from tm_pipeline.services.needs import Need, assess
from tm_pipeline.services.operate import known_languages, require_ids
from tm_pipeline.store.calls import settle_calls
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import jobs_by_group, restart_jobs, upsert_jobs
from tm_pipeline.store.memory import HUMAN, Unit, UnitKey, mark_stale, units_of_engines
from tm_pipeline.store.sources import SourceRow, read_rows, rows_after_id

PAGE_ROWS = 200  # one transaction: an order that is killed has booked whole pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to translate again; an empty condition does not restrict.

    ``engine_key`` chooses texts whose present translation is from that engine; the new one is always from
    the domain's engine. ``over_human`` includes what a person translated.
    """

    resource_type: str
    target_languages: Sequence[str] = ()
    resource_ids: Sequence[int] = ()
    engine_key: str | None = None
    over_human: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retranslated:
    """Counts of texts: ``matched`` the order, of which ``kept_human`` stay, ``waiting`` were booked before.

    ``characters`` is what the distinct texts among the others will cost at most.
    """

    resources: int = 0
    matched: int = 0
    kept_human: int = 0
    waiting: int = 0
    booked: int = 0
    characters: int = 0

    def __add__(self, other: "Retranslated") -> "Retranslated":
        return Retranslated(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """A text to translate again, with the units that are shown for it now."""

    need: Need
    key: UnitKey
    units: Sequence[Unit]


def retranslate(
    ctx: Context, order: Order, *, actor: str, reason: str, run_id: str | None = None, dry_run: bool = False
) -> Retranslated:
    """Book every text of ``order`` again; a dry run counts only.

    Raises ``UsageError`` for an unknown domain or language, and for an order over people's work without a
    reason.
    """
    domain = ctx.domain(order.resource_type)
    require_ids(order.resource_ids)
    languages = known_languages(ctx, order.target_languages, [order.resource_type]) or domain.target_languages
    if order.over_human and not reason.strip():
        raise UsageError("Say why people's translations are to be replaced: an order over them needs a reason.")
    engine = ctx.engines.engine_for(domain.resource_type)
    total, counted = Retranslated(), set[UnitKey]()
    for rows in _pages(ctx, domain, order.resource_ids):
        chosen, kept = _choose(ctx, domain, engine, order, rows, languages)
        fresh = {choice.key: len(choice.need.segment.normalised) for choice in chosen if choice.key not in counted}
        counted.update(fresh)
        waiting = 0
        if chosen and not dry_run:
            waiting = ctx.db.run(lambda conn, page=chosen: _book(conn, engine, page, actor, reason, run_id))  # type: ignore[misc]
        total += Retranslated(
            resources=len(rows),
            matched=len(chosen) + kept,
            kept_human=kept,
            waiting=waiting,
            booked=0 if dry_run else len(chosen) - waiting,
            characters=sum(fresh.values()),
        )
    return total


def _pages(ctx: Context, domain: Domain, ids: Sequence[int]) -> Iterator[list[SourceRow]]:
    """The published rows, page after page."""
    wanted, after_id = sorted(set(ids)), 0
    for first in range(0, len(wanted), PAGE_ROWS):
        with ctx.db.read() as conn:
            page = read_rows(conn, domain, wanted[first : first + PAGE_ROWS])
        yield [row for row in page if row.published]
    while not wanted:
        with ctx.db.read() as conn:
            page = rows_after_id(conn, domain, after_id, PAGE_ROWS)
        if not page:
            return
        after_id = page[-1].resource_id
        yield [row for row in page if row.published]


def _choose(
    ctx: Context, domain: Domain, engine: Engine, order: Order, rows: Sequence[SourceRow], languages: Sequence[str]
) -> tuple[list[_Choice], int]:
    """The texts of ``rows`` that the order is for, and how many of a person were left alone."""
    assessed = assess(ctx, domain, rows, languages, ask_provider=False)
    needs = [need for resource in assessed for group in resource.by_language.values() for need in group]
    keyed = [(need, key) for need in needs if (key := need.unit_key) is not None]
    known = {engine.key, HUMAN, *([order.engine_key] if order.engine_key else [])}
    with ctx.db.read() as conn:
        units = units_of_engines(conn, {key for _, key in keyed}, known, NORMALIZATION_VERSION)
    chosen, kept = [], 0
    for need, key in keyed:
        found = [unit for unit in units.get(key, ()) if unit.source_text == need.segment.normalised]
        shown = _shown(found, engine.key)
        if shown is None or order.engine_key not in {None, shown.provider}:
            continue
        if shown.provider == HUMAN and not order.over_human:
            kept += 1
        else:
            chosen.append(_Choice(need=need, key=key, units=found))
    return chosen, kept


def _shown(units: Sequence[Unit], engine_key: str) -> Unit | None:
    """The unit that a reader sees, else the best of another engine."""
    own = [unit for unit in units if unit.provider in {engine_key, HUMAN}]
    return max(own or units, key=lambda unit: unit.rank, default=None)


def _book(
    conn: Connection, engine: Engine, chosen: Sequence[_Choice], actor: str, reason: str, run_id: str | None
) -> int:
    """Book a page in one transaction; returns how many of its texts were waiting already."""
    before = _jobs(conn, chosen)
    waiting = {_place(job) for job in before.values() if job.status in ACTIVE}
    upsert_jobs(conn, [_draft(choice.need) for choice in chosen if _place_of(choice.need) not in waiting])
    restart_jobs(conn, [job.id for job in before.values() if job.status in STOPPED])
    mark_stale(conn, [unit.id for choice in chosen for unit in choice.units])
    booked = {place: job for place, job in _jobs(conn, chosen).items() if place not in waiting}
    settle_calls(conn, [key for job in booked.values() for key in request_keys(engine, job)])
    append_events(conn, [_event(job, before.get(place), actor, reason, run_id) for place, job in booked.items()])
    return len(waiting)


Place = tuple[GroupKey, str, str]


def _place_of(need: Need) -> Place:
    return need.group, need.segment.field_key, need.segment.source_hash


def _place(job: Job) -> Place:
    return job.group, job.field_key, job.source_hash


def _jobs(conn: Connection, chosen: Sequence[_Choice]) -> dict[Place, Job]:
    """The jobs of exactly these texts."""
    wanted = {_place_of(choice.need) for choice in chosen}
    ids = sorted({choice.need.group.resource_id for choice in chosen})
    by_group = jobs_by_group(conn, chosen[0].need.group.resource_type, ids)
    return {_place(job): job for jobs in by_group.values() for job in jobs if _place(job) in wanted}


def _draft(need: Need) -> JobDraft:
    segment = need.segment
    return JobDraft(
        group=need.group,
        field_key=segment.field_key,
        source_hash=segment.source_hash,
        source_text=segment.normalised,
        source_language=need.source_language,
    )


def _event(job: Job, before: Job | None, actor: str, reason: str, run_id: str | None) -> Event:
    was = before.status if before else JobStatus.COMPLETED  # a text from the memory never had a job of its own
    return Event(
        job=job, event="retranslate", from_status=was, to_status=job.status, actor=actor, run_id=run_id, reason=reason
    )
