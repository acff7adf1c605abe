"""The doctor names what would go wrong later, on a database of its own because every test damages it."""

import pytest
from sqlalchemy import text

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.store.doctor import Check, examine
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate


def found(db: Database) -> dict[str, Check]:
    return {check.name: check for check in examine(db, BUILTIN)}


def damage(db: Database, statement: str) -> None:
    with db.begin() as conn:
        conn.execute(text(statement))


@pytest.fixture
def patient(empty_database: Database) -> Database:
    migrate(empty_database, with_sample=True)
    return empty_database


def test_a_fresh_database_has_no_complaint(patient: Database) -> None:
    checks = found(patient)
    assert [check for check in checks.values() if not check.ok] == []
    assert {"schema", "columns and keys", "writing", "domain content"} <= set(checks)


def test_an_empty_database_is_told_to_migrate(empty_database: Database) -> None:
    check = found(empty_database)["schema"]
    assert (check.ok, check.remedy) == (False, "run tm-pipeline migrate")


def test_a_lost_unique_key_is_named(patient: Database) -> None:
    where = "" if patient.is_sqlite else " ON provider_call"
    damage(patient, "DROP INDEX uk_provider_call_active" + where)
    check = found(patient)["columns and keys"]
    assert not check.ok
    assert check.detail == "provider_call lacks its unique key (active_key)"


def test_a_lost_table_is_named(patient: Database) -> None:
    damage(patient, "DROP TABLE sensor_watermark")
    assert found(patient)["columns and keys"].detail == "table sensor_watermark is missing"


def test_a_missing_read_model_is_named_with_its_domain(patient: Database) -> None:
    damage(patient, "DROP TABLE category_translation")
    check = found(patient)["domain category"]
    assert not check.ok
    assert "category_translation is missing" in check.detail


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "ALTER TABLE translation_job MODIFY last_error_message VARCHAR(255) NULL",
            "translation_job.last_error_message is varchar(255), the code expects text",
        ),
        (
            "ALTER TABLE provider_call MODIFY reply TEXT NULL",
            "provider_call.reply is text, the code expects mediumtext",
        ),
        (
            "ALTER TABLE translation_job MODIFY lease_expires_at TIMESTAMP NULL DEFAULT NULL",
            "translation_job.lease_expires_at is timestamp, the code expects timestamp(6)",
        ),
        ("ALTER TABLE translation_memory DROP COLUMN qa_warnings", "translation_memory.qa_warnings is missing"),
    ],
)
def test_a_changed_column_is_named_with_what_was_expected(mariadb_url: str, statement: str, said: str) -> None:
    db = open_database(mariadb_url)
    migrate(db)
    damage(db, statement)
    assert found(db)["columns and keys"].detail == said
    db.dispose()


def test_a_due_time_that_changes_by_itself_is_named(mariadb_url: str) -> None:
    db = open_database(mariadb_url)
    migrate(db)
    damage(
        db,
        "ALTER TABLE translation_job MODIFY next_retry_at TIMESTAMP NOT NULL"
        " DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
    )
    check = found(db)["due times"]
    assert not check.ok
    assert "translation_job.next_retry_at changes by itself" in check.detail
    db.dispose()


def test_a_database_of_another_character_set_is_named(mariadb_url: str) -> None:
    db = open_database(mariadb_url)
    damage(db, "ALTER DATABASE " + str(db.engine.url.database) + " CHARACTER SET latin1")
    check = found(db)["character set"]
    assert (check.ok, check.detail) == (False, "latin1")
    db.dispose()


def test_columns_and_keys_that_an_application_added_are_no_fault(patient: Database) -> None:
    damage(patient, "ALTER TABLE translation_job ADD COLUMN team VARCHAR(20) NULL")
    damage(patient, "CREATE INDEX idx_team ON translation_job (team)")
    assert found(patient)["columns and keys"].ok
