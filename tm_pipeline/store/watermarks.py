"""Where source scanning stands, per domain."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from tm_pipeline.store.tables import sensor_watermark as t
from tm_pipeline.store.upserts import upsert


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Rows changed before ``watermark`` were seen; ``last_full_at`` is the last reconciliation of the whole table."""

    watermark: datetime | None
    last_full_at: datetime | None


def get_watermark(conn: Connection, resource_type: str) -> Watermark | None:
    """The watermark of a domain; None before its first scan."""
    row = conn.execute(select(t.c.watermark, t.c.last_full_at).where(t.c.resource_type == resource_type)).first()
    return None if row is None else Watermark(watermark=row.watermark, last_full_at=row.last_full_at)


def set_watermark(conn: Connection, resource_type: str, mark: Watermark) -> None:
    """Move the watermark of a domain."""
    row = {"resource_type": resource_type, "watermark": mark.watermark, "last_full_at": mark.last_full_at}
    upsert(conn, t, [row], key=("resource_type",), changed=("watermark", "last_full_at"))
