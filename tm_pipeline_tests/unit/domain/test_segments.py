"""Segments: which texts are translated, and what a read model's fingerprint depends on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.domains import Domain, FieldSpec, ReadModelShape, ReadModelSpec, SourceSpec
from tm_pipeline.domain.segments import Segment, SegmentKind, extract, source_fingerprint
from tm_pipeline.domain.text import MAX_TEXT_BYTES, source_hash

KEYS = ("title", "detail", "tags")
VALUES = st.fixed_dictionaries({key: st.text(max_size=20) for key in KEYS})


def _domain(*fields: FieldSpec) -> Domain:
    return Domain(
        resource_type="post",
        source=SourceSpec(table="post"),
        fields=fields or tuple(FieldSpec(key=key, column=key) for key in KEYS),
        read_model=ReadModelSpec(table="post_translation", key_column="post_id", shape=ReadModelShape.PAYLOAD),
        target_languages=("en",),
    )


def _one(raw: str | None, *, preserve_whitespace: bool = False) -> Segment:
    spec = FieldSpec(key="title", column="title", preserve_whitespace=preserve_whitespace)
    (segment,) = extract(_domain(spec), {"title": raw})
    return segment


def test_segments_come_in_the_order_of_the_fields_and_ignore_other_values() -> None:
    segments = extract(_domain(), {"tags": "다", "title": "가", "other": "라", "detail": None})

    assert [(segment.field_key, segment.raw) for segment in segments] == [
        ("title", "가"),
        ("detail", ""),
        ("tags", "다"),
    ]


@pytest.mark.parametrize("raw", [None, "", " ", "\n\n", "\u200b", "\ufeff", "\u3000\u00a0", "\r\n"])
def test_blank_texts_are_blank_segments_that_are_never_sent(raw: str | None) -> None:
    assert _one(raw).kind is SegmentKind.BLANK
    assert _one(raw, preserve_whitespace=True).kind is SegmentKind.BLANK


@pytest.mark.parametrize("raw", ["12,345", "😀", "…", "1/2", " ~ "])
def test_texts_without_letters_are_not_translated(raw: str) -> None:
    assert _one(raw).kind is SegmentKind.NO_LETTERS


@pytest.mark.parametrize("raw", ["가", "ㅋㅋ", "a", "Message list", "3개 구매 시 2개 증정"])
def test_texts_with_a_letter_are_translatable(raw: str) -> None:
    segment = _one(raw)

    assert segment.kind is SegmentKind.TRANSLATABLE
    assert segment.error is None


def test_a_segment_keeps_the_raw_text_beside_the_normalised_one_that_is_hashed() -> None:
    segment = _one(" Welcome\r\n")

    assert segment.raw == " Welcome\r\n"
    assert segment.normalised == "Welcome"
    assert segment.source_hash == source_hash("Welcome")


def test_a_field_that_keeps_white_space_has_a_hash_of_its_own() -> None:
    assert _one("a  b", preserve_whitespace=True).normalised == "a  b"
    assert _one("a  b", preserve_whitespace=True).source_hash != _one("a  b").source_hash


@pytest.mark.parametrize("raw", ["가\x00", "가\ud83d"])
def test_a_text_that_no_database_takes_is_invalid_with_a_reason(raw: str) -> None:
    segment = _one(raw)

    assert segment.kind is SegmentKind.INVALID
    assert segment.error
    assert not segment.normalised
    assert len(segment.source_hash) == 64


def test_different_invalid_texts_have_different_hashes() -> None:
    assert _one("가\x00").source_hash != _one("나\x00").source_hash


def test_a_text_may_fill_its_column_but_not_overflow_it() -> None:
    assert _one("가" * (MAX_TEXT_BYTES // 3)).kind is SegmentKind.TRANSLATABLE

    segment = _one("가" * (MAX_TEXT_BYTES // 3) + "a")

    assert segment.kind is SegmentKind.INVALID
    assert segment.error == "The text has 65,536 bytes; a field may have 65,535. Shorten it."


def test_the_size_is_that_of_the_normalised_text() -> None:
    assert _one("a" * MAX_TEXT_BYTES + "\n" * 10).kind is SegmentKind.TRANSLATABLE


@settings(max_examples=200, deadline=None)
@given(values=VALUES, key=st.sampled_from(KEYS), text=st.text(max_size=20))
def test_the_fingerprint_changes_exactly_when_a_field_changes(values: dict[str, str], key: str, text: str) -> None:
    before = source_fingerprint(_domain(), values, "ko")
    after = source_fingerprint(_domain(), {**values, key: text}, "ko")

    assert (before == after) is (values[key] == text)


@settings(max_examples=100, deadline=None)
@given(values=VALUES, first=st.sampled_from(KEYS), second=st.sampled_from(KEYS))
def test_the_fingerprint_changes_when_two_fields_swap_their_texts(
    values: dict[str, str], first: str, second: str
) -> None:
    swapped = {**values, first: values[second], second: values[first]}
    same = source_fingerprint(_domain(), values, "ko") == source_fingerprint(_domain(), swapped, "ko")

    assert same is (values == swapped)


def test_the_fingerprint_changes_with_language_field_list_and_outer_white_space() -> None:
    values = {"title": "가", "detail": "나", "tags": ""}
    fingerprints = {
        source_fingerprint(_domain(), values, "ko"),
        source_fingerprint(_domain(), values, "ja"),
        source_fingerprint(_domain(), values, None),
        source_fingerprint(_domain(), {**values, "title": "가 "}, "ko"),
        source_fingerprint(_domain(FieldSpec(key="title", column="title")), values, "ko"),
    }

    assert len(fingerprints) == 5
    assert all(len(fingerprint) == 64 for fingerprint in fingerprints)


def test_the_fingerprint_ignores_other_values_and_takes_a_missing_one_as_empty() -> None:
    values: dict[str, str | None] = {"title": "가", "detail": None}

    assert source_fingerprint(_domain(), values, "ko") == source_fingerprint(
        _domain(), {"tags": "", "detail": "", "title": "가", "views": "7"}, "ko"
    )


def test_the_fingerprint_exists_for_texts_that_cannot_be_stored() -> None:
    assert len(source_fingerprint(_domain(), {"title": "\ud83d\x00"}, "ko")) == 64
