"""The code's tables against the migrated ones, and the shared tables against what an application validates."""

from typing import Any

import pytest
from sqlalchemy import BigInteger, Connection, Table, inspect, text

from tm_pipeline.store.engine import Database
from tm_pipeline.store.tables import metadata

NOW, TOUCHED = "current_timestamp()", "on update current_timestamp()"
ID = ("bigint(20)", False, None, "auto_increment")
TIMES = {
    "created_at": ("timestamp", True, NOW, ""),
    "updated_at": ("timestamp", True, NOW, TOUCHED),
}


def required(kind: str) -> tuple[str, bool, None, str]:
    return kind, False, None, ""


def optional(kind: str) -> tuple[str, bool, str, str]:
    return kind, True, "NULL", ""


TEXT_COLUMNS = {
    "source_hash": required("varchar(64)"),
    "source_text": required("text"),
    "source_language": required("varchar(10)"),
    "target_language": required("varchar(10)"),
}
SHARED: dict[str, dict[str, tuple[str, bool, str | None, str]]] = {
    "translation_memory": {
        "id": ID,
        **TEXT_COLUMNS,
        "translated_text": required("text"),
        "provider": required("varchar(50)"),
        "provider_version": required("varchar(50)"),
        "normalization_version": required("varchar(20)"),
        **TIMES,
    },
    "translation_job": {
        "id": ID,
        "resource_type": required("varchar(50)"),
        "resource_id": required("bigint(20)"),
        "field_key": required("varchar(80)"),
        **TEXT_COLUMNS,
        "status": required("varchar(20)"),
        "retry_count": required("int(11)"),
        "last_error_message": optional("text"),
        "next_retry_at": required("timestamp"),
        **TIMES,
    },
    "language_detection_result": {
        "id": ID,
        "source_hash": required("varchar(64)"),
        "source_text_sample": required("varchar(500)"),
        "detected_language": required("varchar(10)"),
        "provider": required("varchar(50)"),
        "confidence": optional("double"),
        "normalization_version": required("varchar(20)"),
        **TIMES,
    },
}
SHARED_KEYS: dict[str, dict[str, tuple[bool, list[str]]]] = {
    "translation_memory": {
        "uk_translation_memory_source_target_provider": (
            True,
            ["source_hash", "source_language", "target_language", "provider", "normalization_version"],
        ),
        "idx_translation_memory_source_hash": (False, ["source_hash"]),
        "idx_translation_memory_target_language": (False, ["target_language"]),
    },
    "translation_job": {
        "uk_translation_job_resource_field_target_hash": (
            True,
            ["resource_type", "resource_id", "field_key", "target_language", "source_hash"],
        ),
        "idx_translation_job_status_retry": (False, ["status", "next_retry_at"]),
        "idx_translation_job_resource": (False, ["resource_type", "resource_id"]),
    },
    "language_detection_result": {
        "uk_language_detection_result_hash_provider_version": (
            True,
            ["source_hash", "provider", "normalization_version"],
        ),
        "idx_language_detection_result_source_hash": (False, ["source_hash"]),
    },
}
UNIQUE_KEYS: dict[str, list[list[str]]] = {
    "read_model_refresh": [["resource_type", "resource_id", "target_language"]],
    "provider_call": [["active_key"], ["request_key", "attempt"]],
    "alert": [["alert_key"]],
} | {name: [columns for unique, columns in keys.values() if unique] for name, keys in SHARED_KEYS.items()}
TABLES = sorted(metadata.tables)


def keys_of(conn: Connection, table: str) -> dict[str, tuple[bool, list[str]]]:
    return {
        str(item["name"]): (bool(item["unique"]), [str(name) for name in item["column_names"]])
        for item in inspect(conn).get_indexes(table)
    }


def length(column: Any) -> int | None:
    found = getattr(column["type"] if isinstance(column, dict) else column.type, "length", None)
    return found if isinstance(found, int) else None


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_columns_that_the_code_knows(database: Database, name: str) -> None:
    table: Table = metadata.tables[name]
    with database.read() as conn:
        found = {item["name"]: item for item in inspect(conn).get_columns(name)}
        primary = inspect(conn).get_pk_constraint(name)["constrained_columns"]
    assert set(found) == {column.name for column in table.columns}
    assert primary == [column.name for column in table.primary_key]
    for column in table.columns:
        assert found[column.name]["nullable"] == column.nullable, column.name
        if length(column) is not None:
            assert length(found[column.name]) == length(column), column.name
        if isinstance(column.type, BigInteger) and not database.is_sqlite:
            assert isinstance(found[column.name]["type"], BigInteger), column.name


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_unique_keys_that_upserts_rely_on(database: Database, name: str) -> None:
    with database.read() as conn:
        unique = sorted(columns for is_unique, columns in keys_of(conn, name).values() if is_unique)
    assert unique == sorted(UNIQUE_KEYS.get(name, []))


@pytest.mark.parametrize("name", sorted(SHARED))
def test_a_shared_table_keeps_every_given_column(mariadb: Database, name: str) -> None:
    query = (
        "SELECT column_name, column_type, is_nullable, column_default, extra FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND table_name = :name ORDER BY ordinal_position"
    )
    with mariadb.read() as conn:
        rows = conn.execute(text(query), {"name": name}).all()
    found = {row[0]: (row[1], row[2] == "YES", row[3], row[4]) for row in rows}
    assert {column: found[column] for column in SHARED[name]} == SHARED[name]
    assert list(found)[: len(SHARED[name])] == list(SHARED[name])  # what was added stands behind


@pytest.mark.parametrize("name", sorted(SHARED))
def test_what_was_added_to_a_shared_table_needs_no_value_from_an_application(database: Database, name: str) -> None:
    with database.read() as conn:
        added = [item for item in inspect(conn).get_columns(name) if item["name"] not in SHARED[name]]
    assert [item["name"] for item in added if not item["nullable"] and item["default"] is None] == []


@pytest.mark.parametrize("name", sorted(SHARED))
def test_a_shared_table_keeps_every_given_key_and_no_other_unique_one(database: Database, name: str) -> None:
    with database.read() as conn:
        found = keys_of(conn, name)
    assert {key: found[key] for key in SHARED_KEYS[name]} == SHARED_KEYS[name]
    assert {key for key, (unique, _) in found.items() if unique and key not in SHARED_KEYS[name]} == set()
