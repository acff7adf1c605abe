"""The offline engine: recognisable, repeatable, and safe for placeholders."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tm_pipeline.domain.errors import InvalidInputError
from tm_pipeline.domain.placeholders import multiset
from tm_pipeline.ports import TranslationItem, TranslationRequest
from tm_pipeline.providers.pseudo import PseudoDetector, PseudoProvider
from tm_pipeline_tests.unit.providers.conftest import request_for

PIECES = st.sampled_from(
    [
        "안녕하세요", "판타지 소설", "こんにちは", "カード", "漢字", "hello", " ", "\n", "3.5", "%", "{", "<",
        "100% 할인", "%d개", "%1$s", "%(n)s", "{name}", "{{user}}", "${amount}", "<b>", "</b>", "[b]", "[/b]",
        "https://example.com/가?x=1", "@mention", "#태그", "👋🏽",
    ]
)  # fmt: skip


def pseudo(text: str, target: str = "en", source: str = "ko") -> str:
    (outcome,) = PseudoProvider().translate(request_for(text, source, target)).outcomes
    assert outcome.text is not None
    assert outcome.billed_units == 0
    return outcome.text


def scripts(text: str) -> set[str]:
    return {unicodedata.name(char, "?").split()[0] for char in text if char.isalpha()}


def test_a_text_is_marked_with_its_language_and_keeps_what_is_no_word() -> None:
    text = pseudo("안녕하세요, {name}님!\n<b>2026년</b> https://example.com/a 👋")
    assert text.startswith("⟦en⟧ ")
    assert all(kept in text for kept in ("{name}", "!\n<b>2026", "</b>", "https://example.com/a", "👋"))
    assert scripts(text) == {"LATIN"}


def test_answers_repeat_and_differ_by_text_and_language() -> None:
    assert pseudo("안녕하세요") == pseudo("안녕하세요")
    assert len({pseudo(text, target) for text in ("안녕", "안농", "hello") for target in ("en", "ja", "fr")}) == 9


@given(pieces=st.lists(PIECES, min_size=1, max_size=12))
def test_no_placeholder_is_lost_or_invented_and_lines_stay(pieces: list[str]) -> None:
    source = f"가 {' '.join(pieces)}"
    target = pseudo(source)
    assert multiset(target) == multiset(source)
    assert target.count("\n") == source.count("\n")


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_letters_of_another_script_never_stay_outside_placeholders(text: str) -> None:
    source = f"가{text}"
    if not multiset(source):
        assert scripts(pseudo(source)) <= {"LATIN", "MODIFIER", "FEMININE", "MASCULINE", "FULLWIDTH", "?"}


def test_the_same_language_is_the_source_text() -> None:
    assert pseudo("colour", "en", "en-GB") == "colour"


@pytest.mark.parametrize("text", ["", " ", "\ud83d", "a\x00", "a" * 5_001])
def test_what_no_engine_takes_is_refused(text: str) -> None:
    (outcome,) = PseudoProvider().translate(request_for(text)).outcomes
    assert isinstance(outcome.error, InvalidInputError)


def test_many_texts_come_back_each_under_its_own_id() -> None:
    items = tuple(TranslationItem(id=str(n), text=f"글 {n}") for n in range(50))
    batch = PseudoProvider().translate(TranslationRequest(items=items, source_language="ko", target_language="ja"))
    assert list(batch.by_id()) == [item.id for item in items]
    assert batch.http_calls == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("안녕 hello", "ko"),
        ("漢字かな", "ja"),
        ("ｶﾀｶﾅ", "ja"),
        ("漢字", "zh-CN"),
        ("hello", "en"),
        ("ｈｅｌｌｏ", "en"),
        ("สวัสดี", "und"),
        ("2026 🎉", "und"),
        ("", "und"),
    ],
)
def test_the_script_tells_the_language_without_a_confidence(text: str, language: str) -> None:
    detection = PseudoDetector().detect(text)
    assert (detection.language, detection.confidence) == (language, None)
