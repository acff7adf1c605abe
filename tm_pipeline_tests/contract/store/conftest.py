"""One migrated MariaDB database for the folder, emptied before each test: building 20 tables takes most of a test."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.tables import metadata, schema_version
from tm_pipeline_tests.databases import create_database, drop_database


@pytest.fixture(scope="session")
def migrated_mariadb_url(mysql_server_url: str) -> Iterator[str]:
    """A migrated database that the tests of this folder share one after another."""
    url = create_database(mysql_server_url)
    db = open_database(url)
    migrate(db, with_sample=True)
    db.dispose()
    yield url
    drop_database(url)


@pytest.fixture
def mariadb(migrated_mariadb_url: str) -> Iterator[Database]:
    """The shared MariaDB database without rows."""
    db = open_database(migrated_mariadb_url, pool_size=16)
    with db.begin() as conn:
        for table in metadata.sorted_tables:
            if table is not schema_version:
                conn.execute(text(f"DELETE FROM {table.name}"))
    yield db
    db.dispose()


@pytest.fixture
def sqlite(sqlite_url: str) -> Iterator[Database]:
    """A migrated SQLite file of its own."""
    db = open_database(sqlite_url, pool_size=16)
    migrate(db, with_sample=True)
    yield db
    db.dispose()


@pytest.fixture(params=["sqlite", "mariadb"])
def database(request: pytest.FixtureRequest) -> Database:
    """A migrated database of each kind, without rows."""
    db: Database = request.getfixturevalue(request.param)
    return db
