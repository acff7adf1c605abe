"""The eight built-in domains, as data (K4, S40, S41; design §4)."""

from tm_pipeline.domain.domains import (
    Domain,
    FieldSpec,
    ReadModelShape,
    ReadModelSpec,
    SourceSpec,
    TranslationPath,
)

TARGET_LANGUAGES = ("en", "ja", "ko")
NAME_CHARACTERS = 255  # of the sample product's name columns

_CHARACTER_FIELDS = (
    "name",
    "tagline",
    "description",
    "personality",
    "background",
    "greeting",
    "speech_style",
    "likes",
    "dislikes",
    "relationship",
)


def _domain(
    resource_type: str,
    fields: tuple[FieldSpec, ...],
    shape: ReadModelShape = ReadModelShape.PAYLOAD,
    *,
    context_columns: tuple[str, ...] = (),
    path: TranslationPath = TranslationPath.DIRECT,
) -> Domain:
    return Domain(
        resource_type=resource_type,
        source=SourceSpec(
            table=resource_type,
            language_column="language_code",
            updated_at_column="updated_at",
            published={"is_active": 1},
            context_columns=context_columns,
        ),
        fields=fields,
        read_model=ReadModelSpec(table=f"{resource_type}_translation", key_column=f"{resource_type}_id", shape=shape),
        target_languages=TARGET_LANGUAGES,
        fallback_locales=("en",),
        path=path,
    )


def _fields(*keys: str) -> tuple[FieldSpec, ...]:
    return tuple(FieldSpec(key=key, column=key) for key in keys)


_NAME = (FieldSpec(key="name", column="name", max_length=NAME_CHARACTERS),)

BUILTIN: tuple[Domain, ...] = (
    _domain("content", _fields("title", "detail", "tags")),
    _domain("series", _fields("title", "introduction", "keywords")),
    _domain("ai_character", _fields(*_CHARACTER_FIELDS)),
    _domain("original_work", _fields("title", "description", "author_note")),
    _domain("category", _NAME, ReadModelShape.SCALAR),
    _domain("content_theme", _NAME, ReadModelShape.SCALAR),
    _domain("series_genre", _NAME, ReadModelShape.SCALAR),
    _domain(
        "game_line",
        _fields("text"),
        ReadModelShape.SCALAR,
        context_columns=("speaker", "scene", "note"),
        path=TranslationPath.JUDGED,
    ),
)
