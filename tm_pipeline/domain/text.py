"""Normalisation v1 and the source hash (S27, S48; the list and its evidence: corpora study, 1.28 M strings).

v1 changes only what cannot change meaning or display. It never folds case, width forms, punctuation,
numbers, joiners, variation selectors or entities.
"""

import hashlib
import re
import unicodedata

from tm_pipeline.domain.errors import InvalidSourceError

NORMALIZATION_VERSION = "v1"
MAX_TEXT_BYTES = 65_535  # of a TEXT column in MySQL and MariaDB

_LINE_ENDS = re.compile("\r\n|\r|\u2028|\u2029")
_INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad]")
_SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_RUN_OF_SPACES = re.compile(" {2,}")
_SPACE_AROUND_LINE_END = re.compile(" *\n *")
_MANY_LINE_ENDS = re.compile("\n{3,}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OUTER = " \n\r\t\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def normalise(text: str, *, preserve_whitespace: bool = False) -> str:
    """The form of ``text`` that is hashed, stored and sent; idempotent.

    ``preserve_whitespace`` leaves inner runs, line edges and blank lines as they are. Raises
    ``InvalidSourceError`` for NUL and lone surrogates, which no database or engine takes.
    """
    if "\x00" in text:
        raise InvalidSourceError("The text holds a NUL character; remove it from the source row.")
    if _SURROGATE.search(text):
        raise InvalidSourceError("The text holds half of a surrogate pair; repair the source row.")
    text = _LINE_ENDS.sub("\n", text)
    # A character taken away may have kept two marks apart, so what is left is composed again.
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", unicodedata.normalize("NFC", text)))
    text = _SPACES.sub(" ", text)
    if preserve_whitespace:
        return text
    text = _RUN_OF_SPACES.sub(" ", text)
    text = _SPACE_AROUND_LINE_END.sub("\n", text)
    text = _MANY_LINE_ENDS.sub("\n\n", text)
    return text.strip(" \n")


def source_hash(normalised: str) -> str:
    """SHA-256 of the UTF-8 normalised text, as 64 lower-case hex digits; the version is a key column of its own."""
    return hashlib.sha256(normalised.encode("utf-8")).hexdigest()


def has_letters(text: str) -> bool:
    """Whether there is anything to translate: a letter of any script."""
    return any(character.isalpha() for character in text)


def utf8_length(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8"))


def outer_whitespace(raw: str) -> tuple[str, str]:
    """The white space before and after the text, as the source row has it."""
    body = raw.strip(_OUTER)
    if not body:
        return raw, ""
    start = raw.index(body)
    return raw[:start], raw[start + len(body) :]


def restore_outer(raw: str, translated: str) -> str:
    """Give a translation the outer white space and the line-ending style of its source row, in place of its own."""
    before, after = outer_whitespace(raw)
    body = translated.strip(_OUTER).replace("\r\n", "\n")
    if "\r\n" in raw and raw.count("\r\n") == raw.count("\n"):  # a mixture keeps the plain ones
        body = body.replace("\n", "\r\n")
    return f"{before}{body}{after}"
