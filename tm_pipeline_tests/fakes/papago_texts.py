"""Texts of the fake engine: different for each text and language, placeholders kept, no Hangul left."""

from tm_pipeline.domain.placeholders import find_spans

# 256 Latin letters. None is ASCII: next to a placeholder it would become a part of it, as in %d and %dk.
_FIRST_LETTER, _LETTERS = 0x100, 256


def translated(text: str, target: str, *, honorific: bool = False) -> str:
    """Spell each letter beyond Latin in two of Latin, one to one, behind a mark of the language."""
    parts, end = [], 0
    for span in find_spans(text):
        parts += [_spelled(text[end : span.start]), span.text]
        end = span.end
    mark = f"({target}, polite)" if honorific else f"({target})"
    return f"{mark} {''.join([*parts, _spelled(text[end:])])}"


def detected(text: str) -> str:
    """The code that the detection gives: by script, ``unk`` without letters."""
    letters = [char for char in text if char.isalpha()]
    ranges = (
        ("ja", "\u3040", "\u30ff"),
        ("ko", "\uac00", "\ud7a3"),
        ("th", "\u0e00", "\u0e7f"),
        ("zh-CN", "一", "鿿"),
    )
    for code, low, high in ranges:
        if any(low <= char <= high for char in letters):
            return code
    return "en" if letters else "unk"


def _spelled(text: str) -> str:
    return "".join(_code(char) if char.isalpha() and char > "\u02ff" else char for char in text)


def _code(char: str) -> str:
    high, low = divmod(ord(char), _LETTERS)
    return chr(_FIRST_LETTER + high % _LETTERS) + chr(_FIRST_LETTER + low)
