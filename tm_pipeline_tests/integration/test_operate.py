"""What a person does to many jobs at once, on SQLite and MariaDB, with a billing engine."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import insert, select, update

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.errors import UsageError
from tm_pipeline.domain.jobs import JobSelection, JobStatus
from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.services import operate
from tm_pipeline.services.context import Context
from tm_pipeline.services.materialise import materialise_due, request_rebuild
from tm_pipeline.services.operate import cancel, retry, select_jobs
from tm_pipeline.services.read import Origin, read
from tm_pipeline.services.retranslate import Order, Retranslated, retranslate
from tm_pipeline.services.status import list_jobs, status
from tm_pipeline.services.tick import run_tick
from tm_pipeline.store.invariants import violations
from tm_pipeline.store.tables import translation_event, translation_memory
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.product import count, insert_rows, reserve_everything, shown

RUN = "test-run"
NAMES = {1: "로맨스 판타지", 2: "현대 판타지", 3: "무협 소설"}
LANGUAGES = ("en", "ja")
FAILED = JobSelection(statuses=[JobStatus.FAILED])


def drain(ctx: Context) -> None:
    run_tick(ctx, groups=10, drain=True, run_id=RUN)


def translated_categories(ctx: Context) -> None:
    insert_rows(ctx, "category", [{"id": key, "name": name} for key, name in NAMES.items()])
    reserve_everything(ctx)
    drain(ctx)


def english(ctx: Context, resource_id: int = 1) -> str:
    reading = read(ctx, "category", resource_id, "en", book=False)
    assert reading.origin is Origin.READ_MODEL
    return reading.fields["name"]


def order_all(ctx: Context, **options: object) -> Retranslated:
    return retranslate(ctx, Order(resource_type="category"), actor="op", reason="better engine", **options)  # type: ignore[arg-type]


def by_a_person(ctx: Context, source: str, target: str, text: str) -> None:
    """A unit as a reviewer's approval writes it."""
    with ctx.db.begin() as conn:
        row = conn.execute(
            select(translation_memory).where(
                translation_memory.c.source_text == source, translation_memory.c.target_language == target
            )
        ).mappings()
        unit = {
            name: value for name, value in dict(row.one()).items() if name not in {"id", "created_at", "updated_at"}
        }
        conn.execute(insert(translation_memory).values({**unit, "provider": "human", "translated_text": text}))


def assert_sound(ctx: Context) -> None:
    with ctx.db.read() as conn:
        assert {name: found for name, found in violations(conn).items() if found} == {}


def test_a_bulk_action_reaches_every_job_however_many(
    ctx: Context, fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operate, "PAGE_JOBS", 2)
    insert_rows(ctx, "category", [{"id": key, "name": name} for key, name in NAMES.items()])
    reserve_everything(ctx)
    fake_papago.always("n2mt06")
    drain(ctx)
    total = len(NAMES) * len(LANGUAGES)
    assert retry(ctx, FAILED, actor="op", reason="x", dry_run=True) == operate.Acted(matched=total)
    assert retry(ctx, FAILED, actor="op", reason="x") == operate.Acted(matched=total, done=total)
    everything = select_jobs(ctx, statuses=["PENDING"], domains=["category"])
    assert cancel(ctx, everything, actor="op", reason="wrong batch").done == total
    with ctx.db.read() as conn:
        found = conn.execute(select(translation_event.c.event, translation_event.c.reason)).all()
    assert [row.event for row in found].count("retried") == total
    assert [row.reason for row in found if row.event == "cancelled"] == ["wrong batch"] * total


