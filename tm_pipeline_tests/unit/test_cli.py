"""The command line as its users meet it: exit codes, one clear line, JSON that programs can rely on."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tm_pipeline.cli import main, verbs
from tm_pipeline.services.demo import add_sample_rows
from tm_pipeline.services.demo_data import sample_rows
from tm_pipeline.wiring import application

PRINTS_DATA = sorted(set(verbs.commands) - {"demo"})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a database, chosen by the settings, with nothing else configured."""
    for name in ("TM_DATABASE_URL", "TM_DOMAINS_FILE", "TM_PROVIDER", "TM_FAILPOINTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TM_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def product(home: Path) -> Path:
    """The sample product with its rows in a migrated database."""
    assert main(["migrate", "--with-sample", "--json"]) == 0
    ctx = application({"TM_HOME": str(home)}).context
    add_sample_rows(ctx)
    ctx.db.dispose()
    return home


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Run a verb, check its exit code and return what it printed."""
    capsys.readouterr()
    assert main(arguments) == code, capsys.readouterr()
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    return json.loads(run(capsys, *arguments, "--json", code=code))


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> str:
    """Run a verb that must be refused and return its message."""
    capsys.readouterr()
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.strip()


@pytest.mark.parametrize("verb", sorted(verbs.commands))
def test_every_verb_says_what_it_does(verb: str) -> None:
    assert verbs.commands[verb].help
    for parameter in verbs.commands[verb].params:
        assert parameter.name


@pytest.mark.parametrize("verb", PRINTS_DATA)
def test_every_verb_that_prints_data_has_json(verb: str) -> None:
    assert "--json" in [option for parameter in verbs.commands[verb].params for option in parameter.opts]


def test_an_unknown_verb_and_a_missing_argument_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such command" in refusal(capsys, "translate-all", code=2)
    assert "ID" in refusal(capsys, "read", "content", code=2)


def test_a_wrong_setting_is_named_with_its_remedy(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TM_MAX_RETRIES", "many")
    message = refusal(capsys, "status", code=3)
    assert "TM_MAX_RETRIES" in message
    assert "\n" not in message


def test_a_database_that_does_not_answer_is_one_line_without_the_password(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TM_DATABASE_URL", "mysql://tm:hunter2@127.0.0.1:1/product")
    message = refusal(capsys, "status", code=3)
    assert "hunter2" not in message
    assert "\n" not in message


def test_a_database_without_the_tables_says_to_migrate(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "tm-pipeline migrate" in refusal(capsys, "status", code=3)


def test_migrating_twice_changes_nothing_and_check_tells_before_and_after(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_json(capsys, "migrate", "--check", code=1)["missing"]
    assert run_json(capsys, "migrate")["applied"]
    assert run_json(capsys, "migrate")["applied"] == []
    assert run_json(capsys, "migrate", "--check")["missing"] == []


def test_the_doctor_names_the_source_tables_that_are_missing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "migrate")
    findings = run_json(capsys, "doctor", code=1)
    wrong = {finding["name"]: finding for finding in findings if not finding["ok"]}
    assert "domain content" in wrong
    assert "create it" in wrong["domain content"]["detail"]


def test_the_doctor_finds_a_migrated_sample_product_healthy(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(finding["ok"] for finding in run_json(capsys, "doctor"))


def test_scan_and_tick_lead_from_rows_to_read_models(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = run_json(capsys, "read", "content", "4", "en")
    assert before["origin"] == "source"
    assert sum(found["reserved"]["booked"] for found in run_json(capsys, "scan")) > 0
    tick = run_json(capsys, "tick", "--drain", "--groups", "50")
    assert tick["groups"] > 0
    assert set(tick["jobs"]) == {"COMPLETED"}
    after = run_json(capsys, "read", "content", "4", "en")
    assert after["origin"] == "read_model"
    assert not after["stale"]
    assert set(after["fields"]) == {"title", "detail", "tags"}
    assert "{name}" in after["fields"]["detail"]
    assert run_json(capsys, "check") is not None


def test_the_same_text_in_several_domains_is_paid_for_once_and_a_second_full_scan_books_nothing(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "scan")
    run(capsys, "tick", "--drain", "--groups", "50")
    numbers = run_json(capsys, "status")
    assert numbers["memory_units"] < numbers["jobs"]["COMPLETED"]
    assert sum(found["reserved"]["booked"] for found in run_json(capsys, "scan", "--full")) == 0
    run(capsys, "tick", "--drain")
    assert run_json(capsys, "status")["provider_calls"] == numbers["provider_calls"]


def test_status_has_the_numbers_that_monitoring_relies_on(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = run_json(capsys, "status")
    assert set(numbers) >= {
        "jobs", "groups", "oldest_due_age_seconds", "provider_calls", "characters_billed", "memory_units",
        "memory_hit_rate", "read_models", "providers", "materialize_failures", "automation",
    }  # fmt: skip
    assert set(numbers["groups"]) == {"due", "running", "waiting"}
    assert set(numbers["provider_calls"]) == {"total", "done", "refused", "unknown", "in_flight"}


def test_jobs_are_filtered_and_carry_what_an_operator_needs(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "scan")
    jobs = run_json(capsys, "jobs", "--domain", "category", "--locale", "ja", "--limit", "3")
    assert 0 < len(jobs) <= 3
    assert {job["target_language"] for job in jobs} == {"ja"}
    assert set(jobs[0]) >= {
        "id", "resource_type", "resource_id", "field_key", "source_language", "target_language",
        "source_text", "status", "provider", "retry_count", "error_kind", "last_error_message",
        "next_retry_at", "created_at", "updated_at",
    }  # fmt: skip
    assert run_json(capsys, "jobs", "--status", "failed") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "--domain", "novel"),
        ("request", "novel", "1"),
        ("materialize", "novel"),
        ("read", "novel", "1", "en"),
        ("jobs", "--domain", "novel"),
        ("retry", "--domain", "novel"),
    ],
)
def test_an_unknown_domain_is_refused_with_the_known_ones(
    product: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    message = refusal(capsys, *arguments, code=2)
    assert "novel" in message
    assert "content" in message


def test_a_domain_whose_tables_are_missing_is_reported_and_the_others_are_scanned(
    product: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "{table: novel, id_column: id}"
    model = "{table: novel_translation, key_column: novel_id, shape: value}"
    fields = "[{key: text, column: body}]"
    file = product / "domains.yaml"
    spec = f"{{source: {source}, fields: {fields}, read_model: {model}, target_languages: [en]}}"
    file.write_text(f"domains:\n  novel: {spec}\n", encoding="utf-8")
    monkeypatch.setenv("TM_DOMAINS_FILE", str(file))
    capsys.readouterr()
    assert main(["scan", "--json"]) == 3
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) == 8
    assert "novel" in captured.err


@pytest.mark.parametrize("tag", ["fr", "not a language", "xx_"])
def test_a_language_that_nothing_is_translated_into_is_refused(
    product: Path, capsys: pytest.CaptureFixture[str], tag: str
) -> None:
    assert tag in refusal(capsys, "materialize", "content", "--locale", tag, code=2)


def test_a_resource_that_does_not_exist_is_refused(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "4711" in refusal(capsys, "read", "content", "4711", "en", code=2)


def test_cancelled_jobs_stay_away_from_ticks_until_they_are_retried(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "scan", "--domain", "category")
    counted = run_json(capsys, "cancel", "--domain", "category", "--dry-run")["jobs"]
    assert run_json(capsys, "cancel", "--domain", "category")["jobs"] == counted > 0
    assert run_json(capsys, "tick", "--drain")["groups"] == 0
    assert run_json(capsys, "retry", "--status", "CANCELLED", "--dry-run")["jobs"] == counted
    assert run_json(capsys, "tick", "--drain")["groups"] == 0
    assert run_json(capsys, "retry", "--status", "CANCELLED")["jobs"] == counted
    assert run_json(capsys, "tick", "--drain")["jobs"] == {"COMPLETED": counted}


def test_a_paused_provider_is_paid_nothing_until_it_is_resumed(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "scan", "--domain", "category")
    paused = run_json(capsys, "provider", "pause", "pseudo", "--reason", "budget talk")
    assert paused["pseudo"]["circuit"] != "CLOSED"
    assert run_json(capsys, "tick", "--drain")["provider_calls"] == 0
    run(capsys, "provider", "resume", "pseudo")
    assert run_json(capsys, "tick", "--drain")["provider_calls"] > 0


def test_an_unknown_provider_is_refused_with_the_known_ones(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "pseudo" in refusal(capsys, "provider", "pause", "nobody", code=2)
    assert "pseudo" in refusal(capsys, "provider", "pause", code=2)


def test_a_request_is_booked_at_once_and_one_for_a_missing_resource_is_reported(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_json(capsys, "request", "content", "4")["reserved"]["booked"] > 0
    assert run_json(capsys, "jobs", "--domain", "content")


def test_a_rebuilt_read_model_costs_nothing(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "scan", "--domain", "category")
    run(capsys, "tick", "--drain")
    calls = run_json(capsys, "status")["provider_calls"]
    done = run_json(capsys, "materialize", "category", "--locale", "en", "--id", "1")
    assert (done["written"], done["failed"]) == (1, [])
    assert run_json(capsys, "status")["provider_calls"] == calls


def test_tables_show_markup_of_a_source_text_as_it_is(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "<b>" in run(capsys, "read", "game_line", "3", "ko")
    for verb in (["status"], ["jobs"], ["scan"], ["sweep"], ["provider", "list"], ["doctor"], ["check"]):
        assert run(capsys, *verb)


def test_the_sample_product_has_what_real_products_have() -> None:
    rows = sample_rows()
    texts = [text for row in rows for text in row.values.values()]
    assert len(rows) >= 40
    assert len({row.resource_type for row in rows}) == 8
    assert {row.language for row in rows} == {"ko", "en", "ja", None}
    assert max(len(text or "") for text in texts) > 5_000
    assert any(text is not None and not text.strip() for text in texts)
    assert len(set(texts)) < len(texts)
    assert len({(row.resource_type, row.id) for row in rows}) == len(rows)


def test_asking_for_a_resource_that_is_not_there_says_so(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no published content with id 99999" in refusal(capsys, "request", "content", "99999", code=2)


def test_the_doctor_names_jobs_that_nobody_works_on(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(product / "tm.db") as conn:
        conn.execute(
            "INSERT INTO translation_job (resource_type, resource_id, field_key, source_hash, source_text, "
            "source_language, target_language, status, retry_count, next_retry_at) "
            "VALUES ('alien', 1, 'name', 'a', 'text', 'ko', 'en', 'PENDING', 0, CURRENT_TIMESTAMP)"
        )
    findings = {finding["name"]: finding for finding in run_json(capsys, "doctor", code=1)}
    assert "alien" in findings["jobs of known domains"]["detail"]


def test_a_domain_cannot_read_a_table_of_the_pipeline(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "domains.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "domains:\n  loop:\n    source: {table: translation_job}\n    fields: [{key: text}]\n"
        "    read_model: {table: loop_translation, key_column: loop_id, shape: value}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("TM_DOMAINS_FILE", str(file))
    assert "translation_job is a table of the pipeline" in refusal(capsys, "status", code=3)
