"""Read models: rows laid out by the domain's shape, never with a text cut."""

from collections.abc import Mapping

import pytest

from tm_pipeline.domain.domains import Domain, FieldSpec, ReadModelShape, ReadModelSpec, SourceSpec
from tm_pipeline.domain.errors import ReadModelError
from tm_pipeline.domain.read_models import ReadModelRow, assemble


def _domain(
    *fields: FieldSpec,
    shape: ReadModelShape = ReadModelShape.PAYLOAD,
    hot_columns: Mapping[str, str] | None = None,
) -> Domain:
    return Domain(
        resource_type="post",
        source=SourceSpec(table="post"),
        fields=fields,
        read_model=ReadModelSpec(
            table="post_translation", key_column="post_id", shape=shape, hot_columns=hot_columns or {}
        ),
        target_languages=("en",),
    )


TITLE = FieldSpec(key="title", column="title_text")
DETAIL = FieldSpec(key="detail", column="detail")
NAME = FieldSpec(key="name", column="name", max_length=50)


def _row(domain: Domain, texts: Mapping[str, str]) -> ReadModelRow:
    return assemble(domain, 7, "en", texts, source_fingerprint="f" * 64, source_version=3)


def test_a_payload_holds_every_field_by_its_key_in_declared_order() -> None:
    row = _row(_domain(TITLE, DETAIL), {"detail": "Long", "title": "Short"})

    assert row.payload is not None
    assert list(row.payload.items()) == [("title", "Short"), ("detail", "Long")]
    assert row.value is None


def test_a_missing_text_is_shown_empty_and_an_unknown_one_is_left_out() -> None:
    row = _row(_domain(TITLE, DETAIL), {"title": "Short", "other": "x"})

    assert row.payload == {"title": "Short", "detail": ""}


def test_a_scalar_holds_its_one_field_as_the_value() -> None:
    row = _row(_domain(NAME, shape=ReadModelShape.SCALAR), {"name": "Food"})

    assert row.value == "Food"
    assert row.payload is None


def test_a_scalar_without_a_text_is_empty() -> None:
    assert not _row(_domain(NAME, shape=ReadModelShape.SCALAR), {}).value


def test_hot_columns_repeat_their_fields() -> None:
    row = _row(_domain(TITLE, DETAIL, hot_columns={"shown_title": "title", "d": "detail"}), {"title": "Short"})

    assert row.hot == {"shown_title": "Short", "d": ""}


def test_a_row_says_what_it_was_built_from() -> None:
    row = _row(_domain(TITLE), {"title": "Short"})

    assert (row.resource_id, row.locale, row.source_fingerprint, row.source_version) == (7, "en", "f" * 64, 3)


@pytest.mark.parametrize("shape", list(ReadModelShape))
def test_a_text_longer_than_its_column_fails_with_field_length_limit_and_remedy(shape: ReadModelShape) -> None:
    with pytest.raises(ReadModelError) as caught:
        _row(_domain(NAME, shape=shape), {"name": "x" * 80})

    message = str(caught.value)
    assert message.startswith("post 7 en: the translation of name has 80 characters, its column takes 50.")
    assert "Shorten the source, or widen the column and max_length." in message
    assert "xxx" not in message


@pytest.mark.parametrize("character", ["x", "가", "😀"])
def test_a_text_may_fill_its_column_whatever_its_characters(character: str) -> None:
    text = character * 50

    assert _row(_domain(NAME, shape=ReadModelShape.SCALAR), {"name": text}).value == text


def test_a_field_without_a_limit_takes_any_length() -> None:
    row = _row(_domain(TITLE), {"title": "x" * 100_000})

    assert row.payload == {"title": "x" * 100_000}
