"""The SQL that application developers copy from sql/contract/ works as it stands."""

import re
from pathlib import Path

from sqlalchemy import text

from tm_pipeline.store.engine import Database

CONTRACT = Path(__file__).parents[2] / "sql" / "contract"


def statements(name: str) -> list[str]:
    lines = re.sub(r"--.*", "", (CONTRACT / name).read_text(encoding="utf-8"))
    return [part.strip() for part in lines.split(";") if part.strip()]


def test_a_request_for_translation_can_be_appended(database: Database) -> None:
    with database.begin() as conn:
        for statement in statements("request_translation.sql"):
            assert conn.execute(text(statement)).rowcount == 1


def test_read_models_can_be_selected_on_a_server(database: Database) -> None:
    if database.is_sqlite:  # it spells its JSON functions differently, and is no product's server
        return
    with database.read() as conn:
        for statement in statements("read_translation.mysql.sql"):
            assert conn.execute(text(statement)).all() == []


def test_every_table_that_is_granted_exists(database: Database) -> None:
    granted = set(re.findall(r"product\.([a-z_]+)", "".join(statements("grants.mysql.sql"))))
    with database.read() as conn:
        for table in granted:
            # A name from our own file, checked by the pattern above.
            conn.execute(text("SELECT COUNT(*) FROM " + table))
