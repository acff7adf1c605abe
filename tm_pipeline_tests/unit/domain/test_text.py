"""Normalisation v1: what merges, what never merges, and what the hash and the outer white space keep."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.errors import InvalidSourceError
from tm_pipeline.domain.text import (
    has_letters,
    normalise,
    outer_whitespace,
    restore_outer,
    source_hash,
    utf8_length,
)

# Everything that v1 touches, next to what it must leave alone, so that examples meet at the seams.
SEAMS = (
    " \t\n\r\u2028\u2029\u00a0\u1680\u2003\u2007\u202f\u205f\u3000\u200b\u2060\ufeff\u00ad"
    "aAé\u0301\u0308\u0323\u1100\u1161\u11a8가ㄱ\u200d\ufe0f😀\u0085\x0b"
)
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60),
    st.text(alphabet=SEAMS, max_size=40),
)

MERGED = [
    pytest.param("a\r\nb", "a\nb", id="crlf"),
    pytest.param("a\rb", "a\nb", id="cr"),
    pytest.param("a\u2028b", "a\nb", id="line-separator"),
    pytest.param("a\u2029b", "a\nb", id="paragraph-separator"),
    pytest.param(unicodedata.normalize("NFD", "한글"), "한글", id="decomposed-hangul"),
    pytest.param("e\u0301", "é", id="decomposed-accent"),
    pytest.param("\uf900", "\u8c48", id="cjk-compatibility-singleton"),
    pytest.param("\u212b", "\u00c5", id="angstrom-sign"),
    pytest.param("Welcome ", "Welcome", id="trailing-space"),
    pytest.param("\n  Welcome", "Welcome", id="leading-white-space"),
    pytest.param("a  \nb", "a\nb", id="space-at-line-end"),
    pytest.param("a\n    b", "a\nb", id="indent"),
    pytest.param("a \t  b", "a b", id="run-of-spaces"),
    pytest.param("10\u00a0000", "10 000", id="no-break-space"),
    pytest.param("10\u202f000", "10 000", id="narrow-no-break-space"),
    pytest.param("10\u2007000", "10 000", id="figure-space"),
    pytest.param("\u5168\u3000\u89d2", "\u5168 \u89d2", id="ideographic-space"),
    pytest.param("a\u200bb", "ab", id="zero-width-space"),
    pytest.param("a\u2060b", "ab", id="word-joiner"),
    pytest.param("\ufeffab", "ab", id="byte-order-mark"),
    pytest.param("No\u00adti\u00adfi", "Notifi", id="soft-hyphen"),
    pytest.param("e\u200b\u0301", "é", id="mark-behind-a-removed-character"),
    pytest.param("a\n\n\n\nb", "a\n\nb", id="many-blank-lines"),
]

KEPT_APART = [
    pytest.param("Welcome", "welcome", id="case"),
    pytest.param("m²", "m2", id="superscript"),
    pytest.param("½", "1/2", id="fraction"),
    pytest.param("㎏", "kg", id="unit-sign"),
    pytest.param("①", "1", id="circled-digit"),
    pytest.param("Ⅱ", "II", id="roman-numeral"),
    pytest.param("ㄱㅏ", "가", id="jamo-and-syllable"),
    pytest.param("ㅋㅋ", "ᄏᄏ", id="compatibility-and-conjoining-jamo"),
    pytest.param("１", "1", id="full-width-digit"),
    pytest.param("パスワード：", "パスワード:", id="full-width-colon"),
    pytest.param("ｶﾞ", "ガ", id="half-width-kana"),
    pytest.param("👨\u200d👩\u200d👧", "👨👩👧", id="joiner-of-a-family"),
    pytest.param("می\u200cخواهم", "میخواهم", id="zero-width-non-joiner"),
    pytest.param("❤\ufe0f", "❤", id="emoji-variation"),
    pytest.param("❤\ufe0e", "❤\ufe0f", id="text-variation"),
    pytest.param("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴", id="tag-sequence-of-england"),
    pytest.param("a\u200eb", "ab", id="left-to-right-mark"),
    pytest.param("مـرحبا", "مرحبا", id="tatweel"),
    pytest.param("&lt;none&gt;", "<none>", id="entity"),
    pytest.param("...", "…", id="ellipsis"),
    pytest.param("“a”", '"a"', id="quotes"),
    pytest.param("맥주", "맥주?", id="question"),
    pytest.param("맥주?", "맥주!", id="exclamation"),
    pytest.param("3", "3.", id="final-full-stop"),
    pytest.param("3개 구매 시 2개 증정", "5개 구매 시 1개 증정", id="numbers"),
    pytest.param("v1.2", "v1.3", id="version-numbers"),
    pytest.param("https://a.example/1", "https://a.example/2", id="urls"),
    pytest.param("😀", "😂", id="emoji"),
    pytest.param("&File", "File", id="mnemonic"),
    pytest.param("a\n\nb", "a\nb", id="paragraph-and-line"),
    pytest.param("a\nb", "a b", id="line-and-space"),
]


@pytest.mark.parametrize(("first", "second"), MERGED)
def test_spellings_that_cannot_change_meaning_share_one_hash(first: str, second: str) -> None:
    assert normalise(first) == second
    assert source_hash(normalise(first)) == source_hash(normalise(second))


@pytest.mark.parametrize(("first", "second"), KEPT_APART)
def test_texts_that_differ_in_meaning_or_display_have_their_own_hash(first: str, second: str) -> None:
    assert source_hash(normalise(first)) != source_hash(normalise(second))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u200b", "\ufeff", "\u00a0\u3000", "\r\n \r\n"])
def test_blank_texts_become_the_empty_text(text: str) -> None:
    assert not normalise(text)


def test_an_emoji_sequence_is_left_as_it_is() -> None:
    text = "👩\u200d❤\ufe0f\u200d👨 1\ufe0f\u20e3 👍🏽 🇰🇷"

    assert normalise(text) == text


@pytest.mark.parametrize("text", ["a\x00b", "\x00"])
def test_a_nul_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(InvalidSourceError, match=r"NUL.*remove"):
        normalise(text)


@pytest.mark.parametrize("text", ["a\ud83d", "\ude00b"])
def test_half_of_a_surrogate_pair_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(InvalidSourceError, match=r"surrogate.*repair"):
        normalise(text)


def test_a_field_that_keeps_white_space_keeps_runs_line_edges_and_blank_lines() -> None:
    text = "  a   b \n\n\n\n c "

    assert normalise(text, preserve_whitespace=True) == text
    assert normalise("a\r\n\tb\u200b", preserve_whitespace=True) == "a\n b"


@settings(max_examples=200, deadline=None)
@given(text=ANY_TEXT, keep=st.booleans())
def test_normalising_twice_changes_nothing_more(text: str, keep: bool) -> None:  # noqa: FBT001
    once = normalise(text, preserve_whitespace=keep)

    assert normalise(once, preserve_whitespace=keep) == once


@settings(max_examples=200, deadline=None)
@given(text=ANY_TEXT)
def test_composed_and_decomposed_forms_of_any_text_share_one_hash(text: str) -> None:
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(unicodedata.normalize("NFC", text))


@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT)
def test_a_normalised_text_has_no_outer_white_space_double_space_or_third_line_end(text: str) -> None:
    result = normalise(text)

    assert result == result.strip(" \n")
    assert not any(part in result for part in ("  ", "\n\n\n", " \n", "\n ", "\r", "\t"))


def test_the_source_hash_is_sha256_of_the_utf8_text() -> None:
    assert source_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert source_hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("text", ["a", "가", "ㅋ", "漢", "ก", "12 ㎡a", "😀 ok"])
def test_a_letter_of_any_script_counts_as_something_to_translate(text: str) -> None:
    assert has_letters(text)


@pytest.mark.parametrize("text", ["", "12,345", "😀😂", "…!?", "1/2 — 3 %", "½ ①"])
def test_digits_marks_and_emoji_alone_are_nothing_to_translate(text: str) -> None:
    assert not has_letters(text)


def test_length_in_bytes_is_counted_in_utf8() -> None:
    assert utf8_length("aé가😀") == 1 + 2 + 3 + 4


@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT)
def test_outer_white_space_and_body_join_to_the_raw_text(text: str) -> None:
    before, after = outer_whitespace(text)
    body = text[len(before) : len(text) - len(after)]

    assert before + body + after == text
    assert not before.strip()
    assert not after.strip()


def test_a_translation_gets_the_outer_white_space_of_its_source() -> None:
    assert restore_outer(" \u3000환영\n", "Welcome") == " \u3000Welcome\n"


def test_a_translation_gets_the_line_ends_of_its_source() -> None:
    assert restore_outer("가\r\n\r\n나", "a\n\nb") == "a\r\n\r\nb"
    assert restore_outer("가\n나", "a\nb") == "a\nb"


def test_line_ends_that_are_already_those_of_the_source_are_not_doubled() -> None:
    assert restore_outer("가\r\n나", "a\r\nb") == "a\r\nb"


def test_outer_white_space_of_the_engine_gives_way_to_that_of_the_source() -> None:
    assert restore_outer("가 ", "\n a\n") == "a "


def test_a_field_that_keeps_its_white_space_gets_it_once() -> None:
    raw = "  가\n 나 "

    assert restore_outer(raw, normalise(raw, preserve_whitespace=True)) == raw


def test_line_ends_that_the_source_does_not_use_are_not_brought_in() -> None:
    assert restore_outer("가\n나", "a\r\nb") == "a\nb"
