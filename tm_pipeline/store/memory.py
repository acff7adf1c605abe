"""The translation memory: looked up in batches, written by key (S26–S30)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from tm_pipeline.domain.jobs import Job
from tm_pipeline.store.batches import batches
from tm_pipeline.store.limits import ENGINE_KEY, LANGUAGE, require_code, require_text
from tm_pipeline.store.tables import translation_memory as t
from tm_pipeline.store.upserts import upsert

HUMAN = "human"
ACTIVE = "ACTIVE"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class UnitKey:
    """What a unit is looked up by, beside engine and normalisation version."""

    source_hash: str
    source_language: str
    target_language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A translation unit; compare ``source_text`` before use, a hash can collide."""

    id: int
    key: UnitKey
    source_text: str
    translated_text: str
    provider: str
    provider_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDraft:
    """A unit to write; ``provider`` is the engine key or ``human``."""

    key: UnitKey
    source_text: str
    translated_text: str
    provider: str
    provider_version: str
    origin_call_id: int | None = None
    qa_warnings: str | None = None


def unit_key_of(job: Job) -> UnitKey:
    """The unit that a job asks for and, once paid, fills."""
    return UnitKey(
        source_hash=job.source_hash,
        source_language=job.source_language,
        target_language=job.group.target_language,
    )


def find_units(
    conn: Connection, keys: Collection[UnitKey], engine_key: str, normalization_version: str
) -> dict[UnitKey, Unit]:
    """The ACTIVE units of ``keys`` from this engine or a person; a person's wins."""
    found: dict[UnitKey, Unit] = {}
    pairs: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        pairs.setdefault((key.source_language, key.target_language), []).append(key.source_hash)
    for (source, target), hashes in sorted(pairs.items()):
        for part in batches(sorted(set(hashes))):
            statement = select(
                t.c.id,
                t.c.source_hash,
                t.c.source_text,
                t.c.translated_text,
                t.c.provider,
                t.c.provider_version,
            ).where(
                t.c.source_hash.in_(part),
                t.c.source_language == source,
                t.c.target_language == target,
                t.c.provider.in_(sorted({engine_key, HUMAN})),
                t.c.normalization_version == normalization_version,
                t.c.status == ACTIVE,
            )
            for row in conn.execute(statement):
                # The column's collation ignores case, so an application's upper-case hash is the same key.
                key = UnitKey(source_hash=row.source_hash.lower(), source_language=source, target_language=target)
                if key in found and row.provider != HUMAN:
                    continue
                found[key] = Unit(
                    id=row.id,
                    key=key,
                    source_text=row.source_text,
                    translated_text=row.translated_text,
                    provider=row.provider,
                    provider_version=row.provider_version,
                )
    return found


def upsert_units(conn: Connection, units: Sequence[UnitDraft], normalization_version: str) -> None:
    """Write units by key; the engine is part of the key, so a machine never overwrites a person.

    Raises ``UsageError`` for a key and ``InvalidSourceError`` for a text that the columns cannot hold.
    """
    for unit in units:
        _check(unit)
    rows = [
        {
            "source_hash": unit.key.source_hash,
            "source_language": unit.key.source_language,
            "target_language": unit.key.target_language,
            "source_text": unit.source_text,
            "translated_text": unit.translated_text,
            "provider": unit.provider,
            "provider_version": unit.provider_version,
            "normalization_version": normalization_version,
            "origin_call_id": unit.origin_call_id,
            "qa_warnings": unit.qa_warnings,
            "status": ACTIVE,
        }
        for unit in units
    ]
    if rows:
        upsert(
            conn,
            t,
            rows,
            key=("source_hash", "source_language", "target_language", "provider", "normalization_version"),
            changed=(
                "source_text",
                "translated_text",
                "provider_version",
                "origin_call_id",
                "qa_warnings",
                "status",
            ),
        )


def _check(unit: UnitDraft) -> None:
    require_code("source_language", unit.key.source_language, LANGUAGE)
    require_code("target_language", unit.key.target_language, LANGUAGE)
    require_code("provider", unit.provider, ENGINE_KEY)
    require_text("source_text", unit.source_text)
    require_text("translated_text", unit.translated_text)
