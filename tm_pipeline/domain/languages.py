"""Language tags: one canonical spelling each, and when two mean the same text (T70–T72).

Tags are BCP 47. Chinese is kept apart by script and spelt by region, as the engines and the product do.
A script is never dropped or swapped.
"""

import langcodes

from tm_pipeline.domain.errors import UsageError

UNDETERMINED = "und"
MAX_TAG_CHARACTERS = 10  # of the language columns

_CHINESE = {
    "zh-Hans": "zh-CN",
    "zh-CN": "zh-CN",
    "zh-SG": "zh-CN",
    "zh-Hant": "zh-TW",
    "zh-TW": "zh-TW",
    "zh-HK": "zh-TW",
}
_HOME_REGIONS = frozenset({"ko-KR", "ja-JP", "th-TH", "vi-VN", "id-ID", "ru-RU", "it-IT", "de-DE", "fr-FR", "es-ES"})


def canonical(tag: str) -> str:
    """The one spelling of ``tag``; raises ``UsageError`` for what is no language tag or does not fit its column."""
    cleaned = tag.strip().replace("_", "-")
    try:
        standard = langcodes.standardize_tag(cleaned) if langcodes.tag_is_valid(cleaned) else ""
    except ValueError:
        standard = ""
    if not standard:
        raise UsageError(f"{tag!r} is not a language tag; use one such as ko, en, ja or zh-TW.")
    parsed = langcodes.Language.get(standard, normalize=False)
    if parsed.language == "zh":
        standard = _chinese(parsed, standard)
    elif standard in _HOME_REGIONS:
        standard = parsed.language or standard
    if len(standard) > MAX_TAG_CHARACTERS:
        raise UsageError(f"{tag!r} has more than {MAX_TAG_CHARACTERS} characters; use a shorter tag.")
    return standard


def _chinese(parsed: langcodes.Language, standard: str) -> str:
    if parsed.script:
        return _CHINESE.get(f"zh-{parsed.script}", standard)
    return _CHINESE.get(f"zh-{parsed.territory}", standard)


def same_language(first: str, second: str) -> bool:
    """Whether text in ``first`` needs no translation to be shown as ``second``.

    A tag without a region stands for all of its regions; two different regions stay apart.
    """
    if first == second:
        return True
    if UNDETERMINED in {first, second}:
        return False
    one, two = langcodes.Language.get(first), langcodes.Language.get(second)
    if one.language != two.language or one.language == "zh":
        return False
    if (one.script or two.script) and one.script != two.script:
        return False
    return one.territory is None or two.territory is None
