"""What a domain is: the declaration that makes a type of resource translatable (design §4)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class TextKind(StrEnum):
    """How the text of a field is marked up."""

    PLAIN = "plain"
    HTML = "html"
    ICU = "icu"
    MARKDOWN = "markdown"


class TranslationPath(StrEnum):
    """How a domain's texts are translated."""

    DIRECT = "direct"
    JUDGED = "judged"


class MissingPolicy(StrEnum):
    """What a read model shows for a field that failed for good."""

    SOURCE = "source"  # the source text of that field
    HOLD = "hold"  # the read model keeps its previous state until the field is ready


class ReadModelShape(StrEnum):
    """How translated fields are laid out in the read-model row (S40, S41)."""

    PAYLOAD = "payload"
    SCALAR = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """One translatable field; ``max_length`` counts characters of its read-model column, None = no limit."""

    key: str
    column: str
    kind: TextKind = TextKind.PLAIN
    max_length: int | None = None
    preserve_whitespace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """Where the texts are. ``published`` is a set of column = value conditions; a row that misses one is withdrawn."""

    table: str
    id_column: str = "id"
    language_column: str | None = None
    version_column: str | None = None
    updated_at_column: str | None = None
    published: Mapping[str, str | int] = field(default_factory=dict)
    context_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadModelSpec:
    """Where translations are read. ``hot_columns`` maps a column to the field key that it repeats (S45)."""

    table: str
    key_column: str
    shape: ReadModelShape
    hot_columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A type of resource. ``priority_seconds`` is its head start in the queue; languages are canonical tags."""

    resource_type: str
    source: SourceSpec
    fields: tuple[FieldSpec, ...]
    read_model: ReadModelSpec
    target_languages: tuple[str, ...]
    source_language: str | None = None
    fallback_locales: tuple[str, ...] = ()
    provider: str | None = None
    honorific: bool | None = None
    path: TranslationPath = TranslationPath.DIRECT
    priority_seconds: int = 0
    immediate: bool = False
    edit_quiet_seconds: int = 0
    missing: MissingPolicy = MissingPolicy.SOURCE

    @property
    def field_keys(self) -> tuple[str, ...]:
        """The keys of the fields, in their declared order."""
        return tuple(spec.key for spec in self.fields)

    def field(self, key: str) -> FieldSpec | None:
        """The field named ``key``, or None."""
        return next((spec for spec in self.fields if spec.key == key), None)


@dataclass(frozen=True, slots=True)
class DomainRegistry:
    """All domains by resource type, in their declared order."""

    domains: Mapping[str, Domain]

    def get(self, resource_type: str) -> Domain | None:
        """The domain of ``resource_type``, or None."""
        return self.domains.get(resource_type)

    def __iter__(self) -> Iterator[Domain]:
        return iter(self.domains.values())
