"""Detection by script: what the letters alone decide, and what stays open."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.detection import detect_by_script, is_certain


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("콩", "ko"),
        ("ㅋㅋㅋ", "ko"),
        ("환영합니다!", "ko"),
        ("아이폰 15 Pro", "ko"),
        ("한국어 제목 (Title)", "ko"),
        (unicodedata.normalize("NFD", "한글"), "ko"),
        ("こんにちは", "ja"),
        ("カテゴリー", "ja"),
        ("ｶﾃｺﾞﾘ", "ja"),
        ("東京の天気", "ja"),
        ("สวัสดี", "th"),
    ],
)
def test_the_script_decides_korean_japanese_and_thai(text: str, language: str) -> None:
    assert detect_by_script(text) == language


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Hello", id="hello"),
        pytest.param("Paso uno", id="two-words-of-spanish"),
        pytest.param("saffron", id="one-word"),
        pytest.param("東京", id="han-alone"),
        pytest.param("天气", id="simplified-han"),
        pytest.param("Привет", id="cyrillic"),
        pytest.param("A long English sentence about 콩", id="little-hangul"),
        pytest.param("A long English sentence about の", id="little-kana"),
    ],
)
def test_latin_han_and_a_few_foreign_letters_stay_open(text: str) -> None:
    assert detect_by_script(text) is None


@pytest.mark.parametrize("text", ["", "12,345", "😀😂", "…!?", "1/2"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert detect_by_script(text) is None


def test_exactly_three_letters_of_ten_are_enough() -> None:
    assert detect_by_script("가나다" + "a" * 7) == "ko"
    assert detect_by_script("가나" + "a" * 5) is None


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=40), marks=st.text(alphabet=" 0123456789.,!?😀…\n", max_size=20))
def test_digits_marks_and_emoji_never_change_the_answer(text: str, marks: str) -> None:
    assert detect_by_script(text + marks) == detect_by_script(text)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1))
def test_any_text_of_hangul_is_korean(text: str) -> None:
    assert detect_by_script(text) == "ko"


@pytest.mark.parametrize(
    ("confidence", "text", "certain"),
    [
        (1.0, "a", True),
        (0.95, "Hello", True),
        (0.9499, "A sentence that is long enough", False),
        (0.0, "Hello", False),
        (None, "Hello", False),
        (None, "Paso uno", False),
        (None, "a1 b2 c3 d4 e5 f6 g7", False),
        (None, "abcdefghijkl", True),
        (None, "abcdefghijk", False),
        (None, "", False),
    ],
)
def test_a_short_or_doubtful_answer_is_never_certain(confidence: float | None, text: str, certain: bool) -> None:  # noqa: FBT001
    assert is_certain(confidence, text) is certain
