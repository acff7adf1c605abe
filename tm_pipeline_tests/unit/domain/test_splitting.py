"""Splitting: pieces join to the text, fit, and never cut what must stay whole."""

import pytest
import regex
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.placeholders import find_spans
from tm_pipeline.domain.splitting import split, utf16_length

ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
SEAMS = ("가", "a", " ", "\n", "\n\n", ". ", "。", "」", "!", "😀", "\u0301", "\u200d", "\ufe0f", "\r\n", "กำ")
TOKENS = ("{name}", "%1$s", "<b class='x y'>", "https://a.example/b", ENGLAND, "👩\u200d❤\ufe0f\u200d👨")
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80),
    st.lists(st.sampled_from(SEAMS + TOKENS), max_size=30).map("".join),
)


def _cuts(pieces: tuple[str, ...]) -> list[int]:
    ends, position = [], 0
    for piece in pieces[:-1]:
        position += len(piece)
        ends.append(position)
    return ends


def _graphemes(text: str) -> list[tuple[int, int]]:
    return [(match.start(), match.end()) for match in regex.finditer(r"\X", text)]


@settings(max_examples=200, deadline=None)
@given(text=ANY_TEXT, limit=st.integers(2, 60))
def test_pieces_join_to_the_text_and_each_fits(text: str, limit: int) -> None:
    pieces = split(text, limit)

    assert "".join(pieces) == text
    assert all(utf16_length(piece) <= limit for piece in pieces)
    assert all(pieces) or pieces == ("",)


@settings(max_examples=200, deadline=None)
@given(text=ANY_TEXT, limit=st.integers(2, 40))
@example(text="{name}\u0301", limit=6)
def test_a_span_that_fits_is_never_cut(text: str, limit: int) -> None:
    cuts = _cuts(split(text, limit))

    for span in find_spans(text):
        if utf16_length(span.text) <= limit:
            assert not any(span.start < cut < span.end for cut in cuts)


@settings(max_examples=200, deadline=None)
@given(text=ANY_TEXT, limit=st.integers(2, 40))
@example(text=f"가{ENGLAND}나", limit=14)
@example(text="가나 \u0301다", limit=3)
@example(text="가。\ufe0f나", limit=3)
def test_a_grapheme_that_fits_is_never_cut(text: str, limit: int) -> None:
    spans = [(span.start, span.end) for span in find_spans(text)]
    cuts = _cuts(split(text, limit))

    for start, end in _graphemes(text):
        # Where a span ends inside a grapheme and both together do not fit, the span stays whole.
        crossed = any(start < edge < end for span in spans for edge in span)
        if utf16_length(text[start:end]) <= limit and not crossed:
            assert not any(start < cut < end for cut in cuts)


@settings(max_examples=100, deadline=None)
@given(text=ANY_TEXT)
def test_a_text_within_the_limit_stays_in_one_piece(text: str) -> None:
    assume(text)

    assert split(text, utf16_length(text)) == (text,)


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        pytest.param("aaa. bbb\nccc\n\nddd", 14, ("aaa. bbb\nccc\n\n", "ddd"), id="paragraphs"),
        pytest.param("aaa. bbb\nccc. dd", 12, ("aaa. bbb\n", "ccc. dd"), id="lines"),
        pytest.param("Aa bb. Cc dd! Ee", 15, ("Aa bb. Cc dd! ", "Ee"), id="sentences"),
        pytest.param("그는 「가자。」라고 했다。끝", 12, ("그는 「가자。」라고 ", "했다。끝"), id="quoted-sentence"),
        pytest.param("良い。次。", 4, ("良い。", "次。"), id="sentences-without-spaces"),
        pytest.param("aaaa bbbb", 6, ("aaaa ", "bbbb"), id="spaces"),
        pytest.param("가나다라마", 2, ("가나", "다라", "마"), id="graphemes"),
        pytest.param("😀😀😀", 4, ("😀😀", "😀"), id="two-units-each"),
        pytest.param("가{name}나", 7, ("가{name}", "나"), id="placeholder"),
        pytest.param(f"가{ENGLAND}나", 14, ("가", ENGLAND, "나"), id="flag-of-england"),
        pytest.param("{long_name}", 5, ("{long", "_name", "}"), id="span-longer-than-the-limit"),
        pytest.param("e\u0301\u0302\u0303", 2, ("e\u0301", "\u0302\u0303"), id="grapheme-longer-than-the-limit"),
    ],
)
def test_a_text_is_cut_at_the_coarsest_place_that_fits(text: str, limit: int, pieces: tuple[str, ...]) -> None:
    assert split(text, limit) == pieces


def test_a_long_detail_is_cut_between_sentences_in_order() -> None:
    text = "".join(f"문장 {number}입니다. " for number in range(1_200)).strip()

    pieces = split(text, 5_000)

    assert len(text) > 12_000
    assert "".join(pieces) == text
    assert len(pieces) == -(-len(text) // 4_990)
    assert all(piece.endswith(". ") for piece in pieces[:-1])


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="a limit of 0 characters"):
        split("가", 0)


def test_the_empty_text_is_one_empty_piece() -> None:
    assert split("", 5) == ("",)


def test_length_counts_units_of_utf16() -> None:
    assert utf16_length("a가😀") == 4
