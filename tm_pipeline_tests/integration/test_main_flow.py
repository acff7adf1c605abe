"""From source rows to read models through the memory, on SQLite and MariaDB, with a billing engine."""

from collections.abc import Callable

from tm_pipeline.domain.jobs import JobSelection, JobStatus
from tm_pipeline.services.context import Context
from tm_pipeline.services.intake import fold_requests, scan
from tm_pipeline.services.materialise import materialise_due, request_rebuild
from tm_pipeline.services.operate import request_translation, retry
from tm_pipeline.services.read import Origin, read
from tm_pipeline.services.status import list_jobs, status
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.invariants import violations
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import count, edit, insert_rows, remove, reserve_everything, shown

RUN = "test-run"
TEXT = "안녕하세요, {name}님!"


def drain(ctx: Context) -> dict[str, object]:
    return run_tick(ctx, groups=10, drain=True, run_id=RUN).as_dict()


def billed(fake: FakePapago) -> list[tuple[str, str, str]]:
    return [(call["source"], call["target"], call["text"]) for call in fake.ledger()]


def assert_sound(ctx: Context) -> None:
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}


def test_korean_rows_become_english_and_japanese_read_models(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": TEXT, "detail": "첫 줄입니다.\n\n둘째 줄입니다.", "tags": ""}])
    assert reserve_everything(ctx) == 4
    drain(ctx)
    models = shown(ctx, "content")
    assert set(models) == {(1, "en"), (1, "ja"), (1, "ko")}
    english = read(ctx, "content", 1, "en")
    assert english.origin is Origin.READ_MODEL
    assert not english.stale
    assert "{name}" in english.fields["title"]
    assert english.fields["tags"] == ""
    assert "안녕" not in english.fields["title"]
    assert read(ctx, "content", 1, "ko").fields["title"] == TEXT
    assert len(billed(fake_papago)) == 4
    assert_sound(ctx)


def test_the_same_text_in_four_domains_is_paid_once_per_language(ctx: Context, fake_papago: FakePapago) -> None:
    for name, column in (
        ("category", "name"),
        ("content_theme", "name"),
        ("series_genre", "name"),
        ("series", "title"),
    ):
        insert_rows(ctx, name, [{"id": i, column: "판타지 소설"} for i in range(1, 4)])
    reserve_everything(ctx)
    drain(ctx)
    assert len(billed(fake_papago)) == len(set(billed(fake_papago))) == 2
    assert reserve_everything(ctx) == 0
    drain(ctx)
    assert len(billed(fake_papago)) == 2
    assert_sound(ctx)


def test_outer_space_and_normal_forms_share_one_call_and_come_back_as_written(
    ctx: Context, fake_papago: FakePapago
) -> None:
    rows = [
        {"id": 1, "name": "환영합니다"},
        {"id": 2, "name": "환영합니다 "},
        {"id": 3, "name": "환영합니다"},
    ]
    insert_rows(ctx, "category", rows)
    reserve_everything(ctx)
    drain(ctx)
    assert len(billed(fake_papago)) == 2
    assert read(ctx, "category", 2, "en").fields["name"].endswith(" ")


def test_texts_without_letters_and_blank_texts_are_never_sent(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "2026", "detail": " \n ", "tags": "🎉"}])
    reserve_everything(ctx)
    drain(ctx)
    assert billed(fake_papago) == []
    assert read(ctx, "content", 1, "en").fields == {"title": "2026", "detail": " \n ", "tags": "🎉"}


def test_an_edit_translates_only_the_edited_field_and_serves_the_old_text_meanwhile(
    ctx: Context, fake_papago: FakePapago
) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목", "detail": "본문입니다", "tags": "태그"}])
    reserve_everything(ctx)
    drain(ctx)
    before = read(ctx, "content", 1, "en")
    edit(ctx, "content", 1, title="새 제목")
    stale = read(ctx, "content", 1, "en", book=False)
    assert stale.stale
    assert stale.fields == before.fields
    scan(ctx, ctx.domain("content"))
    drain(ctx)
    after = read(ctx, "content", 1, "en")
    assert not after.stale
    assert after.fields["title"] != before.fields["title"]
    assert after.fields["detail"] == before.fields["detail"]
    assert len(billed(fake_papago)) == 8


def test_many_edits_before_the_tick_pay_for_the_last_version_only(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "이름 0번"}])
    for version in range(1, 6):
        scan(ctx, ctx.domain("category"))
        edit(ctx, "category", 1, name=f"이름 {version}번 글자")
    scan(ctx, ctx.domain("category"))
    drain(ctx)
    assert {text for _, _, text in billed(fake_papago)} == {"이름 5번 글자"}
    jobs = status(ctx)["jobs"]
    assert isinstance(jobs, dict)
    assert jobs["SUPERSEDED"] == 10
    assert_sound(ctx)


