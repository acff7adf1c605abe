"""What a column can hold, checked here because SQLite checks nothing and an old server truncates silently."""

import re

from tm_pipeline.domain.errors import InvalidSourceError, UsageError
from tm_pipeline.domain.text import MAX_TEXT_BYTES

_HASH = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(r"[\x21-\x7e]+")
RESOURCE_TYPE, FIELD_KEY, LANGUAGE, ENGINE_KEY = 50, 80, 10, 50


def require_hash(value: str) -> None:
    """Lower-case SHA-256 only: the server's collation ignores case and would merge what SQLite keeps apart."""
    if not _HASH.fullmatch(value):
        raise UsageError(f"{value[:80]!r} is no source hash; it has 64 hexadecimal digits in lower case.")


def require_code(what: str, value: str, characters: int) -> None:
    """A key of ASCII without spaces: collations pad spaces and fold accents, so others would not stay apart."""
    if len(value) > characters:
        raise UsageError(f"{what} has {len(value)} characters, its column holds {characters}: {value[:80]!r}.")
    if not _CODE.fullmatch(value):
        raise UsageError(f"{what} must be ASCII without spaces: {value[:80]!r}.")


def require_text(what: str, value: str) -> None:
    """A text that a TEXT column takes as it is."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidSourceError(f"{what} has half of a surrogate pair; no database stores it.") from error
    if size > MAX_TEXT_BYTES:
        raise InvalidSourceError(f"{what} has {size:,} bytes, its column holds {MAX_TEXT_BYTES:,}.")
