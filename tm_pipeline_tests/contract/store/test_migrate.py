import pytest
from sqlalchemy import delete, inspect, select, text

from tm_pipeline.domain.errors import SchemaError
from tm_pipeline.store.engine import Database
from tm_pipeline.store.migrate import migrate, migrations, pending, require_current
from tm_pipeline.store.sql_files import statements
from tm_pipeline.store.tables import metadata, schema_version


@pytest.fixture
def migrated(empty_database: Database) -> Database:
    migrate(empty_database)
    return empty_database


def names(db: Database) -> list[str]:
    return [f"{item.version:04d}_{item.name}" for item in migrations(db)]


def test_migrating_twice_changes_nothing_the_second_time(empty_database: Database) -> None:
    assert migrate(empty_database) == names(empty_database)
    with empty_database.read() as conn:
        before = conn.execute(select(schema_version).order_by(schema_version.c.version)).all()
    assert migrate(empty_database) == []
    with empty_database.read() as conn:
        assert conn.execute(select(schema_version).order_by(schema_version.c.version)).all() == before
    assert pending(empty_database) == []


def test_an_application_that_has_the_shared_tables_already_keeps_its_rows(empty_database: Database) -> None:
    with empty_database.begin() as conn:
        for statement in statements(migrations(empty_database)[0].content):
            conn.execute(text(statement))
        conn.execute(
            text(
                "INSERT INTO translation_job (resource_type, resource_id, field_key, source_hash, source_text,"
                " source_language, target_language, status, retry_count, next_retry_at) VALUES"
                " ('content', 1, 'title', 'h', 't', 'ko', 'en', 'PENDING', 0, '2026-01-01 00:00:00')"
            )
        )
    assert migrate(empty_database) == names(empty_database)
    with empty_database.read() as conn:
        assert conn.execute(text("SELECT COUNT(*) FROM translation_job")).scalar_one() == 1
        assert set(metadata.tables) <= set(inspect(conn).get_table_names())


def test_a_migration_that_stopped_in_its_middle_runs_again(empty_database: Database) -> None:
    first, second = migrations(empty_database)[:2]
    half = statements(second.content)[: len(statements(second.content)) // 2 + 1]
    with empty_database.begin() as conn:
        for statement in [*statements(first.content), *half]:
            conn.execute(text(statement))
    assert migrate(empty_database) == names(empty_database)
    with empty_database.read() as conn:
        keys = {item["name"] for item in inspect(conn).get_indexes("translation_job")}
        assert {"idx_translation_job_group", "idx_translation_job_domain_due"} <= keys
        assert "qa_warnings" in {item["name"] for item in inspect(conn).get_columns("translation_memory")}


def test_a_migration_whose_record_was_lost_runs_again_without_harm(migrated: Database) -> None:
    with migrated.begin() as conn:
        conn.execute(delete(schema_version))
    assert migrate(migrated) == names(migrated)


def test_a_file_that_was_changed_after_it_was_applied_is_refused(migrated: Database) -> None:
    with migrated.begin() as conn:
        conn.execute(schema_version.update().where(schema_version.c.version == 2).values(checksum="0" * 64))
    for act in (migrate, require_current, pending):
        with pytest.raises(SchemaError, match=r"0002_pipeline_columns was changed after it was applied"):
            act(migrated)


def test_a_database_that_is_ahead_of_the_code_is_refused(migrated: Database) -> None:
    with migrated.begin() as conn:
        conn.execute(schema_version.insert().values(version=9_999, name="future", checksum="0" * 64))
    for act in (migrate, require_current, pending):
        with pytest.raises(SchemaError, match=r"at schema 9999, this code knows up to \d+\. Upgrade tm-pipeline"):
            act(migrated)


def test_an_empty_database_is_told_to_migrate_in_one_line(empty_database: Database) -> None:
    with pytest.raises(SchemaError) as caught:
        require_current(empty_database)
    assert str(caught.value) == f"The database lacks {', '.join(names(empty_database))}. Run tm-pipeline migrate."


def test_a_migrated_database_is_current(migrated: Database) -> None:
    require_current(migrated)
