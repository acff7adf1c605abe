"""QA checks: pure functions from (source, target) to findings; an error is never stored as a translation."""

import re
from dataclasses import dataclass
from enum import StrEnum

from tm_pipeline.domain.placeholders import find_spans, multiset, numbered
from tm_pipeline.domain.text import MAX_TEXT_BYTES, utf8_length

SHOWN_TOKENS = 5
RESIDUE_LETTERS = 4  # fewer letters of the source script may be a name or an interjection
RESIDUE_SHARE = 0.3

_SOURCE_SCRIPT = re.compile("[\uac00-\ud7a3\u3041-\u3096\u30a1-\u30fa\u30fc\uff66-\uff9d]")
_FENCE = re.compile(r"^\s*```.*```\s*$", re.DOTALL)
_BROKEN = re.compile("[\x00\ud800-\udfff]")


class Severity(StrEnum):
    """ERROR is refused, WARNING is kept with the unit."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found; the message never holds a whole text."""

    check: str
    severity: Severity
    message: str


def check(source: str, target: str) -> tuple[Finding, ...]:
    """All findings of a machine's translation of the normalised ``source``."""
    if not target.strip():
        return (_error("empty", "the translation is empty"),)
    findings = [
        _placeholders(source, target),
        _unchanged(source, target),
        _storable(target),
        _fence(source, target),
    ]
    return tuple(finding for finding in findings if finding is not None)


def _error(name: str, message: str) -> Finding:
    return Finding(check=name, severity=Severity.ERROR, message=message)


def _placeholders(source: str, target: str) -> Finding | None:
    before, after = multiset(source), multiset(target)
    arguments, (shown, explicit) = numbered(source)[0], numbered(target)
    if before == after and explicit:
        before, after = arguments, shown
    if before == after:
        return None
    lost = sorted((before - after).elements())[:SHOWN_TOKENS]
    # A Korean hashtag or name may rightly become an ASCII one, which only then looks like a token.
    added = sorted(token for token in (after - before).elements() if token[0] not in "#@")[:SHOWN_TOKENS]
    if not lost and not added:
        return None
    parts = [f"lost {', '.join(lost)}"] if lost else []
    parts += [f"added {', '.join(added)}"] if added else []
    return _error("placeholders", "; ".join(parts))


def _unchanged(source: str, target: str) -> Finding | None:
    if source.strip() != target.strip():
        return None
    bare = source
    for span in reversed(find_spans(source)):
        bare = bare[: span.start] + bare[span.end :]
    letters = _SOURCE_SCRIPT.findall(bare)
    if len(letters) < RESIDUE_LETTERS or len(letters) < RESIDUE_SHARE * len(bare):
        return None
    return _error("unchanged", "the engine gave the source text back")


def _storable(target: str) -> Finding | None:
    if _BROKEN.search(target):
        return _error("characters", "the translation holds NUL or half of a surrogate pair")
    size = utf8_length(target)
    if size > MAX_TEXT_BYTES:
        return _error("size", f"the translation has {size:,} bytes; its column takes {MAX_TEXT_BYTES:,}")
    return None


def _fence(source: str, target: str) -> Finding | None:
    if _FENCE.match(target) and not _FENCE.match(source):
        return _error("code_fence", "the translation came inside a code fence")
    return None
