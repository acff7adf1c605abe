"""Which language each segment is in (S36–S38, S49; cases T69–T73).

Order: declared by the row → certain answer of the cache → script rule → the provider's detection
(only while booking, never while materialising) → the domain's assumed language → the uncertain answer.
An uncertain answer is stored so that it is not asked for twice, but it never beats what the domain says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tm_pipeline.domain.detection import detect_by_script, is_certain
from tm_pipeline.domain.errors import ProviderError, UsageError
from tm_pipeline.domain.languages import UNDETERMINED, canonical
from tm_pipeline.domain.segments import Segment, SegmentKind
from tm_pipeline.domain.text import NORMALIZATION_VERSION
from tm_pipeline.ports import Detection, LanguageDetector
from tm_pipeline.services.context import Context
from tm_pipeline.store.detections import find_detections, upsert_detections

SAMPLE_CHARACTERS = 500  # width of language_detection_result.source_text_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageBook:
    """Answers by source hash, certain and uncertain, for one batch.

    ``unanswered`` holds the hashes whose detection could not be asked for now.
    """

    certain: Mapping[str, str]
    uncertain: Mapping[str, str]
    unanswered: frozenset[str] = frozenset()

    def language_of(self, segment: Segment, declared: str | None, assumed: str | None) -> str:
        """The language to book the segment under, ``und`` where nothing is known."""
        if declared is not None:
            return declared
        known = self.certain.get(segment.source_hash) or detect_by_script(segment.normalised)
        return known or assumed or self.uncertain.get(segment.source_hash) or UNDETERMINED


def declared_language(language: str | None) -> str | None:
    """The canonical form of a row's own language; None where it has none or an invalid one."""
    if not language or not language.strip():
        return None
    try:
        tag = canonical(language.strip())
    except UsageError:
        return None
    return None if tag == UNDETERMINED else tag


def consult(ctx: Context, undeclared: Sequence[Segment], *, ask_provider: bool) -> LanguageBook:
    """Look the segments without a declared language up in the cache and, if allowed, ask the detector."""
    texts = {
        segment.source_hash: segment.normalised
        for segment in undeclared
        if segment.kind is SegmentKind.TRANSLATABLE and detect_by_script(segment.normalised) is None
    }
    if not texts:
        return LanguageBook(certain={}, uncertain={})
    with ctx.db.read() as conn:
        found = find_detections(conn, sorted(texts), NORMALIZATION_VERSION)
    missing = {key: text for key, text in texts.items() if key not in found}
    if ask_provider and ctx.detector is not None:
        found = {**found, **_ask(ctx, ctx.detector, missing)}
    certain = {key: hit.language for key, hit in found.items() if is_certain(hit.confidence, texts[key])}
    return LanguageBook(
        certain={key: language for key, language in certain.items() if language != UNDETERMINED},
        uncertain={key: hit.language for key, hit in found.items() if key not in certain},
        unanswered=frozenset(missing) - set(found) if ctx.detector is not None else frozenset(),
    )


def _ask(ctx: Context, detector: LanguageDetector, texts: Mapping[str, str]) -> dict[str, Detection]:
    answers: dict[str, Detection] = {}
    for key, text in sorted(texts.items()):
        try:
            answers[key] = detector.detect(text)
        except ProviderError:
            break  # whatever ails the detector would ail the next text too; a later booking asks again
    if answers:
        rows = [(key, texts[key][:SAMPLE_CHARACTERS], hit) for key, hit in answers.items()]
        ctx.db.run(lambda conn: upsert_detections(conn, rows))
    return answers
