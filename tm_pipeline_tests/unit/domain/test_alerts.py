"""What alerts say, what they never say, and which failures are one fault."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.alerts import (
    ERROR_CHARACTERS,
    TEXT_CHARACTERS,
    TITLE_CHARACTERS,
    Failure,
    alert_body,
    check_alert,
    database_alert,
    is_quiet,
    provider_alert,
    run_alert,
    run_fault,
    safe_line,
    with_held_back,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
ROOT = "3f2b8c1e-5a7d-4e9f-8b6c-0d1e2f3a4b5c"


def failure(error: str, *, job: str = "translate_due_groups", name: str = "Failure", root: str = ROOT) -> Failure:
    return Failure(job=job, root_run_id=root, error_class=name, error=error)


def test_the_body_of_a_failed_run_has_everything_that_a_person_needs_first() -> None:
    alert = run_alert(
        Failure(
            job="translate_due_groups",
            root_run_id=ROOT,
            error_class="Failure",
            error="content-42 → en needs a person: papago refused the credentials.\nTraceback …",
            failed_steps=3,
        ),
        url="https://dagster.example/runs/1",
    )
    assert alert_body(alert, NOW) == {
        "key": f"run:{ROOT}",
        "kind": "run",
        "title": "translate_due_groups failed: content-42 → en needs a person: papago refused the credentials.",
        "text": "3 steps failed. Open the run, correct the cause, then re-execute it from failure.",
        "job": "translate_due_groups",
        "root_run_id": ROOT,
        "error": "content-42 → en needs a person: papago refused the credentials.",
        "url": "https://dagster.example/runs/1",
        "held_back": 0,
        "time": "2026-12-01T12:00:00+00:00",
    }


def test_an_error_without_a_word_still_gives_an_alert() -> None:
    assert run_alert(failure("")).title == "translate_due_groups failed: no error was recorded"


def test_the_next_alert_says_how_many_were_held_back() -> None:
    alert = with_held_back(run_alert(failure("it broke")), 59)
    assert alert.text.startswith("59 more runs failed for the same reason since the last alert. Open the run")
    assert alert.held_back == 59
    assert with_held_back(alert, 0) is alert


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The database did not do it: lock wait 5 s", "The database did not do it: lock wait 12 s"),
        ("run 3f2b8c1e-5a7d-4e9f-8b6c-0d1e2f3a4b5c was killed", "run 9d2b8c1e-5a7d-4e9f-8b6c-0d1e2f3a4b5c was killed"),
        ("content-1 → en needs a person: x", "category-77 → zh-TW needs a person: x"),
        ("content-1 → en needs a person: x", "content-1 → en and 4 more groups need a person: x"),
        ("no answer from 10.0.0.1:3306", "no answer from 10.0.0.22:3307"),
        ("step 5f3a91c2 failed\nfirst cause", "step 77ab01ce failed\nother cause"),
    ],
)
def test_failures_that_differ_in_numbers_and_ids_only_are_one_fault(one: str, other: str) -> None:
    assert run_fault(failure(one)) == run_fault(failure(other, root="other"))


@pytest.mark.parametrize(
    "other",
    [
        failure("a refused text"),
        failure("it broke", job="drain_backlog"),
        failure("it broke", name="LeaseLostError"),
    ],
)
def test_another_job_class_or_sentence_is_another_fault(other: Failure) -> None:
    assert run_fault(failure("it broke")) != run_fault(other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no answer from mysql+pymysql://tm:hunter22@db/product", "no answer from mysql+pymysql://***@db/product"),
        ("password=hunter22 was wrong", "password=*** was wrong"),
        ("X-NCP-APIGW-API-KEY: abcdef was refused", "X-NCP-APIGW-API-KEY: *** was refused"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("client_secret = abc", "client_secret = ***"),
        ("it sent hunter22hunter to the host", "it sent *** to the host"),
        ("one line\nanother line", "one line"),
        ("\x1b[31mred\x1b[0m\tand so on", "[31mred [0m and so on"),
    ],
)
def test_a_line_has_no_secret_and_is_one_line(text: str, said: str) -> None:
    assert safe_line(text, 200, ["hunter22hunter", "abc"]) == said


def test_a_whole_source_text_is_cut_out_of_its_quotation() -> None:
    source = "우리는 오늘 긴 이야기를 시작합니다. " * 8
    said = safe_line(f"the text '{source}' was refused", 300)
    assert said.startswith("the text '우리는 오늘")
    assert said.endswith("…' was refused")
    assert len(said) < 60


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=3_000), held=st.integers(0, 10**9))
def test_no_error_makes_an_alert_too_big(text: str, held: int) -> None:
    for alert in (
        with_held_back(run_alert(failure(text)), held),
        provider_alert("papago", text, NOW),
        check_alert("translation_job", "a_claim", "never-passed", text),
        database_alert(text),
    ):
        assert len(alert.title) <= TITLE_CHARACTERS
        assert len(alert.text) <= TEXT_CHARACTERS
        assert len(alert.error or "") <= ERROR_CHARACTERS
        assert len(alert.key) <= 191
        assert "\n" not in alert.title


def test_a_provider_is_told_once_for_each_opening_and_a_check_until_it_passes() -> None:
    first, again = (provider_alert("papago", "quota", NOW).key for _ in range(2))
    assert first == again != provider_alert("papago", "quota", NOW + timedelta(days=1)).key
    assert check_alert("a", "c", "after-7", "x").key == "check:a:c:after-7"


@pytest.mark.parametrize(
    ("ago", "quiet"),
    [(None, False), (0, True), (3_599, True), (3_600, False), (-3_599, True), (-3_600, False), (-86_400, False)],
)
def test_a_fault_is_quiet_for_an_hour_whatever_the_clock_does(ago: float | None, *, quiet: bool) -> None:
    last = None if ago is None else NOW - timedelta(seconds=ago)
    assert is_quiet(NOW, last) is quiet
