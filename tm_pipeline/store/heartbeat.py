"""When the automation was last at work, kept in the pipeline's own database: a dead daemon cannot report itself."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from tm_pipeline.store.clock import now_precise
from tm_pipeline.store.tables import automation_heartbeat as t
from tm_pipeline.store.upserts import upsert

NAME = "sensors"
SILENT_SECONDS = 300


def beat(conn: Connection) -> None:
    """Note that sensors are evaluated now."""
    upsert(conn, t, [{"name": NAME}], key=("name",), changed=("name",), also={"seen_at": now_precise()})


def last_seen_age_seconds(conn: Connection) -> int | None:
    """Seconds since the last beat; None where there never was one."""
    row = conn.execute(select(t.c.seen_at, now_precise().label("now")).where(t.c.name == NAME)).first()
    if row is None:
        return None
    now: Any = datetime.fromisoformat(row.now) if isinstance(row.now, str) else row.now
    return max(0, int((now.replace(tzinfo=UTC) - row.seen_at).total_seconds()))


def seen_words(age_seconds: int) -> str:
    """The age for a person: "automation last seen 4 min ago"."""
    if age_seconds < 120:
        return f"automation last seen {age_seconds} s ago"
    if age_seconds < 7_200:
        return f"automation last seen {age_seconds // 60} min ago"
    return f"automation last seen {age_seconds // 3_600} h ago"
