"""Papago's codes, its 58 directed pairs, and their canonical tags here."""

from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.languages import UNDETERMINED, canonical

AUTO = "auto"
CODES = frozenset({"ko", "en", "ja", "zh-CN", "zh-TW", "vi", "th", "id", "fr", "es", "ru", "de", "it"})

_PARTNERS = {
    "ko": ("en", "ja", "zh-CN", "zh-TW", "vi", "th", "id", "fr", "es", "ru", "de", "it"),
    "en": ("ja", "zh-CN", "zh-TW", "vi", "th", "id", "fr", "es", "ru", "de"),
    "ja": ("zh-CN", "zh-TW", "vi", "th", "id", "fr"),
    "zh-CN": ("zh-TW",),
}
PAIRS = frozenset(
    pair for code, others in _PARTNERS.items() for other in others for pair in ((code, other), (other, code))
)
HONORIFIC_PAIRS = frozenset(
    (source, target)
    for target, sources in {
        "ko": ("en", "ja", "zh-CN", "zh-TW"),
        "ja": ("ko", "en", "zh-CN", "zh-TW"),
    }.items()
    for source in sources
)
_DETECTED = {"mm": "my", "unk": UNDETERMINED}  # codes of the older detection that are no BCP 47 tags


def papago_code(tag: str) -> str | None:
    """Papago's code for a tag, ``auto`` for ``und``; None where it has none.

    A region is dropped where Papago knows only the language; a script never is, and bare ``zh`` stays
    ambiguous.
    """
    try:
        exact = canonical(tag)
    except UsageError:
        return None
    if exact == UNDETERMINED:
        return AUTO
    if exact in CODES:
        return exact
    language, *rest = exact.split("-")
    is_region = len(rest) == 1 and len(rest[0]) in (2, 3)
    return language if is_region and language in CODES else None


def tag_of(code: str) -> str:
    """The canonical tag of a code that Papago detected, ``und`` where it says nothing usable."""
    lowered = code.strip().lower()
    try:
        return _DETECTED.get(lowered) or canonical(lowered)
    except UsageError:
        return UNDETERMINED


def has_pair(source: str, target: str) -> bool:
    """Whether Papago translates between two of its codes; ``auto`` may stand for any source."""
    return (source, target) in PAIRS or (source == AUTO and target in CODES)
