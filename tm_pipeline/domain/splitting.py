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
    spans = [(span.start, span.end) for span in find_spans(text)]
    return tuple(_packed(_atoms(text, 0, limit, spans, 0), limit))


def _atoms(text: str, level: int, limit: int, spans: list[tuple[int, int]], offset: int) -> Iterable[str]:
    """Pieces that fit, each cut at the coarsest boundary that makes it fit; ``offset`` is its place in the whole."""
    if utf16_length(text) <= limit:
        yield text
        return
    if level == len(_BOUNDARIES):
        yield from _graphemes(text, limit, spans, offset)
        return
    start = 0
    for match in _BOUNDARIES[level].finditer(text):
        cut = match.end()
        if cut in (0, len(text)) or any(low < offset + cut < high for low, high in spans):
            continue
        yield from _atoms(text[start:cut], level + 1, limit, spans, offset + start)
        start = cut
    yield from _atoms(text[start:], level + 1, limit, spans, offset + start)


def _graphemes(text: str, limit: int, spans: list[tuple[int, int]], offset: int) -> Iterable[str]:
    """Whole spans and single graphemes; one longer than the limit is cut between code points."""
    inside = [
        (max(low - offset, 0), high - offset) for low, high in spans if low < offset + len(text) and high > offset
    ]
    position = 0
    for low, high in [*inside, (len(text), len(text))]:
        for match in _GRAPHEME.finditer(text, position, low):
            yield from _fitting(match.group(), limit)
        if high > low:
            span = text[low:high]
            parts = [span] if utf16_length(span) <= limit else [m.group() for m in _GRAPHEME.finditer(span)]
            for part in parts:
                yield from _fitting(part, limit)
        position = max(position, min(high, len(text)))


def _fitting(part: str, limit: int) -> Iterable[str]:
    return [part] if utf16_length(part) <= limit else list(part)


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
