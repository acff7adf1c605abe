"""The built-in domains."""

import pytest

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import Domain, ReadModelShape, TextKind, TranslationPath
from tm_pipeline.domain.languages import canonical

BY_NAME = {domain.resource_type: domain for domain in BUILTIN}
NAMES = ["content", "series", "ai_character", "original_work", "category", "content_theme", "series_genre", "game_line"]


def test_there_are_the_eight_domains_of_the_product() -> None:
    assert list(BY_NAME) == NAMES


@pytest.mark.parametrize(
    ("resource_type", "keys"),
    [
        ("content", ("title", "detail", "tags")),
        ("series", ("title", "introduction", "keywords")),
        ("original_work", ("title", "description", "author_note")),
        ("category", ("name",)),
        ("content_theme", ("name",)),
        ("series_genre", ("name",)),
        ("game_line", ("text",)),
    ],
)
def test_fields_are_those_of_the_read_models(resource_type: str, keys: tuple[str, ...]) -> None:
    assert BY_NAME[resource_type].field_keys == keys


def test_a_character_has_at_least_ten_different_fields() -> None:
    keys = BY_NAME["ai_character"].field_keys

    assert len(set(keys)) == len(keys) >= 10


@pytest.mark.parametrize("domain", BUILTIN, ids=NAMES)
def test_tables_and_columns_follow_the_name_of_the_type(domain: Domain) -> None:
    assert domain.source.table == domain.resource_type
    assert domain.read_model.table == f"{domain.resource_type}_translation"
    assert domain.read_model.key_column == f"{domain.resource_type}_id"
    assert domain.source.published == {"is_active": 1}
    assert all(spec.column == spec.key and spec.kind is TextKind.PLAIN for spec in domain.fields)


@pytest.mark.parametrize("domain", BUILTIN, ids=NAMES)
def test_languages_are_canonical_and_nothing_is_immediate(domain: Domain) -> None:
    assert domain.target_languages == tuple(canonical(tag) for tag in domain.target_languages) == ("en", "ja", "ko")
    assert domain.fallback_locales == ("en",)
    assert not domain.immediate


@pytest.mark.parametrize("domain", BUILTIN, ids=NAMES)
def test_one_value_for_one_field_and_a_payload_for_several(domain: Domain) -> None:
    wanted = ReadModelShape.SCALAR if len(domain.fields) == 1 else ReadModelShape.PAYLOAD

    assert domain.read_model.shape is wanted


def test_names_fit_their_column_and_a_line_has_no_limit() -> None:
    limits = {name: BY_NAME[name].fields[0].max_length for name in NAMES[4:]}

    assert limits == {"category": 255, "content_theme": 255, "series_genre": 255, "game_line": None}


def test_only_lines_are_judged_and_have_context() -> None:
    judged = [domain.resource_type for domain in BUILTIN if domain.path is TranslationPath.JUDGED]

    assert judged == ["game_line"]
    assert BY_NAME["game_line"].source.context_columns == ("speaker", "scene", "note")


def test_a_field_is_found_by_its_key_only() -> None:
    content = BY_NAME["content"]

    assert content.field("detail") == content.fields[1]
    assert content.field("Detail") is None
