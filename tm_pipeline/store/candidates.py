"""Which groups are due: bounded index scans, one for each domain, that lock nothing (design §8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, literal, or_, select, union_all

from tm_pipeline.domain.jobs import GroupKey, JobStatus
from tm_pipeline.store.clock import now_seconds
from tm_pipeline.store.tables import translation_job as t

WINDOW_ROWS_PER_GROUP = 24
MIN_WINDOW_ROWS = 60
MAX_PAGES = 8
# Left alone, the server may walk the other domains' backlog by (status, next_retry_at).
DUE_INDEX = "FORCE INDEX (idx_translation_job_domain_due)"
PENDING, RUNNING = JobStatus.PENDING.value, JobStatus.RUNNING.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimableDomain:
    """A domain whose provider may be called now, with its head start in the queue."""

    resource_type: str
    priority_seconds: int = 0


def candidate_groups(
    conn: Connection,
    domains: Sequence[ClaimableDomain],
    limit: int,
    *,
    exclude: frozenset[GroupKey] = frozenset(),
    target_languages: Sequence[str] | None = None,
) -> list[GroupKey]:
    """Up to ``limit`` due groups without a RUNNING row, by due time minus the domain's head start; locks nothing.

    One statement: a bounded index scan for each domain. Further pages only where a group with very many
    rows fills a window.
    """
    window = max(MIN_WINDOW_ROWS, WINDOW_ROWS_PER_GROUP * limit)
    after: dict[str, tuple[datetime, int]] = {}
    open_domains = list(domains)
    found: dict[GroupKey, datetime] = {}
    for _ in range(MAX_PAGES):
        rows = _window(conn, open_domains, after, window, target_languages)
        sizes: dict[str, int] = {}
        for row in rows:
            key = GroupKey(
                resource_type=row.resource_type,
                resource_id=row.resource_id,
                target_language=row.target_language,
            )
            head_start = next(d.priority_seconds for d in domains if d.resource_type == row.resource_type)
            if key not in exclude:
                found.setdefault(key, row.next_retry_at - timedelta(seconds=head_start))
            sizes[row.resource_type] = sizes.get(row.resource_type, 0) + 1
            after[row.resource_type] = (row.next_retry_at, row.id)
        open_domains = [d for d in open_domains if sizes.get(d.resource_type, 0) == window]
        if len(found) >= limit or not open_domains:
            break
    return sorted(found, key=lambda key: (found[key], key))[:limit]


def _window(
    conn: Connection,
    domains: Sequence[ClaimableDomain],
    after: dict[str, tuple[datetime, int]],
    window: int,
    target_languages: Sequence[str] | None,
) -> Sequence[Any]:
    if not domains:
        return []
    scans = [_domain_window(domain, after.get(domain.resource_type), window, target_languages) for domain in domains]
    if len(scans) == 1:
        return conn.execute(scans[0]).all()
    parts = [select(scan.subquery(f"d{number}")) for number, scan in enumerate(scans)]
    return conn.execute(union_all(*parts)).all()


def _domain_window(
    domain: ClaimableDomain, after: tuple[datetime, int] | None, window: int, languages: Sequence[str] | None
) -> Any:
    running = t.alias("r")
    statement = (
        select(t.c.resource_type, t.c.resource_id, t.c.target_language, t.c.next_retry_at, t.c.id)
        .where(
            t.c.resource_type == domain.resource_type,
            t.c.status == PENDING,
            t.c.next_retry_at <= now_seconds(),
            ~select(literal(1))
            .where(
                running.c.resource_type == t.c.resource_type,
                running.c.resource_id == t.c.resource_id,
                running.c.target_language == t.c.target_language,
                running.c.status == RUNNING,
            )
            .exists(),
        )
        .with_hint(t, DUE_INDEX, "mysql")
        .order_by(t.c.next_retry_at, t.c.id)
        .limit(window)
    )
    if after is not None:
        due, last_id = after
        statement = statement.where(or_(t.c.next_retry_at > due, and_(t.c.next_retry_at == due, t.c.id > last_id)))
    if languages is not None:
        statement = statement.where(t.c.target_language.in_(list(languages)))
    return statement
