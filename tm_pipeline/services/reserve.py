"""Booking: what the memory has is refreshed, what is missing becomes a job (S47–S52, S96, S101)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import ErrorKind
from tm_pipeline.domain.jobs import ACTIVE, UNFINISHED, BookingReason, GroupKey, Job, JobDraft, JobStatus, reactivates
from tm_pipeline.domain.languages import UNDETERMINED
from tm_pipeline.domain.segments import SegmentKind, source_fingerprint
from tm_pipeline.services.context import Context
from tm_pipeline.services.needs import Need, ResourceNeeds, assess
from tm_pipeline.services.withdraw import withdraw
from tm_pipeline.store.engine import Connection
from tm_pipeline.store.events import Event, append_events
from tm_pipeline.store.jobs import jobs_by_group, supersede_jobs, upsert_jobs
from tm_pipeline.store.read_models import fingerprints
from tm_pipeline.store.refreshes import mark_refresh
from tm_pipeline.store.requests import append_request_once, delete_requests
from tm_pipeline.store.sources import SourceRow

EXCERPT_CHARACTERS = 200  # of a text that no job can hold; the job says so in its error
ACTOR = "reserve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Counts of one booking; ``segments`` counts field × target language, blank ones included."""

    resources: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    segments: int = 0
    passthrough: int = 0
    hits: int = 0
    booked: int = 0
    superseded: int = 0
    refreshes: int = 0
    invalid: int = 0
    deferred: int = 0

    def __add__(self, other: "Reserved") -> "Reserved":
        return Reserved(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


@dataclass(slots=True)
class _Plan:
    drafts: list[JobDraft]
    obsolete: list[Job]
    restarted: list[Job]
    refreshes: list[GroupKey]
    deferred: set[int]


def reserve(
    ctx: Context,
    domain: Domain,
    rows: Sequence[SourceRow],
    *,
    reason: BookingReason,
    target_languages: Sequence[str] | None = None,
    request_ids: Sequence[int] = (),
) -> Reserved:
    """Book what ``rows`` of ``domain`` lack; deletes the outbox rows ``request_ids`` in the same transaction.

    Idempotent: a second call with the same rows writes nothing. Raises database errors only.
    """
    languages = tuple(target_languages or domain.target_languages)
    published = [row for row in rows if row.published]
    gone = withdraw(ctx, domain, [row.resource_id for row in rows if not row.published])
    ids = [row.resource_id for row in published]
    with ctx.db.read() as conn:
        shown = fingerprints(conn, domain, ids)
    assessed = assess(ctx, domain, _changed(domain, published, languages, shown, reason), languages, ask_provider=True)
    plan = _Plan(drafts=[], obsolete=[], restarted=[], refreshes=[], deferred=set())
    with ctx.db.read() as conn:
        by_group = jobs_by_group(conn, domain.resource_type, [needs.row.resource_id for needs in assessed])
    for needs in assessed:
        _plan_resource(plan, domain, needs, by_group, shown, reason)
    if plan.drafts or plan.obsolete or plan.refreshes or plan.deferred or request_ids:
        ctx.db.run(lambda conn: _write(conn, domain, plan, request_ids))
    return _count(assessed, plan, withdrawn=gone, unchanged=len(published) - len(assessed))


def _changed(
    domain: Domain,
    rows: Sequence[SourceRow],
    languages: Sequence[str],
    shown: Mapping[tuple[int, str], str],
    reason: BookingReason,
) -> list[SourceRow]:
    """Leave out rows whose read models already show exactly this source; asked-for rows always stay."""
    if reason is BookingReason.REQUEST:
        return list(rows)
    return [
        row
        for row in rows
        for present in (source_fingerprint(domain, row.values, row.language),)
        if any(shown.get((row.resource_id, language)) != present for language in languages)
    ]


def _plan_resource(
    plan: _Plan,
    domain: Domain,
    needs: ResourceNeeds,
    by_group: Mapping[GroupKey, Sequence[Job]],
    shown: Mapping[tuple[int, str], str],
    reason: BookingReason,
) -> None:
    for language, group_needs in needs.by_language.items():
        if not group_needs:
            continue
        group = group_needs[0].group
        jobs = by_group.get(group, ())
        obsolete = [job for job in jobs if _is_obsolete(domain, job, group_needs)]
        plan.obsolete.extend(obsolete)
        edited = {job.field_key for job in obsolete}
        waiting = False
        for need in group_needs:
            waiting |= _plan_need(plan, domain, need, jobs, reason, quiet=need.segment.field_key in edited)
        known = shown.get((needs.row.resource_id, language))
        if not waiting and (reason is BookingReason.REQUEST or known != needs.fingerprint):
            plan.refreshes.append(group)


def _is_obsolete(domain: Domain, job: Job, needs: Sequence[Need]) -> bool:
    """Whether the text that an unfinished job stands for is no longer what must be translated."""
    if job.status not in UNFINISHED - {JobStatus.RUNNING}:
        return False
    need = next((need for need in needs if need.segment.field_key == job.field_key), None)
    if need is None:
        return domain.field(job.field_key) is None
    if need.segment.source_hash != job.source_hash:
        return True
    return need.text is not None and not need.from_memory


def _plan_need(
    plan: _Plan, domain: Domain, need: Need, jobs: Sequence[Job], reason: BookingReason, *, quiet: bool
) -> bool:
    """Book one need; true where the group has to wait for it."""
    if need.text is not None:
        return False
    if need.deferred:
        plan.deferred.add(need.group.resource_id)
        return True
    known = need.job_among(jobs)
    if known is not None:
        if known.status is JobStatus.RUNNING:
            return True
        relabelled = known.status is JobStatus.PENDING and known.source_language != need.source_language
        if not relabelled and not _restarts(known, need, reason):
            return known.status in ACTIVE
        plan.restarted.append(known)
    draft = _draft(need, domain.edit_quiet_seconds if quiet else 0)
    plan.drafts.append(draft)
    return draft.status is JobStatus.PENDING


def _restarts(known: Job, need: Need, reason: BookingReason) -> bool:
    if need.segment.kind is SegmentKind.INVALID or need.source_language == UNDETERMINED:
        return known.status in {JobStatus.SUPERSEDED, JobStatus.CANCELLED}
    decided_elsewhere = known.error_kind is ErrorKind.LANGUAGE_UNDETERMINED
    return decided_elsewhere or reactivates(reason, known.status, known.error_kind)


def _draft(need: Need, due_in_seconds: int) -> JobDraft:
    segment = need.segment
    status, kind, message, text = JobStatus.PENDING, None, None, segment.normalised
    if segment.kind is SegmentKind.INVALID:
        status, kind, message = JobStatus.FAILED, ErrorKind.INVALID_SOURCE, segment.error
        printable = segment.raw[:EXCERPT_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
        text = printable.replace("\x00", "�")
    elif need.source_language == UNDETERMINED:
        status, kind = JobStatus.NEEDS_REVIEW, ErrorKind.LANGUAGE_UNDETERMINED
        message = (
            "The source language could not be told from the text. Fill the row's language column or set "
            "source_language for the domain, then book the resource again."
        )
    return JobDraft(
        group=need.group,
        field_key=segment.field_key,
        source_hash=segment.source_hash,
        source_text=text,
        source_language=need.source_language,
        due_in_seconds=due_in_seconds,
        status=status,
        error_kind=kind,
        message=message,
    )


def _write(conn: Connection, domain: Domain, plan: _Plan, request_ids: Sequence[int]) -> None:
    # A job booked under another language is ended first, so that the booking starts it afresh.
    relabelled = [job for job in plan.restarted if job.status in {JobStatus.PENDING, JobStatus.NEEDS_REVIEW}]
    supersede_jobs(conn, [job.id for job in [*plan.obsolete, *relabelled]])
    upsert_jobs(conn, plan.drafts)
    mark_refresh(conn, plan.refreshes, reason="reserve")
    append_events(
        conn,
        [_event(job, "superseded", JobStatus.SUPERSEDED) for job in plan.obsolete]
        + [_event(job, "rebooked", JobStatus.PENDING) for job in plan.restarted],
    )
    delete_requests(conn, list(request_ids))
    for resource_id in sorted(plan.deferred):
        append_request_once(conn, domain.resource_type, resource_id, None, "language")


def _event(job: Job, event: str, to_status: JobStatus) -> Event:
    reason = "the source text changed" if event == "superseded" else "asked for again"
    return Event(job=job, event=event, to_status=to_status, actor=ACTOR, reason=reason)


def _count(assessed: Sequence[ResourceNeeds], plan: _Plan, *, withdrawn: int, unchanged: int) -> Reserved:
    needs = [need for resource in assessed for group in resource.by_language.values() for need in group]
    return Reserved(
        resources=len(assessed) + unchanged,
        unchanged=unchanged,
        withdrawn=withdrawn,
        segments=len(needs),
        passthrough=sum(need.text is not None and not need.from_memory for need in needs),
        hits=sum(need.from_memory for need in needs),
        booked=sum(draft.status is JobStatus.PENDING for draft in plan.drafts),
        superseded=len(plan.obsolete),
        refreshes=len(plan.refreshes),
        invalid=sum(draft.status is not JobStatus.PENDING for draft in plan.drafts),
        deferred=len(plan.deferred),
    )
