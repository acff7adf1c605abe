"""The queries of ``sql/invariants.sql``: each must return no row."""

import re

from sqlalchemy import Connection, text

from tm_pipeline.store.sql_files import sql_folder, statements

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
COUNTED_ROWS = 1_000


def named_queries() -> dict[str, str]:
    """Invariant name → query."""
    content = (sql_folder() / "invariants.sql").read_text(encoding="utf-8")
    parts = _NAME.split(content)[1:]
    return {name: statements(body)[0] for name, body in zip(parts[::2], parts[1::2], strict=True)}


def violations(conn: Connection) -> dict[str, int]:
    """Invariant name → number of offending rows, counted up to ``COUNTED_ROWS``."""
    found: dict[str, int] = {}
    for name, query in named_queries().items():
        found[name] = len(conn.execute(text(query)).fetchmany(COUNTED_ROWS))
    return found
