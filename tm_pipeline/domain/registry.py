"""Domains from YAML: validated as a whole, every error naming file, path, what was found and the remedy."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import yaml

from tm_pipeline.domain.builtin_domains import BUILTIN, TARGET_LANGUAGES
from tm_pipeline.domain.domains import (
    Domain,
    DomainRegistry,
    FieldSpec,
    MissingPolicy,
    ReadModelShape,
    ReadModelSpec,
    SourceSpec,
    TextKind,
    TranslationPath,
)
from tm_pipeline.domain.errors import DomainsFileError, UsageError
from tm_pipeline.domain.languages import canonical

E = TypeVar("E", bound=StrEnum)

_NAME = re.compile(r"^[a-z][a-z0-9_]{0,49}$")
_FIELD_KEY = re.compile(r"^[A-Za-z][A-Za-z0-9_]{0,79}$")
_IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")

TOP_KEYS = ("extend_builtin", "domains")
DOMAIN_KEYS = (
    "source",
    "fields",
    "read_model",
    "target_languages",
    "source_language",
    "fallback_locales",
    "provider",
    "honorific",
    "path",
    "priority_seconds",
    "immediate",
    "edit_quiet_seconds",
    "missing",
)
SOURCE_KEYS = (
    "table",
    "id_column",
    "language_column",
    "version_column",
    "updated_at_column",
    "published",
    "context_columns",
)
FIELD_KEYS = ("key", "column", "kind", "max_length", "preserve_whitespace")
READ_MODEL_KEYS = ("table", "key_column", "shape", "hot_columns")


def builtin_registry() -> DomainRegistry:
    """The eight built-in domains."""
    return DomainRegistry({domain.resource_type: domain for domain in BUILTIN})


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the file with its path, for the messages."""

    file: str
    path: str
    value: Any

    def fail(self, wanted: str) -> DomainsFileError:
        shown = repr(self.value)
        shown = shown if len(shown) <= 80 else shown[:77] + "…"
        return DomainsFileError(f"{self.file}: {self.path}: got {shown}; {wanted}.")

    def mapping(self, keys: Sequence[str] | None = None) -> dict[str, "_Node"]:
        if not isinstance(self.value, Mapping):
            raise self.fail("use a mapping of keys to values")
        nodes = {str(key): _Node(self.file, f"{self.path}.{key}", value) for key, value in self.value.items()}
        for key, node in nodes.items():
            if keys is not None and key not in keys:
                raise DomainsFileError(f"{self.file}: {node.path}: unknown key; use one of {', '.join(keys)}.")
        return nodes

    def items(self) -> list["_Node"]:
        if not isinstance(self.value, list):
            raise self.fail("use a list")
        return [_Node(self.file, f"{self.path}[{number}]", value) for number, value in enumerate(self.value)]

    def text(self, pattern: re.Pattern[str] | None = None, wanted: str = "use a text") -> str:
        if not isinstance(self.value, str) or (pattern is not None and not pattern.match(self.value)):
            raise self.fail(wanted)
        return self.value

    def identifier(self) -> str:
        return self.text(_IDENTIFIER, "use the name of a table or column")

    def whole(self, minimum: int) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < minimum:
            raise self.fail(f"use a whole number of at least {minimum}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.fail("use true or false")
        return self.value

    def choice(self, kind: type[E]) -> E:
        allowed = [member.value for member in kind]
        if self.value not in allowed:
            raise self.fail(f"use one of {', '.join(allowed)}")
        return kind(self.value)

    def language(self) -> str:
        try:
            return canonical(self.text(wanted="use a language tag such as ko, en or zh-TW"))
        except UsageError as error:
            raise self.fail("use a language tag such as ko, en or zh-TW") from error

    def languages(self) -> tuple[str, ...]:
        tags = tuple(node.language() for node in self.items())
        if not tags or len(set(tags)) != len(tags):
            raise self.fail("list each language once, at least one")
        return tags


def parse_domains(yaml_text: str, *, file_name: str, base: Sequence[Domain] = BUILTIN) -> DomainRegistry:
    """The registry of a domains file over ``base``; raises ``DomainsFileError`` at the first fault."""
    try:
        content = yaml.safe_load(yaml_text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not readable"
        raise DomainsFileError(f"{file_name}: no valid YAML{place}: {problem}. Correct the file.") from error
    top = _Node(file_name, "top level", content).mapping(TOP_KEYS)
    if "domains" not in top:
        raise DomainsFileError(f"{file_name}: domains: the key is missing; list at least one domain under it.")
    extend = top["extend_builtin"].flag() if "extend_builtin" in top else True
    found = {domain.resource_type: domain for domain in base} if extend else {}
    known = {domain.resource_type: domain for domain in base}
    for name, node in _Node(file_name, "domains", top["domains"].value).mapping().items():
        if not _NAME.match(name):
            raise DomainsFileError(f"{file_name}: {node.path}: use lower-case letters, digits and _, at most 50.")
        found[name] = _domain(name, node, known.get(name))
    return DomainRegistry(found)


def _domain(name: str, node: _Node, built_in: Domain | None) -> Domain:
    parts = node.mapping(DOMAIN_KEYS)
    needed = [key for key in ("source", "fields", "read_model") if key not in parts and built_in is None]
    if needed:
        raise DomainsFileError(f"{node.file}: {node.path}: {', '.join(needed)} missing; a new domain needs them.")
    values: dict[str, Any] = {}
    if "source" in parts:
        values["source"] = _source(parts["source"])
    if "fields" in parts:
        values["fields"] = _fields(parts["fields"])
    if "read_model" in parts:
        values["read_model"] = _read_model(parts["read_model"])
    values |= _policy(parts)
    domain = (
        replace(built_in, **values)
        if built_in is not None
        else Domain(resource_type=name, **({"target_languages": TARGET_LANGUAGES} | values))
    )
    _check_whole(node, domain)
    return domain


def _provider(node: _Node) -> str:
    return node.text(_NAME, "use the name of a provider, such as papago")


_POLICY: Mapping[str, Callable[[_Node], Any]] = {
    "target_languages": _Node.languages,
    "fallback_locales": _Node.languages,
    "source_language": _Node.language,
    "provider": _provider,
    "honorific": _Node.flag,
    "immediate": _Node.flag,
    "priority_seconds": lambda node: node.whole(0),
    "edit_quiet_seconds": lambda node: node.whole(0),
    "path": lambda node: node.choice(TranslationPath),
    "missing": lambda node: node.choice(MissingPolicy),
}


def _policy(parts: Mapping[str, _Node]) -> dict[str, Any]:
    return {key: read(parts[key]) for key, read in _POLICY.items() if key in parts}


def _source(node: _Node) -> SourceSpec:
    parts = node.mapping(SOURCE_KEYS)
    if "table" not in parts:
        raise DomainsFileError(f"{node.file}: {node.path}.table: missing; name the source table.")
    columns = {
        key: parts[key].identifier()
        for key in ("table", "id_column", "language_column", "version_column", "updated_at_column")
        if key in parts
    }
    published: dict[str, str | int] = {}
    for column, wanted in parts["published"].mapping().items() if "published" in parts else ():
        if not _IDENTIFIER.match(column) or isinstance(wanted.value, bool) or not isinstance(wanted.value, str | int):
            raise wanted.fail("use column: text or column: whole number")
        published[column] = wanted.value
    context = (
        tuple(item.identifier() for item in parts["context_columns"].items()) if "context_columns" in parts else ()
    )
    return SourceSpec(**columns, published=published, context_columns=context)


def _fields(node: _Node) -> tuple[FieldSpec, ...]:
    fields = []
    for item in node.items():
        parts = item.mapping(FIELD_KEYS)
        if "key" not in parts:
            raise DomainsFileError(f"{item.file}: {item.path}.key: missing; name the field.")
        key = parts["key"].text(_FIELD_KEY, "use letters, digits and _, at most 80")
        column = parts["column"].identifier() if "column" in parts else key
        kind = parts["kind"].choice(TextKind) if "kind" in parts else TextKind.PLAIN
        limit = parts["max_length"].whole(1) if "max_length" in parts else None
        keep = parts["preserve_whitespace"].flag() if "preserve_whitespace" in parts else False
        fields.append(FieldSpec(key=key, column=column, kind=kind, max_length=limit, preserve_whitespace=keep))
    keys = [spec.key.lower() for spec in fields]
    if not fields or len(set(keys)) != len(keys):
        raise node.fail("list each field once, at least one")
    return tuple(fields)


def _read_model(node: _Node) -> ReadModelSpec:
    parts = node.mapping(READ_MODEL_KEYS)
    for key in ("table", "key_column", "shape"):
        if key not in parts:
            raise DomainsFileError(f"{node.file}: {node.path}.{key}: missing; a read model needs it.")
    hot = parts["hot_columns"].mapping() if "hot_columns" in parts else {}
    return ReadModelSpec(
        table=parts["table"].identifier(),
        key_column=parts["key_column"].identifier(),
        shape=parts["shape"].choice(ReadModelShape),
        hot_columns={column: value.text(_FIELD_KEY, "use a field key") for column, value in hot.items()},
    )


def _check_whole(node: _Node, domain: Domain) -> None:
    if domain.read_model.shape is ReadModelShape.SCALAR and len(domain.fields) != 1:
        raise DomainsFileError(
            f"{node.file}: {node.path}.read_model.shape: value holds one field, the domain has {len(domain.fields)}; "
            "use payload."
        )
    for column, key in domain.read_model.hot_columns.items():
        if domain.field(key) is None:
            raise DomainsFileError(
                f"{node.file}: {node.path}.read_model.hot_columns.{column}: got {key!r}; "
                f"use one of {', '.join(domain.field_keys)}."
            )
