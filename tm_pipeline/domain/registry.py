"""Domains from YAML: validated as a whole, every error naming file, path, what was found and the remedy."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from tm_pipeline.domain.errors import DomainsFileError
from tm_pipeline.domain.yaml_nodes import IDENTIFIER, Node, load_yaml

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
_FIELD_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")

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
# Columns that every read model has; its key and hot columns need names of their own.
FIXED_COLUMNS = frozenset(
    {"id", "locale", "payload", "value", "source_fingerprint", "source_version", "created_at", "updated_at"}
)


def builtin_registry() -> DomainRegistry:
    """The eight built-in domains."""
    return DomainRegistry({domain.resource_type: domain for domain in BUILTIN})


def parse_domains(yaml_text: str, *, file_name: str, base: Sequence[Domain] = BUILTIN) -> DomainRegistry:
    """The registry of a domains file over ``base``; raises ``DomainsFileError`` at the first fault."""
    content = load_yaml(yaml_text, file_name=file_name)
    top = Node(file_name, "top level", content).mapping(TOP_KEYS)
    if "domains" not in top:
        raise DomainsFileError(f"{file_name}: domains: the key is missing; list at least one domain under it.")
    extend = top["extend_builtin"].flag() if "extend_builtin" in top else True
    found = {domain.resource_type: domain for domain in base} if extend else {}
    known = {domain.resource_type: domain for domain in base}
    for name, node in Node(file_name, "domains", top["domains"].value).mapping().items():
        if not _NAME.fullmatch(name):
            raise DomainsFileError(f"{file_name}: {node.path}: use lower-case letters, digits and _, at most 50.")
        found[name] = _domain(name, node, known.get(name))
    if not found:
        raise DomainsFileError(f"{file_name}: domains: none is left; list one, or set extend_builtin: true.")
    _check_tables(file_name, found)
    return DomainRegistry(found)


def _domain(name: str, node: Node, built_in: Domain | None) -> Domain:
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


def _provider(node: Node) -> str:
    return node.text(_NAME, "use the name of a provider, such as papago")


_POLICY: Mapping[str, Callable[[Node], Any]] = {
    "target_languages": Node.some_languages,
    "fallback_locales": Node.languages,
    "source_language": Node.language,
    "provider": _provider,
    "honorific": Node.flag,
    "immediate": Node.flag,
    "priority_seconds": lambda node: node.whole(0),
    "edit_quiet_seconds": lambda node: node.whole(0),
    "path": lambda node: node.choice(TranslationPath),
    "missing": lambda node: node.choice(MissingPolicy),
}


def _policy(parts: Mapping[str, Node]) -> dict[str, Any]:
    return {key: read(parts[key]) for key, read in _POLICY.items() if key in parts}


def _source(node: Node) -> SourceSpec:
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
        if (
            not IDENTIFIER.fullmatch(column)
            or isinstance(wanted.value, bool)
            or not isinstance(wanted.value, str | int)
        ):
            raise wanted.fail("use column: text or column: whole number")
        published[column] = wanted.value
    context = (
        tuple(item.identifier() for item in parts["context_columns"].items()) if "context_columns" in parts else ()
    )
    return SourceSpec(**columns, published=published, context_columns=context)


def _fields(node: Node) -> tuple[FieldSpec, ...]:
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


def _read_model(node: Node) -> ReadModelSpec:
    parts = node.mapping(READ_MODEL_KEYS)
    for key in ("table", "key_column", "shape"):
        if key not in parts:
            raise DomainsFileError(f"{node.file}: {node.path}.{key}: missing; a read model needs it.")
    hot = parts["hot_columns"].mapping() if "hot_columns" in parts else {}
    return ReadModelSpec(
        table=parts["table"].identifier(),
        key_column=parts["key_column"].identifier(),
        shape=parts["shape"].choice(ReadModelShape),
        hot_columns={
            _hot_column(column, value): value.text(_FIELD_KEY, "use a field key") for column, value in hot.items()
        },
    )


def _hot_column(column: str, node: Node) -> str:
    if not IDENTIFIER.fullmatch(column):
        raise DomainsFileError(f"{node.file}: {node.path}: use the name of a column.")
    return column


def _check_tables(file_name: str, domains: Mapping[str, Domain]) -> None:
    """No table is the read model of two domains: each would overwrite the other's rows."""
    owners = {domain.source.table.lower(): name for name, domain in domains.items()}
    for name, domain in domains.items():
        table = domain.read_model.table
        if table.lower() in owners:
            place = f"{file_name}: domains.{name}.read_model.table"
            raise DomainsFileError(f"{place}: got {table!r}, which {owners[table.lower()]} uses; name another table.")
        owners[table.lower()] = name


def _check_whole(node: Node, domain: Domain) -> None:
    own = (domain.read_model.key_column, *domain.read_model.hot_columns)
    for column in own:
        if column.lower() in FIXED_COLUMNS or own.count(column) > 1:
            raise DomainsFileError(
                f"{node.file}: {node.path}.read_model: the column {column} has another use there; name another column."
            )
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
