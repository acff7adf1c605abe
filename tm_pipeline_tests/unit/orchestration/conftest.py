"""The application that Dagster resources find in this process: a migrated SQLite file and the pseudo engine."""

from collections.abc import Iterator

import pytest

from tm_pipeline.services import failpoints
from tm_pipeline.services.context import Context
from tm_pipeline.store.engine import open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline.wiring import current_application


@pytest.fixture
def ctx(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    db = open_database(sqlite_url)
    migrate(db, with_sample=True)
    db.dispose()
    monkeypatch.setenv("TM_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("TM_PROVIDER", "pseudo")
    current_application.cache_clear()
    context = current_application().context
    yield context
    context.db.dispose()
    current_application.cache_clear()
    failpoints.arm("")
