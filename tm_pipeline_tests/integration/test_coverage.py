"""Coverage, and the claims about read models: each violation is found, each explained gap is not."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, insert, text, update

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.services.context import Context
from tm_pipeline.services.coverage import Audit, audit_keys, audit_rows, coverage_of, sample
from tm_pipeline.services.materialise import materialise_all_due
from tm_pipeline.services.operate import request_translation
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.refreshes import mark_refresh
from tm_pipeline.store.tables import read_model_table, sensor_watermark, source_table, translation_job
from tm_pipeline_tests.product import insert_rows, remove, reserve_everything

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {1: "로맨스 판타지", 2: "현대 판타지", 3: "무협 소설", 4: "스릴러 소설"}


def categories(ctx: Context, names: dict[int, str] | None = None) -> None:
    rows = [{"id": key, "name": name, "updated_at": LONG_AGO} for key, name in (names or NAMES).items()]
    insert_rows(ctx, "category", rows)
    reserve_everything(ctx)


def translate(ctx: Context) -> None:
    run_tick(ctx, groups=20, drain=True, run_id="run")
    materialise_all_due(ctx)


def scanned_since(ctx: Context) -> None:
    """Intake has seen everything that the tests wrote."""
    with ctx.db.begin() as conn:
        conn.execute(update(sensor_watermark).values(watermark=datetime.now(UTC) + timedelta(minutes=1)))


def percent(ctx: Context, resource_type: str = "category") -> dict[str, float]:
    domain = ctx.domain(resource_type)
    return {locale: one.percent for locale, one in coverage_of(ctx, domain, domain.target_languages).items()}


def audit(ctx: Context) -> Audit:
    scanned_since(ctx)
    return audit_rows(ctx, ctx.domain("category"), page_rows=3)


def edit_unseen(ctx: Context, resource_id: int, name: str) -> None:
    """A change that intake missed: the time of the row did not move."""
    table = source_table(ctx.domain("category"))
    with ctx.db.begin() as conn:
        conn.execute(update(table).where(table.c.id == resource_id).values(name=name, updated_at=LONG_AGO))


def drop_model(ctx: Context, resource_id: int, locale: str) -> None:
    table = read_model_table(ctx.domain("category"))
    with ctx.db.begin() as conn:
        conn.execute(delete(table).where(table.c.category_id == resource_id, table.c.locale == locale))


def test_coverage_counts_passed_through_rows_and_is_never_above_a_hundred(ctx: Context) -> None:
    insert_rows(ctx, "category", [{"id": 9, "name": "777"}])
    categories(ctx)
    reserve_everything(ctx)
    materialise_all_due(ctx)
    assert percent(ctx) == {"en": 20.0, "ja": 20.0, "ko": 100.0}
    translate(ctx)
    assert percent(ctx) == {"en": 100.0, "ja": 100.0, "ko": 100.0}
    remove(ctx, "category", 1)
    assert percent(ctx) == {"en": 100.0, "ja": 100.0, "ko": 100.0}


def test_a_withdrawn_row_counts_on_neither_side(ctx: Context) -> None:
    categories(ctx)
    table = source_table(ctx.domain("category"))
    with ctx.db.begin() as conn:
        conn.execute(update(table).where(table.c.id > 1).values(is_active=0, updated_at=LONG_AGO))
    found = coverage_of(ctx, ctx.domain("category"), ["en"])["en"]
    assert (found.published, found.covered, found.percent) == (1, 0, 0.0)


def test_a_resource_with_a_field_that_needs_a_person_is_not_covered(ctx: Context) -> None:
    categories(ctx)
    translate(ctx)
    with ctx.db.begin() as conn:
        stopped = update(translation_job).where(
            translation_job.c.resource_id == 1, translation_job.c.target_language == "en"
        )
        conn.execute(stopped.values(status="FAILED", error_kind="transient", last_error_message="refused"))
    assert percent(ctx) == {"en": 75.0, "ja": 100.0, "ko": 100.0}


def test_nothing_published_is_nothing_missing(ctx: Context) -> None:
    assert percent(ctx) == {"en": 100.0, "ja": 100.0, "ko": 100.0}


def test_a_condition_on_text_decides_what_is_published(make_context: Callable[..., Context]) -> None:
    domain = builtin_registry().domains["category"]
    source = replace(domain.source, published={"language_code": "ko", "is_active": "1"})
    ctx = make_context(registry=DomainRegistry(domains={"category": replace(domain, source=source)}))
    insert_rows(ctx, "category", [{"id": 1, "name": "하나", "language_code": "ko"}, {"id": 2, "name": "둘"}])
    assert coverage_of(ctx, ctx.domain("category"), ["en"])["en"].published == 1


def test_a_sound_read_model_breaks_no_claim(ctx: Context) -> None:
    categories(ctx)
    translate(ctx)
    assert audit(ctx) == Audit(judged=12)
    assert audit_keys(ctx, ctx.domain("category")).wrong == 0


def test_a_read_model_that_shows_an_older_source_is_found(ctx: Context) -> None:
    categories(ctx)
    translate(ctx)
    edit_unseen(ctx, 4, "다른 이름")
    found = audit(ctx)
    assert [(group.resource_id, group.target_language) for group in found.stale] == [(4, "en"), (4, "ja"), (4, "ko")]
    assert found.lost == []


def test_a_text_that_is_neither_shown_nor_booked_is_lost(ctx: Context) -> None:
    categories(ctx)
    translate(ctx)
    drop_model(ctx, 2, "ja")
    found = audit(ctx)
    assert [(group.resource_id, group.target_language) for group in found.lost] == [(2, "ja")]
    assert found.stale == []


@pytest.mark.parametrize("status", ["PENDING", "FAILED", "CANCELLED", "NEEDS_REVIEW"])
def test_a_job_that_is_not_done_explains_a_gap(ctx: Context, status: str) -> None:
    categories(ctx)
    translate(ctx)
    drop_model(ctx, 2, "ja")
    with ctx.db.begin() as conn:
        conn.execute(update(translation_job).where(translation_job.c.resource_id == 2).values(status=status))
    assert audit(ctx).lost == []


def test_a_mark_an_outbox_row_and_an_unscanned_change_explain_a_gap(ctx: Context) -> None:
    categories(ctx)
    translate(ctx)
    for number in (1, 2, 3):
        edit_unseen(ctx, number, f"다른 이름 {number}")
    assert len(audit(ctx).stale) == 9
    key = audit(ctx).stale[0]
    with ctx.db.begin() as conn:
        mark_refresh(conn, [replace(key, target_language=language) for language in ("en", "ja", "ko")], reason="test")
    request_translation(ctx, "category", 2)
    table = source_table(ctx.domain("category"))
    with ctx.db.begin() as conn:
        conn.execute(update(table).where(table.c.id == 3).values(updated_at=datetime.now(UTC) + timedelta(days=1)))
    assert audit(ctx).stale == []


def test_a_domain_that_was_never_scanned_is_not_judged(ctx: Context) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다", "updated_at": LONG_AGO}])
    assert audit_rows(ctx, ctx.domain("category")) == Audit()


def test_a_payload_with_other_keys_than_the_domains_is_found(ctx: Context) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목입니다", "detail": "본문입니다"}])
    reserve_everything(ctx)
    translate(ctx)
    domain = ctx.domain("content")
    assert (audit_keys(ctx, domain).rows, audit_keys(ctx, domain).wrong) == (3, 0)
    with ctx.db.begin() as conn:
        conn.execute(text("""UPDATE content_translation SET payload = '{"title": "x"}' WHERE locale = 'en'"""))
    found = audit_keys(ctx, domain)
    assert (found.rows, found.wrong, found.first) == (3, 1, ["content-1 en"])


def test_a_sample_shows_the_newest_rows_or_the_ones_asked_for(ctx: Context) -> None:
    categories(ctx, {number: f"이름 {number}번" for number in range(1, 9)})
    translate(ctx)
    domain = ctx.domain("category")
    assert [row.resource_id for row in sample(ctx, domain, "en")] == [8, 7, 6, 5, 4]
    asked = sample(ctx, domain, "en", [3])
    assert [(row.resource_id, row.field_key, row.source) for row in asked] == [(3, "name", "이름 3번")]
    assert asked[0].target
    assert sample(ctx, domain, "xx") == []


def test_a_sample_of_a_row_without_its_source_is_left_out(ctx: Context) -> None:
    table = read_model_table(ctx.domain("category"))
    values = {"category_id": 5, "locale": "en", "value": "left behind", "source_fingerprint": "0" * 64}
    with ctx.db.begin() as conn:
        conn.execute(insert(table).values(values))
    assert sample(ctx, ctx.domain("category"), "en") == []