def test_a_cleared_field_is_shown_empty_without_a_call(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목", "detail": "본문입니다", "tags": ""}])
    reserve_everything(ctx)
    drain(ctx)
    paid = len(billed(fake_papago))
    edit(ctx, "content", 1, detail="")
    scan(ctx, ctx.domain("content"))
    drain(ctx)
    assert read(ctx, "content", 1, "en").fields["detail"] == ""
    assert len(billed(fake_papago)) == paid


def test_a_deleted_resource_loses_jobs_and_read_models_but_not_the_memory(
    ctx: Context, fake_papago: FakePapago
) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "하나입니다"}, {"id": 2, "name": "둘입니다"}])
    reserve_everything(ctx)
    drain(ctx)
    insert_rows(ctx, "category", [{"id": 3, "name": "셋입니다"}])
    scan(ctx, ctx.domain("category"))
    remove(ctx, "category", 1)
    remove(ctx, "category", 3)
    edit(ctx, "category", 2, is_active=0)
    assert scan(ctx, ctx.domain("category"), full=True).withdrawn == 2
    drain(ctx)
    assert shown(ctx, "category") == {}
    assert count(ctx, "translation_memory") == 4
    jobs = status(ctx)["jobs"]
    assert isinstance(jobs, dict)
    assert jobs["CANCELLED"] == 2
    assert_sound(ctx)


