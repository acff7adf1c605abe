"""Segments: the texts of a resource's fields, ready to be looked up (S47, S48)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tm_pipeline.domain.domains import Domain, FieldSpec
from tm_pipeline.domain.errors import InvalidSourceError
from tm_pipeline.domain.text import (
    MAX_TEXT_BYTES,
    NORMALIZATION_VERSION,
    has_letters,
    normalise,
    source_hash,
    utf8_length,
)


class SegmentKind(StrEnum):
    """Whether a segment has to be translated at all."""

    BLANK = "blank"
    NO_LETTERS = "no_letters"
    TRANSLATABLE = "translatable"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One field's text. ``error`` says why an INVALID one can never be translated."""

    field_key: str
    raw: str
    normalised: str
    source_hash: str
    kind: SegmentKind
    error: str | None = None


def extract(domain: Domain, values: Mapping[str, str | None]) -> tuple[Segment, ...]:
    """The segments of a resource in field order; a missing value counts as empty."""
    return tuple(_segment(spec, values.get(spec.key) or "") for spec in domain.fields)


def _segment(spec: FieldSpec, raw: str) -> Segment:
    try:
        normalised = normalise(raw, preserve_whitespace=spec.preserve_whitespace)
    except InvalidSourceError as error:
        return _invalid(spec, raw, str(error))
    size = utf8_length(normalised)
    if size > MAX_TEXT_BYTES:
        return _invalid(spec, raw, f"The text has {size:,} bytes; a field may have {MAX_TEXT_BYTES:,}. Shorten it.")
    kind = SegmentKind.TRANSLATABLE if has_letters(normalised) else SegmentKind.NO_LETTERS
    if not normalised.strip():
        kind = SegmentKind.BLANK
    return Segment(field_key=spec.key, raw=raw, normalised=normalised, source_hash=source_hash(normalised), kind=kind)


def _invalid(spec: FieldSpec, raw: str, error: str) -> Segment:
    return Segment(
        field_key=spec.key,
        raw=raw,
        normalised="",
        source_hash=_raw_hash(raw),
        kind=SegmentKind.INVALID,
        error=error,
    )


def _raw_hash(raw: str) -> str:
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def source_fingerprint(domain: Domain, values: Mapping[str, str | None], language: str | None) -> str:
    """What a read model was built from: 64 hex digits over the raw texts and the declared language.

    Raw, so that an edit of outer white space rebuilds the read model, at no cost.
    """
    parts = [[spec.key, _raw_hash(values.get(spec.key) or "")] for spec in domain.fields]
    canonical_json = json.dumps([NORMALIZATION_VERSION, language, parts], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical_json.encode("ascii")).hexdigest()
