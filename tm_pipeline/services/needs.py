"""What each (resource, language) needs: passthrough, memory hit or a job; shared by booking and materialising.

Both sides must agree to the letter on language and hash, or a text would be booked under one key and
looked up under another. So both call ``assess`` and differ only in what they do with the answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.jobs import GroupKey, Job
from tm_pipeline.domain.languages import UNDETERMINED, same_language
from tm_pipeline.domain.segments import Segment, SegmentKind, extract, source_fingerprint
from tm_pipeline.domain.text import NORMALIZATION_VERSION, restore_outer
from tm_pipeline.services.context import Context
from tm_pipeline.services.language import LanguageBook, consult, declared_language
from tm_pipeline.store.memory import Unit, UnitKey, find_shown_units
from tm_pipeline.store.sources import SourceRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One field in one language. ``text`` is what a reader may see now; None means it must be translated.

    ``deferred`` is true where the source language could not be asked for yet.
    """

    group: GroupKey
    segment: Segment
    source_language: str
    text: str | None
    from_memory: bool = False
    deferred: bool = False

    @property
    def unit_key(self) -> UnitKey | None:
        """The unit that holds this text; None for a text that no engine is asked for."""
        if self.segment.kind is not SegmentKind.TRANSLATABLE or self.source_language == UNDETERMINED:
            return None
        if same_language(self.source_language, self.group.target_language):
            return None
        return UnitKey(
            source_hash=self.segment.source_hash,
            source_language=self.source_language,
            target_language=self.group.target_language,
        )

    def job_among(self, jobs: Iterable[Job]) -> Job | None:
        """The job of this text among the jobs of its group."""
        wanted = (self.segment.field_key, self.segment.source_hash)
        return next((job for job in jobs if (job.field_key, job.source_hash) == wanted), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceNeeds:
    """A resource with its needs by target language and the fingerprint of its present source."""

    row: SourceRow
    fingerprint: str
    by_language: Mapping[str, tuple[Need, ...]]


def assess(
    ctx: Context, domain: Domain, rows: Sequence[SourceRow], languages: Sequence[str], *, ask_provider: bool
) -> list[ResourceNeeds]:
    """Extract, hash, find the language of and look up every segment of ``rows`` in ``languages``."""
    extracted = {
        row.resource_id: tuple(part for part in extract(domain, row.values) if part.field_key in row.values)
        for row in rows
    }
    undeclared = [
        segment for row in rows if declared_language(row.language) is None for segment in extracted[row.resource_id]
    ]
    book = consult(ctx, undeclared, ask_provider=ask_provider)
    spoken = {row.resource_id: _spoken(domain, row, extracted[row.resource_id], book) for row in rows}
    engine_key = ctx.engines.engine_for(domain.resource_type).key
    units = _look_up(ctx, _keys(extracted, spoken, languages), engine_key)
    return [
        ResourceNeeds(
            row=row,
            fingerprint=source_fingerprint(domain, row.values, row.language),
            by_language={
                language: tuple(
                    _need(
                        domain,
                        row,
                        segment,
                        spoken[row.resource_id][segment.field_key],
                        language,
                        units,
                        book,
                    )
                    for segment in extracted[row.resource_id]
                )
                for language in languages
            },
        )
        for row in rows
    ]


def _spoken(domain: Domain, row: SourceRow, segments: Iterable[Segment], book: LanguageBook) -> dict[str, str]:
    declared = declared_language(row.language)
    return {segment.field_key: book.language_of(segment, declared, domain.source_language) for segment in segments}


def _keys(
    extracted: Mapping[int, Sequence[Segment]],
    spoken: Mapping[int, Mapping[str, str]],
    languages: Sequence[str],
) -> set[UnitKey]:
    return {
        UnitKey(source_hash=segment.source_hash, source_language=source, target_language=target)
        for resource_id, segments in extracted.items()
        for segment in segments
        if segment.kind is SegmentKind.TRANSLATABLE
        for source in (spoken[resource_id][segment.field_key],)
        for target in languages
        if source != UNDETERMINED and not same_language(source, target)
    }


def _look_up(ctx: Context, keys: set[UnitKey], engine_key: str) -> Mapping[UnitKey, Unit]:
    if not keys:
        return {}
    with ctx.db.read() as conn:
        return find_shown_units(conn, keys, engine_key, NORMALIZATION_VERSION)


def _need(
    domain: Domain,
    row: SourceRow,
    segment: Segment,
    source: str,
    target: str,
    units: Mapping[UnitKey, Unit],
    book: LanguageBook,
) -> Need:
    group = GroupKey(resource_type=domain.resource_type, resource_id=row.resource_id, target_language=target)
    if segment.kind in {SegmentKind.BLANK, SegmentKind.NO_LETTERS}:
        return Need(group=group, segment=segment, source_language=source, text=segment.raw)
    if same_language(source, target):
        return Need(group=group, segment=segment, source_language=source, text=segment.raw)
    if segment.kind is SegmentKind.INVALID:
        return Need(group=group, segment=segment, source_language=source, text=None)
    if source == UNDETERMINED:
        deferred = segment.source_hash in book.unanswered
        return Need(group=group, segment=segment, source_language=source, text=None, deferred=deferred)
    key = UnitKey(source_hash=segment.source_hash, source_language=source, target_language=target)
    unit = units.get(key)
    # A hit compares the text too: a colliding hash must not show another text's translation (T07).
    if unit is None or unit.source_text != segment.normalised:
        return Need(group=group, segment=segment, source_language=source, text=None)
    text = restore_outer(segment.raw, unit.translated_text)
    return Need(group=group, segment=segment, source_language=source, text=text, from_memory=True)
