"""QA checks: what is never stored as a translation, and good translations that pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.qa import SHOWN_TOKENS, Severity, check
from tm_pipeline.domain.text import MAX_TEXT_BYTES


def _names(source: str, target: str) -> list[str]:
    return [finding.check for finding in check(source, target)]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        pytest.param("환영합니다", "Welcome", id="plain"),
        pytest.param("{name}님이 {count}개", "{count} items by {name}", id="reordered"),
        pytest.param("ㅋㅋ 대박", "ㅋㅋ awesome", id="laughter-left-in-the-target"),
        pytest.param("ㅋㅋㅋㅋㅋㅋ", "ㅋㅋㅋㅋㅋㅋ", id="laughter-alone"),
        pytest.param("콩", "콩", id="short-name"),
        pytest.param("LibreOffice", "LibreOffice", id="name-in-latin"),
        pytest.param("{subject}", "{subject}", id="token-alone"),
        pytest.param("Galaxy S24 Ultra 자급제폰", "Galaxy S24 Ultra 자급제폰", id="mostly-latin"),
        pytest.param("그건 못 해", "I cannot do that", id="line-that-looks-like-a-refusal"),
        pytest.param("메시지 목록", "Message list", id="line-that-looks-like-a-report"),
        pytest.param("```\n코드\n```", "```\ncode\n```", id="fence-of-the-source"),
        pytest.param("할인 50%", "50% off", id="percent"),
    ],
)
def test_a_good_translation_has_no_findings(source: str, target: str) -> None:
    assert check(source, target) == ()


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        pytest.param("환영합니다", "", "empty", id="empty"),
        pytest.param("환영합니다", " \n\t", "empty", id="blank"),
        pytest.param("{subject}님", "{주제}", "placeholders", id="translated-placeholder"),
        pytest.param("좋아요 😀", "Nice", "placeholders", id="lost-emoji"),
        pytest.param("안녕", "Hello {name}", "placeholders", id="invented-placeholder"),
        pytest.param("%s %s", "%s", "placeholders", id="one-of-two-lost"),
        pytest.param("환영합니다", "환영합니다", "unchanged", id="source-given-back"),
        pytest.param("환영합니다", " 환영합니다\n", "unchanged", id="source-given-back-with-space"),
        pytest.param("こんにちは", "こんにちは", "unchanged", id="kana-given-back"),
        pytest.param("{name}님 환영합니다", "{name}님 환영합니다", "unchanged", id="source-with-token-given-back"),
        pytest.param("환영합니다", "Wel\x00come", "characters", id="nul"),
        pytest.param("환영합니다", "Welcome \ud83d", "characters", id="half-pair"),
        pytest.param("환영합니다", "```\nWelcome\n```", "code_fence", id="fence"),
    ],
)
def test_a_broken_translation_is_refused_by_its_check(source: str, target: str, name: str) -> None:
    findings = check(source, target)

    assert [finding.check for finding in findings] == [name]
    assert findings[0].severity is Severity.ERROR
    assert findings[0].message


def test_a_translated_icu_keyword_is_refused() -> None:
    source = "{count, plural, one {1개} other {#개}}"

    assert _names(source, "{count, 복수, one {1개} other {#개}}") == ["placeholders"]


def test_the_message_names_what_was_lost_and_what_was_added() -> None:
    (finding,) = check("{a}와 {b}", "{c} and {b}")

    assert finding.message == "lost {a}; added {c}"


def test_the_message_shows_only_the_first_tokens() -> None:
    source = " ".join(f"{{token_{number}}}" for number in range(9))

    (finding,) = check(source, "none")

    assert finding.message.count("{token_") == SHOWN_TOKENS


def test_a_translation_may_fill_its_column_but_not_overflow_it() -> None:
    assert _names("가", "a" * MAX_TEXT_BYTES) == []

    (finding,) = check("가", "a" * (MAX_TEXT_BYTES + 1))

    assert finding.check == "size"
    assert finding.message == "the translation has 65,536 bytes; its column takes 65,535"


def test_the_size_is_counted_in_bytes_and_not_in_characters() -> None:
    assert _names("a", "가" * 21_845) == []
    assert _names("a", "가" * 21_846) == ["size"]


def test_several_faults_are_all_reported() -> None:
    assert _names("{name}님", "```\nHello\x00\n```") == ["placeholders", "characters", "code_fence"]


@settings(max_examples=200, deadline=None)
@given(source=st.text(max_size=60), target=st.text(max_size=60))
def test_any_pair_gets_findings_without_a_whole_text_in_them(source: str, target: str) -> None:
    for finding in check(source, target):
        assert finding.check
        assert len(finding.message) < 400


@pytest.mark.parametrize(
    ("source", "target"), [("%1$s의 %2$s", "%1$s of %1$s"), ("%s의 %s", "%1$s of %1$s"), ("%s %d개", "%1$d of %2$s")]
)
def test_an_argument_shown_twice_or_as_another_type_is_refused(source: str, target: str) -> None:
    assert [finding.check for finding in check(source, target)] == ["placeholders"]


@pytest.mark.parametrize(
    ("source", "target"), [("%1$s의 %2$s", "%2$s of %1$s"), ("%s %d개", "%2$d of %1$s"), ("%1$s의 %2$s", "%s of %s")]
)
def test_arguments_in_another_order_are_kept(source: str, target: str) -> None:
    assert check(source, target) == ()


def test_middle_dots_are_no_letters_of_the_source_script() -> None:
    assert check("・・・・ OK", "・・・・ OK") == ()
