"""Values of a YAML file that know their place in it, so that every error names file, path and remedy."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import yaml

from tm_pipeline.domain.errors import DomainsFileError, UsageError
from tm_pipeline.domain.languages import canonical

E = TypeVar("E", bound=StrEnum)

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MAX_WHOLE = 2**31 - 1


class _Loader(yaml.SafeLoader):
    """Plain YAML in which a key that is there twice is a fault: the last one would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                problem = f"{key.value} is there twice"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def load_yaml(yaml_text: str, *, file_name: str) -> Any:
    """The content of a YAML text; raises ``DomainsFileError`` with line and column where it is none."""
    try:
        return yaml.load(yaml_text, Loader=_Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError) as error:  # a ValueError is a date that does not exist
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not readable"
        raise DomainsFileError(f"{file_name}: no valid YAML{place}: {problem}. Correct the file.") from error


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the file with its path, for the messages."""

    file: str
    path: str
    value: Any

    def fail(self, wanted: str) -> DomainsFileError:
        """The error to raise for this value; ``wanted`` is the remedy."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 80 else shown[:77] + "…"
        return DomainsFileError(f"{self.file}: {self.path}: got {shown}; {wanted}.")

    def mapping(self, keys: Sequence[str] | None = None) -> dict[str, "Node"]:
        """The values by key; only ``keys`` are taken where they are given."""
        if not isinstance(self.value, Mapping):
            raise self.fail("use a mapping of keys to values")
        for key in self.value:
            if not isinstance(key, str):
                raise DomainsFileError(f"{self.file}: {self.path}: got the key {key!r}; put quotes around it.")
        nodes = {key: Node(self.file, f"{self.path}.{key}", value) for key, value in self.value.items()}
        for key, node in nodes.items():
            if keys is not None and key not in keys:
                raise DomainsFileError(f"{self.file}: {node.path}: unknown key; use one of {', '.join(keys)}.")
        return nodes

    def items(self) -> list["Node"]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.fail("use a list")
        return [Node(self.file, f"{self.path}[{number}]", value) for number, value in enumerate(self.value)]

    def text(self, pattern: re.Pattern[str] | None = None, wanted: str = "use a text") -> str:
        """A text that matches ``pattern`` as a whole."""
        if not isinstance(self.value, str) or (pattern is not None and not pattern.fullmatch(self.value)):
            raise self.fail(wanted)
        return self.value

    def identifier(self) -> str:
        """The name of a table or column."""
        return self.text(IDENTIFIER, "use the name of a table or column")

    def whole(self, minimum: int) -> int:
        """A whole number of at least ``minimum``."""
        if isinstance(self.value, int) and not isinstance(self.value, bool) and minimum <= self.value <= MAX_WHOLE:
            return self.value
        raise self.fail(f"use a whole number from {minimum} to {MAX_WHOLE}")

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.fail("use true or false")
        return self.value

    def choice(self, kind: type[E]) -> E:
        """One of the values of ``kind``."""
        allowed = [member.value for member in kind]
        if self.value not in allowed:
            raise self.fail(f"use one of {', '.join(allowed)}")
        return kind(self.value)

    def language(self) -> str:
        """A language, in its canonical spelling."""
        try:
            return canonical(self.text(wanted="use a language tag such as ko, en or zh-TW"))
        except UsageError as error:
            raise self.fail("use a language tag such as ko, en or zh-TW") from error

    def languages(self) -> tuple[str, ...]:
        """Languages, each one once."""
        tags = tuple(node.language() for node in self.items())
        if len(set(tags)) != len(tags):
            raise self.fail("list each language once")
        return tags

    def some_languages(self) -> tuple[str, ...]:
        """Languages, each one once, at least one."""
        if not (tags := self.languages()):
            raise self.fail("list at least one language")
        return tags
