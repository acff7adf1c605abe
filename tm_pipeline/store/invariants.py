"""The queries of ``sql/invariants.sql``: each must return no row."""

import re
from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import Connection, TextClause, bindparam, text

from tm_pipeline.store.clock import read_now
from tm_pipeline.store.sql_files import sql_folder, statements
from tm_pipeline.store.types import UtcTimestamp

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
COUNTED_ROWS = 1_000
BOUND = timedelta(minutes=10)  # a lease and the sweep after it take less than three
PARAMETER = "ten_minutes_ago"


def named_queries() -> dict[str, str]:
    """Invariant name → query."""
    content = (sql_folder() / "invariants.sql").read_text(encoding="utf-8")
    parts = _NAME.split(content)[1:]
    return {name: statements(body)[0] for name, body in zip(parts[::2], parts[1::2], strict=True)}


def violations(conn: Connection, names: Collection[str] | None = None) -> dict[str, int]:
    """Invariant name → number of offending rows, counted up to ``COUNTED_ROWS``; of ``names``, by default all."""
    bound = read_now(conn) - BOUND
    found: dict[str, int] = {}
    for name, query in named_queries().items():
        if names is not None and name not in names:
            continue
        statement: TextClause = text(query)
        if f":{PARAMETER}" in query:
            statement = statement.bindparams(bindparam(PARAMETER, bound, UtcTimestamp(6)))
        found[name] = len(conn.execute(statement).fetchmany(COUNTED_ROWS))
    return found
