"""Databases and the fake engine that the tests share."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline_tests.databases import MariaDbServer, create_database, drop_database
from tm_pipeline_tests.fakes.papago import FakePapago

CORPUS = os.environ.get("TM_CORPUS_DIR", "")


def pytest_report_header() -> str:
    """Say which optional parts run."""
    corpus = f"corpus tests read {CORPUS}" if CORPUS else "corpus tests are left out: TM_CORPUS_DIR is not set"
    return f"tm_pipeline: {corpus}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the corpus tests out where there is no corpus."""
    left_out = [] if CORPUS else [item for item in items if item.get_closest_marker("corpus")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


SERVER_TEST = "runs on a database server"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Mark what runs on a MariaDB or MySQL server, for the summary."""
    fixtures = getattr(item, "fixturenames", ())
    if "mariadb" in item.name.partition("[")[2] or any("mariadb" in name for name in fixtures):
        item.user_properties.append((SERVER_TEST, True))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many tests ran on the server: a green run without it would prove little about the queue."""
    passed = terminalreporter.stats.get("passed", [])
    on_server = sum((SERVER_TEST, True) in report.user_properties for report in passed)
    terminalreporter.write_line(f"{on_server} of the passed tests ran on a MariaDB or MySQL server")


@pytest.fixture(scope="session")
def mysql_server_url() -> Iterator[str]:
    """A MySQL-like server: the one of TM_TEST_DATABASE_URL, or a private MariaDB."""
    given = os.environ.get("TM_TEST_DATABASE_URL")
    if given:
        yield given
        return
    server = MariaDbServer()
    try:
        server.start()
        yield server.url("mysql")
    finally:
        server.stop()


@pytest.fixture
def mariadb_url(mysql_server_url: str) -> Iterator[str]:
    """An empty database on the MySQL-like server."""
    url = create_database(mysql_server_url)
    yield url
    drop_database(url)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """An empty SQLite file."""
    return f"sqlite:///{tmp_path / 'tm.db'}"


@pytest.fixture(params=["sqlite", "mariadb"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def empty_database(database_url: str) -> Iterator[Database]:
    """A database without any table."""
    db = open_database(database_url)
    yield db
    db.dispose()


@pytest.fixture
def database(empty_database: Database) -> Database:
    """A migrated database with the sample product's tables."""
    migrate(empty_database, with_sample=True)
    return empty_database


@pytest.fixture
def fake_papago() -> Iterator[FakePapago]:
    """A fresh fake engine on a real socket."""
    with FakePapago() as fake:
        yield fake
