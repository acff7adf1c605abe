"""Splitting a text that is longer than an engine takes, so that the pieces join to exactly the text (T60)."""

from collections.abc import Iterable

import regex

from tm_pipeline.domain.placeholders import find_spans

_BOUNDARIES = (
    regex.compile(r"\n{2,}"),  # paragraphs
    regex.compile(r"\n"),
    regex.compile(r"(?<=[.!?…。！？]['\"”’」』)]*)\s+|(?<=[。！？])(?![」』”’)])"),  # sentences
    regex.compile(r"\s+"),
)
_GRAPHEME = regex.compile(r"\X")


def utf16_length(text: str) -> int:
    """UTF-16 code units: what never under-counts a limit in characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, limit: int) -> tuple[str, ...]:
    """Pieces of at most ``limit`` UTF-16 units whose join is ``text``.

    Cut at paragraphs, then lines, sentences, spaces and at last between graphemes; never inside a
    protected span unless the span alone is longer than the limit.
    """
    if limit < 1:
        raise ValueError(f"a limit of {limit} characters leaves no room for text")
    if utf16_length(text) <= limit:
        return (text,)
    return tuple(_packed(_atoms(text, 0, limit, _closed(text), 0), limit))


def _closed(text: str) -> tuple[frozenset[int], ...]:
    """Places not to cut at, from the strictest set to none: inside spans and graphemes, spans, graphemes."""
    spans = frozenset(place for span in find_spans(text) for place in range(span.start + 1, span.end))
    graphemes = frozenset(
        place for match in _GRAPHEME.finditer(text) for place in range(match.start() + 1, match.end())
    )
    return spans | graphemes, spans, graphemes, frozenset()


def _atoms(text: str, level: int, limit: int, closed: tuple[frozenset[int], ...], offset: int) -> Iterable[str]:
    """Pieces that fit, each cut at the coarsest boundary that makes it fit; ``offset`` is its place in the whole."""
    if utf16_length(text) <= limit:
        yield text
        return
    if level == len(_BOUNDARIES):
        yield from _units(text, limit, closed, offset)
        return
    start = 0
    for match in _BOUNDARIES[level].finditer(text):
        cut = match.end()
        if cut in (0, len(text)) or offset + cut in closed[0]:
            continue
        yield from _atoms(text[start:cut], level + 1, limit, closed, offset + start)
        start = cut
    yield from _atoms(text[start:], level + 1, limit, closed, offset + start)


def _units(text: str, limit: int, closed: tuple[frozenset[int], ...], offset: int) -> Iterable[str]:
    """Whole spans and graphemes; what is longer than the limit alone is cut at the next places that are allowed."""
    start = 0
    for cut in range(1, len(text) + 1):
        if cut < len(text) and offset + cut in closed[0]:
            continue
        part = text[start:cut]
        if len(closed) == 1 or utf16_length(part) <= limit:
            yield part
        else:
            yield from _units(part, limit, closed[1:], offset + start)
        start = cut


def _packed(atoms: Iterable[str], limit: int) -> Iterable[str]:
    piece, size = "", 0
    for atom in atoms:
        width = utf16_length(atom)
        if piece and size + width > limit:
            yield piece
            piece, size = "", 0
        piece, size = piece + atom, size + width
    if piece:
        yield piece
