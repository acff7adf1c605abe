"""Every table as SQLAlchemy Core sees it; a test proves that the migrations build exactly these."""

from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    column,
    table,
)
from sqlalchemy.dialects import mysql
from sqlalchemy.sql.expression import TableClause

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.types import UtcTimestamp

metadata = MetaData()

Id = BigInteger().with_variant(Integer, "sqlite")
LongText = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
CODE = 50  # resource types, engine keys
LANGUAGE = 10


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def _group() -> list[Column[Any]]:
    return [
        Column("resource_type", String(CODE), nullable=False),
        Column("resource_id", BigInteger, nullable=False),
    ]


def _times() -> list[Column[Any]]:
    return [Column("created_at", UtcTimestamp()), _updated_at()]


def _updated_at() -> Column[Any]:
    # MySQL keeps it by itself, SQLite does not.
    return Column("updated_at", UtcTimestamp(), onupdate=now_seconds())


translation_memory = Table(
    "translation_memory",
    metadata,
    _id(),
    Column("source_hash", String(64), nullable=False),
    Column("source_text", Text, nullable=False),
    Column("source_language", String(LANGUAGE), nullable=False),
    Column("target_language", String(LANGUAGE), nullable=False),
    Column("translated_text", Text, nullable=False),
    Column("provider", String(50), nullable=False),
    Column("provider_version", String(50), nullable=False),
    Column("normalization_version", String(20), nullable=False),
    *_times(),
    Column("status", String(20), nullable=False),
    Column("origin_call_id", BigInteger),
    Column("qa_warnings", Text),
)

translation_job = Table(
    "translation_job",
    metadata,
    _id(),
    *_group(),
    Column("field_key", String(80), nullable=False),
    Column("source_hash", String(64), nullable=False),
    Column("source_text", Text, nullable=False),
    Column("source_language", String(LANGUAGE), nullable=False),
    Column("target_language", String(LANGUAGE), nullable=False),
    Column("status", String(20), nullable=False),
    Column("retry_count", Integer, nullable=False),
    Column("last_error_message", Text),
    Column("next_retry_at", UtcTimestamp(), nullable=False),
    *_times(),
    Column("claim_token", String(32)),
    Column("claimed_by", String(128)),
    Column("lease_expires_at", UtcTimestamp(6)),
    Column("error_kind", String(40)),
    Column("engine_key", String(50)),
)

language_detection_result = Table(
    "language_detection_result",
    metadata,
    _id(),
    Column("source_hash", String(64), nullable=False),
    Column("source_text_sample", String(500), nullable=False),
    Column("detected_language", String(LANGUAGE), nullable=False),
    Column("provider", String(50), nullable=False),
    Column("confidence", Double),
    Column("normalization_version", String(20), nullable=False),
    *_times(),
)


def _request_columns() -> list[Column[Any]]:
    return [
        *_group(),
        Column("field_key", String(80)),
        Column("source_text", LongText),
        Column("source_language", String(35)),
        Column("source_version", BigInteger),
        Column("target_language", String(35)),
        Column("reason", String(50), nullable=False),
        Column("requested_at", UtcTimestamp()),
    ]


translation_request = Table("translation_request", metadata, _id(), *_request_columns())

translation_request_dead = Table(
    "translation_request_dead",
    metadata,
    _id(),
    *_request_columns(),
    Column("rejected_reason", String(500), nullable=False),
    Column("rejected_at", UtcTimestamp()),
)