def test_a_read_miss_books_once_and_shows_the_source(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    first = read(ctx, "category", 1, "ja")
    assert first.origin is Origin.SOURCE
    assert first.stale
    read(ctx, "category", 1, "ja")
    assert count(ctx, "translation_request") == 1
    assert billed(fake_papago) == []
    drain(ctx)
    assert read(ctx, "category", 1, "ja").origin is Origin.READ_MODEL
    assert read(ctx, "category", 1, "en").origin is Origin.SOURCE


def test_an_unknown_request_moves_aside_with_its_reason(ctx: Context) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    request_translation(ctx, "category", 1)
    from tm_pipeline.store.requests import append_request

    ctx.db.run(lambda conn: append_request(conn, resource_type="novel", resource_id=1, reason="save"))
    folded = fold_requests(ctx)
    assert (folded.requests, folded.dead) == (2, 1)
    assert count(ctx, "translation_request_dead") == 1
    assert count(ctx, "translation_request") == 0


def test_one_failing_field_keeps_what_its_neighbours_paid_for(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목", "detail": "본문입니다", "tags": "태그"}])
    scan(ctx, ctx.domain("content"))
    fake_papago.script(["ok", "500"])
    run_tick(ctx, groups=1, run_id=RUN)
    drain(ctx)
    assert len(billed(fake_papago)) == 6
    assert read(ctx, "content", 1, "en").origin is Origin.READ_MODEL
    assert_sound(ctx)


def test_a_permanent_error_ends_the_job_and_the_rest_goes_on(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목", "detail": "본문입니다", "tags": "태그"}])
    scan(ctx, ctx.domain("content"))
    fake_papago.script(["n2mt06"])
    drain(ctx)
    failed = list_jobs(ctx, statuses=[JobStatus.FAILED])
    assert len(failed) == 1
    assert failed[0]["retry_count"] == 0
    assert failed[0]["error_kind"] == "unsupported_pair"
    reading = read(ctx, "content", 1, str(failed[0]["target_language"]), book=False)
    assert reading.fields[str(failed[0]["field_key"])] == failed[0]["source_text"]
    assert reserve_everything(ctx) == 0
    failed_ones = JobSelection(statuses=[JobStatus.FAILED])
    assert retry(ctx, failed_ones, actor="op", reason="pair added").done == 1
    drain(ctx)
    assert list_jobs(ctx, statuses=[JobStatus.FAILED]) == []
    assert_sound(ctx)


def test_attempts_run_out_into_failed_and_nothing_wrong_is_stored(
    make_context: Callable[..., Context], fake_papago: FakePapago
) -> None:
    ctx = make_context(max_retries=3)
    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    reserve_everything(ctx)
    fake_papago.always("500")
    drain(ctx)
    failed = list_jobs(ctx, statuses=[JobStatus.FAILED])
    assert [job["retry_count"] for job in failed] == [3, 3]
    assert count(ctx, "translation_memory") == 0
    assert read(ctx, "category", 1, "en", book=False).fields == {"name": "이름입니다"}


def test_quota_stops_spending_until_a_person_resumes(ctx: Context, fake_papago: FakePapago) -> None:
    from tm_pipeline.services.operate import resume_provider

    insert_rows(
        ctx,
        "content",
        [{"id": i, "title": f"제목 {i}번입니다", "detail": "", "tags": ""} for i in range(1, 6)],
    )
    reserve_everything(ctx)
    fake_papago.always("429-quota")
    run_tick(ctx, groups=1, run_id=RUN)
    summary = status(ctx)
    providers, jobs = summary["providers"], summary["jobs"]
    assert isinstance(providers, dict)
    assert isinstance(jobs, dict)
    assert providers["papago"]["circuit"] == "OPEN"
    assert jobs["NEEDS_CREDENTIAL"] == 1
    asked = fake_papago.requests_seen()
    assert drain(ctx)["groups"] == 0
    assert fake_papago.requests_seen() == asked
    fake_papago.always("ok")
    assert resume_provider(ctx, "papago", actor="op") == 1
    drain(ctx)
    assert len(billed(fake_papago)) == 10
    assert_sound(ctx)


def test_a_throttle_pauses_the_provider_without_burning_attempts(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    reserve_everything(ctx)
    fake_papago.script(["429-throttle"])
    run_tick(ctx, groups=1, run_id=RUN)
    providers = status(ctx)["providers"]
    assert isinstance(providers, dict)
    assert providers["papago"]["blocked_until"] is not None
    assert {job["retry_count"] for job in list_jobs(ctx)} == {0}


def test_a_long_text_is_split_paid_by_piece_and_joined(ctx: Context, fake_papago: FakePapago) -> None:
    detail = "\n\n".join(f"{i}번째 문단입니다. 이 이야기는 아직 끝나지 않았습니다." * 8 for i in range(40))
    assert len(detail) > 10_000
    insert_rows(ctx, "content", [{"id": 1, "title": "", "detail": detail, "tags": ""}])
    reserve_everything(ctx)
    drain(ctx)
    texts = [text for _, target, text in billed(fake_papago) if target == "en"]
    assert "".join(texts) == detail
    assert all(len(text) <= 5_000 for text in texts)
    english = read(ctx, "content", 1, "en").fields["detail"]
    assert english.count("\n\n") == detail.count("\n\n")


def test_a_text_no_column_can_hold_fails_alone_and_says_so(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "content", [{"id": 1, "title": "제목", "detail": "", "tags": ""}])
    long_row = {"id": 2, "title": "다른 제목", "detail": "가" * 21_000 + "나" * 900, "tags": ""}
    insert_rows(ctx, "content", [{**long_row, "detail": "짧은 글"}])
    edit(ctx, "content", 2, title="널\x00문자")
    reserve_everything(ctx)
    drain(ctx)
    failed = list_jobs(ctx, statuses=[JobStatus.FAILED])
    assert {job["error_kind"] for job in failed} == {"invalid_source"}
    assert read(ctx, "content", 1, "en").origin is Origin.READ_MODEL


def test_a_rebuild_costs_no_call_and_repairs_a_damaged_read_model(ctx: Context, fake_papago: FakePapago) -> None:
    from sqlalchemy import delete

    from tm_pipeline.store.tables import read_model_table

    insert_rows(ctx, "category", [{"id": i, "name": f"이름 {i}번입니다"} for i in range(1, 4)])
    reserve_everything(ctx)
    drain(ctx)
    before = shown(ctx, "category")
    with ctx.db.begin() as conn:
        conn.execute(delete(read_model_table(ctx.domain("category"))))
    paid = len(billed(fake_papago))
    assert request_rebuild(ctx, resource_type="category") == 9
    assert materialise_due(ctx, resource_type="category").written == 9
    assert shown(ctx, "category") == before
    assert len(billed(fake_papago)) == paid


def test_a_memory_row_that_vanished_is_rebooked_and_replayed_from_the_ledger(
    ctx: Context, fake_papago: FakePapago
) -> None:
    from sqlalchemy import delete

    from tm_pipeline.store.tables import metadata

    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    reserve_everything(ctx)
    drain(ctx)
    with ctx.db.begin() as conn:
        conn.execute(delete(metadata.tables["translation_memory"]))
    request_translation(ctx, "category", 1)
    drain(ctx)
    assert count(ctx, "translation_memory") == 2
    assert count(ctx, "translation_job") == 2
    assert len(billed(fake_papago)) == 2


def test_a_job_in_a_state_of_somebody_else_stops_nothing(ctx: Context, fake_papago: FakePapago) -> None:
    from sqlalchemy import update

    from tm_pipeline.store.tables import translation_job

    insert_rows(ctx, "category", [{"id": 1, "name": "이름입니다"}])
    reserve_everything(ctx)
    with ctx.db.begin() as conn:
        conn.execute(update(translation_job).values(status="BOGUS"))
    edit(ctx, "category", 1, name="새 이름입니다")
    reserve_everything(ctx)
    drain(ctx)
    assert not read(ctx, "category", 1, "en").stale
    with ctx.db.read() as conn:
        assert violations(conn)["every_status_is_known"] == 2


def test_a_text_that_cannot_be_translated_needs_no_job_in_its_own_language(ctx: Context) -> None:
    insert_rows(
        ctx, "content", [{"id": 1, "title": "제목", "detail": "가" * 30_000, "tags": "", "language_code": "ko"}]
    )
    reserve_everything(ctx)
    drain(ctx)
    assert {job["target_language"] for job in list_jobs(ctx, statuses=[JobStatus.FAILED])} == {"en", "ja"}
    assert read(ctx, "content", 1, "ko").fields["detail"] == "가" * 30_000
