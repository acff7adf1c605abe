"""Rows that the store tests plant and read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update

from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey, JobDraft
from tm_pipeline.store.claims import take_group
from tm_pipeline.store.engine import Database
from tm_pipeline.store.jobs import upsert_jobs
from tm_pipeline.store.tables import translation_job


def key(resource_id: int = 1, language: str = "en", resource_type: str = "content") -> GroupKey:
    return GroupKey(resource_type=resource_type, resource_id=resource_id, target_language=language)


def draft(group: GroupKey, field: str = "title", *, text: str = "제목", due: int = 0, digit: str = "a") -> JobDraft:
    return JobDraft(
        group=group,
        field_key=field,
        source_hash=digit * 64,
        source_text=text,
        source_language="ko",
        due_in_seconds=due,
    )


def book(db: Database, drafts: Sequence[JobDraft]) -> None:
    db.run(lambda conn: upsert_jobs(conn, drafts))


def take(db: Database, group: GroupKey, token: str = "t" * 32, owner: str = "run-1") -> ClaimedGroup | None:
    return take_group(db, group, token=token, claimed_by=owner, lease_seconds=60)


def job_rows(db: Database) -> list[Any]:
    with db.read() as conn:
        return list(conn.execute(select(translation_job).order_by(translation_job.c.id)).all())


def change_jobs(db: Database, **values: Any) -> None:
    with db.begin() as conn:
        conn.execute(update(translation_job).values(**values))