read_model_refresh = Table(
    "read_model_refresh",
    metadata,
    _id(),
    *_group(),
    Column("target_language", String(LANGUAGE), nullable=False),
    Column("reason", String(50), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", UtcTimestamp(), nullable=False),
    Column("last_error_message", Text),
    *_times(),
)

provider_call = Table(
    "provider_call",
    metadata,
    _id(),
    Column("request_key", String(64), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("active_key", String(64)),
    Column("operation", String(20), nullable=False),
    Column("provider", String(50), nullable=False),
    Column("engine_key", String(50), nullable=False),
    Column("source_language", String(LANGUAGE)),
    Column("target_language", String(LANGUAGE)),
    Column("source_hash", String(64)),
    Column("characters", Integer, nullable=False),
    Column("billed_units", Integer, nullable=False),
    Column("billed_estimated", Boolean, nullable=False),
    Column("state", String(20), nullable=False),
    Column("http_status", Integer),
    Column("error_kind", String(40)),
    Column("error_message", String(500)),
    Column("latency_ms", Integer),
    Column("reply", LongText),
    Column("run_id", String(128), nullable=False),
    Column("job_ids", String(500), nullable=False),
    Column("deadline_at", UtcTimestamp(6), nullable=False),
    Column("started_at", UtcTimestamp(6), nullable=False),
    Column("finished_at", UtcTimestamp(6)),
    Column("settled_at", UtcTimestamp(6)),
)

provider_state = Table(
    "provider_state",
    metadata,
    Column("provider", String(50), primary_key=True),
    Column("circuit", String(20), nullable=False),
    Column("reason", String(500)),
    Column("opened_at", UtcTimestamp(6)),
    Column("blocked_until", UtcTimestamp(6)),
    Column("paused_by", String(128)),
    _updated_at(),
)

translation_event = Table(
    "translation_event",
    metadata,
    _id(),
    *_group(),
    Column("field_key", String(80)),
    Column("target_language", String(LANGUAGE)),
    Column("job_id", BigInteger),
    Column("event", String(40), nullable=False),
    Column("from_status", String(20)),
    Column("to_status", String(20)),
    Column("actor", String(128), nullable=False),
    Column("run_id", String(128)),
    Column("reason", String(500)),
    Column("occurred_at", UtcTimestamp(6), nullable=False),
)

sensor_watermark = Table(
    "sensor_watermark",
    metadata,
    Column("resource_type", String(CODE), primary_key=True),
    Column("watermark", UtcTimestamp(6)),
    Column("last_full_at", UtcTimestamp(6)),
    _updated_at(),
)

op_output = Table(
    "op_output",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("step_key", String(191), primary_key=True),
    Column("output_name", String(64), primary_key=True),
    Column("mapping_key", String(191), primary_key=True),
    Column("value", LongText, nullable=False),
    Column("created_at", UtcTimestamp()),
)

alert = Table(
    "alert",
    metadata,
    _id(),
    Column("alert_key", String(191), nullable=False),
    Column("fault", String(64), nullable=False),
    Column("state", String(20), nullable=False),
    Column("body", LongText, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", UtcTimestamp(6), nullable=False),
    Column("last_error", String(500)),
    Column("booked_at", UtcTimestamp(6), nullable=False),
    Column("told_at", UtcTimestamp(6)),
)

alert_fault = Table(
    "alert_fault",
    metadata,
    Column("fault", String(64), primary_key=True),
    Column("alerted_at", UtcTimestamp(6)),
    Column("held_back", Integer, nullable=False),
    _updated_at(),
)

automation_heartbeat = Table(
    "automation_heartbeat",
    metadata,
    Column("name", String(50), primary_key=True),
    Column("seen_at", UtcTimestamp(6), nullable=False),
)

schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("name", String(100), nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("applied_at", UtcTimestamp()),
)


@cache
def _read_model(table_name: str, key_column: str, shape: ReadModelShape, hot: tuple[str, ...]) -> TableClause:
    content = "value" if shape is ReadModelShape.SCALAR else "payload"
    names = ["id", key_column, "locale", content, "source_fingerprint", "source_version", *hot]
    return table(table_name, *(column(name) for name in names))


def read_model_table(domain: Domain) -> TableClause:
    """The read-model table of a domain; its payload is JSON text that this package writes and reads itself."""
    spec = domain.read_model
    return _read_model(spec.table, spec.key_column, spec.shape, tuple(sorted(spec.hot_columns)))


@cache
def _source(table_name: str, names: tuple[str, ...], updated_at: str | None) -> TableClause:
    typed = (column(name, UtcTimestamp(6)) if name == updated_at else column(name) for name in names)
    return table(table_name, *typed)


def source_columns(domain: Domain) -> tuple[str, ...]:
    """The columns that a domain reads from its source table, each once, the id first."""
    spec = domain.source
    optional = (spec.language_column, spec.version_column, spec.updated_at_column)
    names = [
        spec.id_column,
        *(field.column for field in domain.fields),
        *(name for name in optional if name is not None),
        *spec.published,
        *spec.context_columns,
    ]
    return tuple(dict.fromkeys(names))


def source_table(domain: Domain) -> TableClause:
    """The product's table that a domain reads."""
    return _source(domain.source.table, source_columns(domain), domain.source.updated_at_column)
