"""Language tags: one spelling each, and when no translation is needed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.languages import MAX_TAG_CHARACTERS, UNDETERMINED, canonical, same_language

PARTS = st.lists(
    st.sampled_from(
        ["ko", "KR", "zh", "Hans", "hant", "TW", "HK", "SG", "MO", "en", "GB", "us", "ja", "JP", "sr", "Latn", "wuu"]
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize(
    ("tag", "spelling"),
    [
        ("ko", "ko"),
        ("KO", "ko"),
        ("ko-KR", "ko"),
        ("ko_KR", "ko"),
        (" ja-JP ", "ja"),
        ("ZH-cn", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-SG", "zh-CN"),
        ("zh-Hans-CN", "zh-CN"),
        ("zh_Hant", "zh-TW"),
        ("zh-HK", "zh-TW"),
        ("zh-Hant-HK", "zh-TW"),
        ("zh", "zh"),
        ("wuu", "wuu"),
        ("en", "en"),
        ("en_gb", "en-GB"),
        ("en-US", "en-US"),
        ("pt-br", "pt-BR"),
        ("sr-latn", "sr-Latn"),
        ("und", UNDETERMINED),
    ],
)
def test_every_spelling_of_a_language_becomes_one_tag(tag: str, spelling: str) -> None:
    assert canonical(tag) == spelling


@pytest.mark.parametrize("tag", ["", " ", "korean", "k", "xx-!!", "한국어", "en-", "12", "ko KR", "zh-CNN-x"])
def test_what_is_no_tag_is_refused_with_an_example(tag: str) -> None:
    with pytest.raises(UsageError) as caught:
        canonical(tag)

    assert repr(tag) in str(caught.value)
    assert "use one such as ko" in str(caught.value)


def test_a_tag_that_does_not_fit_its_column_is_refused() -> None:
    with pytest.raises(UsageError, match=r"more than 10 characters; use a shorter tag"):
        canonical("sr-Latn-RS-ekavsk")


@settings(max_examples=150, deadline=None)
@given(parts=PARTS)
def test_the_spelling_of_a_spelling_is_itself(parts: list[str]) -> None:
    try:
        tag = canonical("-".join(parts))
    except UsageError:
        return

    assert canonical(tag) == tag
    assert len(tag) <= MAX_TAG_CHARACTERS


@pytest.mark.parametrize(
    ("first", "second"),
    [("ja", "ja"), ("en-GB", "en"), ("en", "en-US"), ("zh-TW", "zh-TW"), ("und", "und"), ("sr-Latn", "sr-Latn")],
)
def test_text_in_the_same_language_needs_no_translation(first: str, second: str) -> None:
    assert same_language(first, second)
    assert same_language(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ko", "ja"),
        ("zh-CN", "zh-TW"),
        ("zh", "zh-CN"),
        ("en-GB", "en-US"),
        ("pt-BR", "pt-PT"),
        ("sr-Latn", "sr"),
        ("sr-Latn", "sr-Cyrl"),
        ("und", "ko"),
        ("wuu", "zh-CN"),
    ],
)
def test_text_in_another_language_region_or_script_is_translated(first: str, second: str) -> None:
    assert not same_language(first, second)
    assert not same_language(second, first)
