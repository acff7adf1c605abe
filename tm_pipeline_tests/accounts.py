"""Accounts with few rights on the test server; root may do everything, even on a server that only reads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import text

from tm_pipeline.store.engine import Database, open_database

PLACES = ("%", "localhost")  # an anonymous local account would win over one that is allowed from everywhere


@contextmanager
def account(admin: Database, name: str, grants: Sequence[str]) -> Iterator[Database]:
    """The database of ``admin`` as a new account; in ``grants`` {database} and {account} are filled in."""
    owners = [f"{name}@'{place}'" for place in PLACES]
    url = admin.engine.url
    with admin.begin() as conn:
        for owner in owners:
            conn.execute(text(f"DROP USER IF EXISTS {owner}"))
            conn.execute(text(f"CREATE USER {owner} IDENTIFIED BY 'pw'"))
            for grant in grants:
                conn.execute(text(grant.format(database=url.database, account=owner)))
    db = open_database(url.set(username=name, password="pw").render_as_string(hide_password=False))
    try:
        yield db
    finally:
        db.dispose()
        with admin.begin() as conn:
            for owner in owners:
                conn.execute(text(f"DROP USER IF EXISTS {owner}"))