def test_a_selection_narrows_by_domain_language_resource_and_job(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "category", [{"id": key, "name": name} for key, name in NAMES.items()])
    insert_rows(ctx, "content_theme", [{"id": 1, "name": "복수극"}])
    reserve_everything(ctx)
    job = list_jobs(ctx)[0]

    def matched(**conditions: object) -> int:
        selection = select_jobs(ctx, statuses=["pending"], **conditions)  # type: ignore[arg-type]
        return cancel(ctx, selection, actor="op", reason="x", dry_run=True).matched

    assert matched() == 8
    assert matched(domains=["category"]) == 6
    assert matched(domains=["category"], target_languages=["EN"]) == 3
    assert matched(resource_ids=[1]) == 4
    assert matched(ids=[job["id"]]) == 1
    assert matched(ids=[10_000]) == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"domains": ["novel"]}, "no domain 'novel'"),
        ({"target_languages": ["fr"]}, "translated into 'fr'"),
        ({"statuses": ["BROKEN"]}, "no state 'BROKEN'"),
        ({"statuses": []}, "No state was chosen"),
        ({"ids": [-1]}, "from 1; got -1"),
        ({"resource_ids": [0]}, "from 1; got 0"),
    ],
)
def test_a_wrong_selection_is_refused_with_the_right_words(ctx: Context, wrong: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        select_jobs(ctx, **{"statuses": ["FAILED"], **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("states", [[JobStatus.PENDING], [JobStatus.RUNNING], [JobStatus.COMPLETED]])
def test_work_that_is_not_stopped_cannot_be_retried(ctx: Context, states: list[JobStatus]) -> None:
    with pytest.raises(UsageError, match="can be retried"):
        retry(ctx, JobSelection(statuses=states), actor="op", reason="x")


def test_finished_work_cannot_be_cancelled(ctx: Context) -> None:
    with pytest.raises(UsageError, match="can be cancelled"):
        cancel(ctx, JobSelection(statuses=[JobStatus.COMPLETED]), actor="op", reason="x")


def test_a_retry_settles_the_calls_that_stopped_a_text(ctx: Context, fake_papago: FakePapago) -> None:
    insert_rows(ctx, "category", [{"id": 1, "name": NAMES[1], "language_code": "ja"}])
    reserve_everything(ctx)
    fake_papago.always("truncated")
    drain(ctx)
    stopped = list_jobs(ctx, statuses=[JobStatus.NEEDS_REVIEW])
    assert {job["error_kind"] for job in stopped} == {"unknown_call"}
    asked = fake_papago.requests_seen()
    fake_papago.always("ok")
    review = JobSelection(statuses=[JobStatus.NEEDS_REVIEW])
    assert retry(ctx, review, actor="op", reason="the bill shows no charge").done == len(stopped) > 0
    drain(ctx)
    assert fake_papago.requests_seen() == asked + len(stopped)
    assert list_jobs(ctx, statuses=[JobStatus.NEEDS_REVIEW]) == []
    assert status(ctx)["provider_calls"]["unknown"] == 2 * len(stopped)  # type: ignore[index]
    assert_sound(ctx)


def test_retranslation_pays_each_text_once_more_and_shows_the_old_one_until_then(
    ctx: Context, fake_papago: FakePapago
) -> None:
    translated_categories(ctx)
    paid, before = len(fake_papago.ledger()), english(ctx)
    dry = order_all(ctx, dry_run=True)
    assert (dry.matched, dry.booked, dry.resources) == (6, 0, 3)
    assert dry.characters == sum(len(name) for name in NAMES.values()) * len(LANGUAGES)
    assert len(fake_papago.ledger()) == paid
    assert order_all(ctx).booked == 6
    request_rebuild(ctx, resource_type="category")
    materialise_due(ctx, resource_type="category")
    assert english(ctx) == before
    drain(ctx)
    assert len(fake_papago.ledger()) == 2 * paid
    drain(ctx)
    assert len(fake_papago.ledger()) == 2 * paid
    assert_sound(ctx)


def test_an_order_given_twice_pays_once(ctx: Context, fake_papago: FakePapago) -> None:
    translated_categories(ctx)
    paid = len(fake_papago.ledger())
    order_all(ctx)
    again = order_all(ctx)
    assert (again.matched, again.waiting, again.booked) == (6, 6, 0)
    drain(ctx)
    assert len(fake_papago.ledger()) == 2 * paid


def test_a_quota_that_ends_in_a_retranslation_leaves_readers_what_they_had(
    ctx: Context, fake_papago: FakePapago
) -> None:
    translated_categories(ctx)
    before = [english(ctx, key) for key in NAMES]
    order_all(ctx)
    fake_papago.always("429-quota")
    drain(ctx)
    request_rebuild(ctx, resource_type="category")
    materialise_due(ctx, resource_type="category")
    assert [english(ctx, key) for key in NAMES] == before


def test_a_cancelled_retranslation_can_be_ordered_again(ctx: Context, fake_papago: FakePapago) -> None:
    translated_categories(ctx)
    order_all(ctx)
    waiting = select_jobs(ctx, statuses=["PENDING"], domains=["category"])
    assert cancel(ctx, waiting, actor="op", reason="too dear").done == 6
    assert reserve_everything(ctx) == 0
    assert order_all(ctx).booked == 6


def test_retranslation_never_touches_a_persons_work_unless_told_why(ctx: Context, fake_papago: FakePapago) -> None:
    translated_categories(ctx)
    by_a_person(ctx, NAMES[1], "en", "Romantic Fantasy")
    request_rebuild(ctx, resource_type="category")
    materialise_due(ctx, resource_type="category")
    paid = len(fake_papago.ledger())
    kept = order_all(ctx)
    assert (kept.matched, kept.kept_human, kept.booked) == (6, 1, 5)
    drain(ctx)
    assert english(ctx) == "Romantic Fantasy"
    assert len(fake_papago.ledger()) == paid + 5
    over = Order(resource_type="category", target_languages=["en"], resource_ids=[1], over_human=True)
    with pytest.raises(UsageError, match="needs a reason"):
        retranslate(ctx, over, actor="op", reason=" ")
    assert retranslate(ctx, over, actor="op", reason="the series was renamed").booked == 1
    assert english(ctx) == "Romantic Fantasy"
    drain(ctx)
    assert english(ctx) != "Romantic Fantasy"
    with ctx.db.read() as conn:
        statuses = dict(conn.execute(select(translation_memory.c.provider, translation_memory.c.status)).all())
    assert statuses == {"papago": "ACTIVE", "human": "STALE"}
    assert_sound(ctx)


def test_an_order_by_engine_moves_what_that_engine_translated(ctx: Context, fake_papago: FakePapago) -> None:
    translated_categories(ctx)
    with ctx.db.begin() as conn:
        old = translation_memory.c.target_language == "ja"
        conn.execute(update(translation_memory).where(old).values(provider="old-engine"))
    paid = len(fake_papago.ledger())
    order = Order(resource_type="category", engine_key="old-engine")
    assert retranslate(ctx, order, actor="op", reason="new engine").booked == len(NAMES)
    request_rebuild(ctx, resource_type="category")
    materialise_due(ctx, resource_type="category")
    assert read(ctx, "category", 1, "ja", book=False).origin is Origin.READ_MODEL
    drain(ctx)
    assert len(fake_papago.ledger()) == paid + len(NAMES)
    assert retranslate(ctx, order, actor="op", reason="new engine").matched == 0


def test_resuming_a_provider_restarts_all_it_stopped_and_a_dry_run_only_counts(
    ctx: Context, fake_papago: FakePapago, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_rows(ctx, "category", [{"id": key, "name": name} for key, name in NAMES.items()])
    reserve_everything(ctx)
    fake_papago.always("429-quota")
    run_tick(ctx, groups=1, run_id=RUN)
    assert operate.resume_provider(ctx, "papago", actor="op", dry_run=True) == 1
    providers = status(ctx)["providers"]
    assert isinstance(providers, dict)
    assert providers["papago"]["circuit"] == "OPEN"
    assert operate.resume_provider(ctx, "papago", actor="op") == 1


def test_ids_that_exist_nowhere_are_not_counted_as_rebuilt(
    make_context: Callable[..., Context], fake_papago: FakePapago
) -> None:
    ctx = make_context()
    translated_categories(ctx)
    assert request_rebuild(ctx, resource_type="category", ids=[999]) == 0
    assert request_rebuild(ctx, resource_type="category", ids=[1, 999], locales=["en"]) == 1
    assert request_rebuild(ctx, resource_type="category", dry_run=True) == 9
    assert count(ctx, "read_model_refresh") == 1


def test_rows_of_a_language_that_a_domain_no_longer_has_go_with_its_next_full_rebuild(
    make_context: Callable[..., Context], fake_papago: FakePapago
) -> None:
    translated_categories(make_context())
    domains = dict(builtin_registry().domains)
    domains["category"] = replace(domains["category"], target_languages=("en",))
    ctx = make_context(registry=DomainRegistry(domains=domains))
    assert request_rebuild(ctx, resource_type="category") == 3 * len(NAMES)
    materialise_due(ctx, resource_type="category")
    assert {locale for _, locale in shown(ctx, "category")} == {"en"}
