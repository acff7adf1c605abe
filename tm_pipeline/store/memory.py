"""The translation memory: looked up in batches, written by key (S26–S30)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from tm_pipeline.domain.jobs import Job
from tm_pipeline.store.batches import batches
from tm_pipeline.store.limits import ENGINE_KEY, LANGUAGE, require_code, require_text
from tm_pipeline.store.tables import translation_memory as t
from tm_pipeline.store.upserts import upsert

HUMAN = "human"


class UnitStatus(StrEnum):
    """What a unit may be used for; the value is what the ``status`` column holds."""

    ACTIVE = "ACTIVE"  # answers jobs and readers
    STALE = "STALE"  # still shown, until the new translation that was asked for is there
    RETIRED = "RETIRED"  # kept as history only


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
    status: UnitStatus = UnitStatus.ACTIVE

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The greater one is used: a valid one before a stale one, a person's before a machine's, then the newer."""
        return self.status is UnitStatus.ACTIVE, self.provider == HUMAN, self.id


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
    usable = and_(t.c.provider.in_([engine_key, HUMAN]), t.c.status == UnitStatus.ACTIVE.value)
    return _best(_units(conn, keys, normalization_version, usable))


def find_shown_units(
    conn: Connection, keys: Collection[UnitKey], engine_key: str, normalization_version: str
) -> dict[UnitKey, Unit]:
    """What readers see of ``keys``: as ``find_units``, else a stale unit of any engine."""
    usable = and_(t.c.provider.in_([engine_key, HUMAN]), t.c.status == UnitStatus.ACTIVE.value)
    shown = or_(usable, t.c.status == UnitStatus.STALE.value)
    return _best(_units(conn, keys, normalization_version, shown))


def units_of_engines(
    conn: Connection, keys: Collection[UnitKey], engine_keys: Collection[str], normalization_version: str
) -> dict[UnitKey, list[Unit]]:
    """Every unit of ``keys`` from these engines that readers may see; ``human`` stands for a person's."""
    shown = [UnitStatus.ACTIVE.value, UnitStatus.STALE.value]
    wanted = and_(t.c.provider.in_(sorted(engine_keys)), t.c.status.in_(shown))
    found: dict[UnitKey, list[Unit]] = {}
    for unit in _units(conn, keys, normalization_version, wanted):
        found.setdefault(unit.key, []).append(unit)
    return found


def _best(units: Iterable[Unit]) -> dict[UnitKey, Unit]:
    found: dict[UnitKey, Unit] = {}
    for unit in units:
        known = found.get(unit.key)
        if known is None or unit.rank > known.rank:
            found[unit.key] = unit
    return found


def _units(
    conn: Connection, keys: Collection[UnitKey], normalization_version: str, condition: ColumnElement[bool]
) -> Iterator[Unit]:
    pairs: dict[tuple[str, str], set[str]] = {}
    for key in keys:
        pairs.setdefault((key.source_language, key.target_language), set()).add(key.source_hash)
    for (source, target), hashes in sorted(pairs.items()):
        for part in batches(sorted(hashes)):
            statement = select(
                t.c.id,
                t.c.source_hash,
                t.c.source_text,
                t.c.translated_text,
                t.c.provider,
                t.c.provider_version,
                t.c.status,
            ).where(
                t.c.source_hash.in_(part),
                t.c.source_language == source,
                t.c.target_language == target,
                t.c.normalization_version == normalization_version,
                condition,
            )
            for row in conn.execute(statement):
                # The column's collation ignores case, so an application's upper-case hash is the same key.
                key = UnitKey(source_hash=row.source_hash.lower(), source_language=source, target_language=target)
                yield Unit(
                    id=row.id,
                    key=key,
                    source_text=row.source_text,
                    translated_text=row.translated_text,
                    provider=row.provider,
                    provider_version=row.provider_version,
                    status=UnitStatus(row.status),
                )


def mark_stale(conn: Connection, unit_ids: Sequence[int]) -> int:
    """Units go on being shown but answer no job, until their text was translated again."""
    count = 0
    for part in batches(sorted(unit_ids)):
        active = (t.c.id.in_(part), t.c.status == UnitStatus.ACTIVE.value)
        count += conn.execute(update(t).where(*active).values(status=UnitStatus.STALE.value)).rowcount
    return count


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
            "status": UnitStatus.ACTIVE.value,
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
