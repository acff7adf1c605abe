"""The language-detection cache (S36–S38)."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from tm_pipeline.domain.text import NORMALIZATION_VERSION
from tm_pipeline.ports import Detection
from tm_pipeline.store.batches import batches
from tm_pipeline.store.tables import language_detection_result as t
from tm_pipeline.store.upserts import upsert


def find_detections(conn: Connection, hashes: Sequence[str], normalization_version: str) -> dict[str, Detection]:
    """The best known answer of each hash: the one with the highest confidence, none counting lowest."""
    found: dict[str, Detection] = {}
    for part in batches(hashes):
        statement = select(t.c.source_hash, t.c.detected_language, t.c.provider, t.c.confidence).where(
            t.c.source_hash.in_(part),
            t.c.normalization_version == normalization_version,
        )
        for row in conn.execute(statement):
            known = found.get(row.source_hash)
            if known is None or (row.confidence or -1.0) > (known.confidence or -1.0):
                found[row.source_hash] = Detection(
                    language=row.detected_language, provider=row.provider, confidence=row.confidence
                )
    return found


def upsert_detections(conn: Connection, answers: Sequence[tuple[str, str, Detection]]) -> None:
    """Store (hash, sample of the text, answer); the same detector's newer answer replaces its older one."""
    rows = [
        {
            "source_hash": source_hash,
            "source_text_sample": sample,
            "detected_language": answer.language,
            "provider": answer.provider,
            "confidence": answer.confidence,
            "normalization_version": NORMALIZATION_VERSION,
        }
        for source_hash, sample, answer in answers
    ]
    if rows:
        key = ("source_hash", "provider", "normalization_version")
        upsert(conn, t, rows, key=key, changed=("detected_language", "confidence", "source_text_sample"))
