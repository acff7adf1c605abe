"""Where the SQL files are: beside the package in a checkout, inside it in a wheel."""

import re
from pathlib import Path

from tm_pipeline.domain.errors import ConfigurationError

_STATEMENT_END = re.compile(r";[ \t]*(?:\n|$)")


def sql_folder() -> Path:
    """The folder with ``migrations``, ``sample`` and ``invariants.sql``."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "sql", package / "_sql"):
        if (folder / "migrations").is_dir():
            return folder
    raise ConfigurationError("The SQL files of tm_pipeline were not found; install the package again.")


def statements(text: str) -> list[str]:
    """The statements of a file: each ends with a semicolon at the end of its line; comment lines are dropped."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return [part.strip() for part in _STATEMENT_END.split(code) if part.strip()]
