"""The oracle itself: it counts what it served, keeps to its limits, and obeys its script."""

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from typing import Any

import pytest

from tm_pipeline.domain.errors import ProviderError, QuotaExhaustedError, RateLimitedError
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.papago_texts import translated
from tm_pipeline_tests.unit.providers.conftest import request_for


def outcome_of(fake: FakePapago, text: str = "안녕하세요") -> str:
    provider = PapagoProvider(
        base_url=fake.base_url, client_id=lambda: "id", client_secret=lambda: "secret", timeout_seconds=5
    )
    try:
        provider.translate(request_for(text))
    except ProviderError as error:
        return type(error).__name__
    finally:
        provider.close()
    return "ok"


def http(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "x-ncp-apigw-api-key-id": "i", "x-ncp-apigw-api-key": "k"}
    with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=headers), timeout=5) as reply:
        return json.loads(reply.read())


def test_the_call_that_crosses_the_quota_is_still_served_and_billed() -> None:
    with FakePapago(daily_characters=7) as fake:
        assert [outcome_of(fake) for _ in range(3)] == ["ok", "ok", QuotaExhaustedError.__name__]
        assert fake.report()["billed_characters"] == 10


def test_calls_beyond_the_rate_are_throttled() -> None:
    with FakePapago(calls_per_second=2) as fake:
        assert [outcome_of(fake) for _ in range(3)] == ["ok", "ok", RateLimitedError.__name__]


def test_a_bill_survives_a_lost_reply_and_a_second_bill_is_seen() -> None:
    with FakePapago() as fake:
        fake.script(["cut"])
        outcome_of(fake)
        assert fake.report()["billed_twice"] == 0
        outcome_of(fake)
        assert fake.report()["billed_twice"] == 1


def test_json_is_taken_like_a_form_and_the_ledger_is_served_over_http(fake_papago: FakePapago) -> None:
    url = fake_papago.base_url
    reply = http(f"{url}/nmt/v1/translation", {"source": "ko", "target": "en", "text": "하나 + 둘"})
    assert reply["message"]["result"]["translatedText"].startswith("(en) ")
    report = http(f"{url}/_ledger")
    assert [row["text"] for row in report["calls"]] == ["하나 + 둘"]
    assert (report["billed_calls"], report["requests"]) == (1, 1)


def test_modes_can_be_set_over_http(fake_papago: FakePapago) -> None:
    url = f"{fake_papago.base_url}/_modes"
    assert http(url, {"script": ["500", "ok"], "repeat": True}) == {"ok": True}
    assert [outcome_of(fake_papago) for _ in range(4)] == ["TransientProviderError", "ok"] * 2
    http(url, {"always": "429-quota"})
    assert outcome_of(fake_papago) == "QuotaExhaustedError"


def test_chances_repeat_with_their_seed() -> None:
    runs = []
    for _ in range(2):
        with FakePapago() as fake:
            fake.chances({"500": 0.3, "n2mt06": 0.2}, seed=7)
            runs.append([fake.plan.next() for _ in range(1_000)])
    assert runs[0] == runs[1]
    counts = Counter(map(str, runs[0]))
    assert 250 < counts["500"] < 350
    assert 150 < counts["n2mt06"] < 250


def test_an_unknown_mode_is_refused_at_once(fake_papago: FakePapago) -> None:
    with pytest.raises(ValueError, match="unknown mode"):
        fake_papago.script(["no-such-mode"])


def test_translations_differ_for_each_text_and_language_and_hold_no_hangul() -> None:
    texts = ["안녕", "안농", "가나", "나가", "한글 {name}", "hello"]
    answers = [translated(text, target) for text in texts for target in ("en", "ja")]
    assert len(set(answers)) == len(answers)
    assert not any("가" <= char <= "힣" for answer in answers for char in answer)
    assert "{name}" in translated("한글 {name}", "en")


def test_it_runs_as_a_server_of_its_own() -> None:
    command = [sys.executable, "-m", "tm_pipeline_tests.fakes.papago", "--port", "0", "--mode", "500"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        try:
            assert http(f"{url}/_ledger")["billed_calls"] == 0
        finally:
            server.terminate()
