"""Alerts on a real socket: what arrives, what counts as taken, and errors that name no address."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tm_pipeline.domain.errors import AlertDeliveryError, ConfigurationError
from tm_pipeline.providers.webhook import WebhookSink
from tm_pipeline.settings import Secret, Settings
from tm_pipeline.wiring import application
from tm_pipeline_tests.databases import free_port
from tm_pipeline_tests.fakes.webhook import WebhookReceiver

SECRET = "T0KEN-of-the-channel"
ALERT = {"key": "run:1", "title": "translate_due_groups failed: 시간 초과", "held_back": 2}


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as started:
        yield started


def sink(base: str, *, seconds: float = 5.0) -> WebhookSink:
    return WebhookSink(url=lambda: f"{base}/hooks/{SECRET}?channel=ops", timeout_seconds=seconds)


def test_an_alert_arrives_as_one_json_object_at_the_whole_address(receiver: WebhookReceiver) -> None:
    sink(receiver.base_url).send(ALERT)
    assert receiver.received == [(f"/hooks/{SECRET}?channel=ops", "application/json", ALERT)]


@pytest.mark.parametrize("status", [200, 202, 204])
def test_any_answer_of_success_takes_an_alert(receiver: WebhookReceiver, status: int) -> None:
    receiver.answer(status)
    sink(receiver.base_url).send(ALERT)


@pytest.mark.parametrize("status", [301, 400, 403, 404, 429, 500, 503])
def test_any_other_answer_does_not_and_the_error_says_which(receiver: WebhookReceiver, status: int) -> None:
    receiver.answer(status)
    with pytest.raises(AlertDeliveryError, match=f"it answered HTTP {status} ") as caught:
        sink(receiver.base_url).send(ALERT)
    assert SECRET not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(receiver.received) == 1


def test_a_receiver_that_hangs_is_left_after_the_time_out(receiver: WebhookReceiver) -> None:
    receiver.hang()
    with pytest.raises(AlertDeliveryError, match=r"no complete reply within 0\.3 s; it may have arrived"):
        sink(receiver.base_url, seconds=0.3).send(ALERT)


def test_a_receiver_that_is_not_there_is_an_error_without_its_address() -> None:
    with pytest.raises(AlertDeliveryError, match=r"the request failed \(TransientProviderError\)") as caught:
        sink(f"http://127.0.0.1:{free_port()}").send(ALERT)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "hooks.example/services/T0KEN",
        "ftp://hooks.example/T0KEN",
        "https:///T0KEN",
        "https://user:T0KEN@hooks.example/x",
        "https://hooks.example:99999/T0KEN",
        "https://hooks.example/T0 KEN",
        "https://[hooks.example/T0KEN",
    ],
)
def test_a_wrong_address_is_refused_at_the_start_without_being_named(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="TM_ALERT_WEBHOOK_URL must be") as caught:
        application({"TM_ALERT_WEBHOOK_URL": url, "TM_HOME": str(tmp_path)})
    assert "T0" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_address_is_a_secret_of_the_settings() -> None:
    settings = Settings.from_env(
        {
            "TM_ALERT_WEBHOOK_URL": f"https://hooks.example/{SECRET}",
            "TM_DATABASE_URL": "mysql+pymysql://tm:p%40ssword@db/product",
            "TM_UI_URL": "https://dagster.example/",
        }
    )
    assert SECRET not in repr(settings)
    assert isinstance(settings.alert_webhook_url, Secret)
    assert settings.ui_url == "https://dagster.example"
    assert {f"https://hooks.example/{SECRET}", "p%40ssword", "p@ssword"} <= set(settings.secret_values())


def test_without_an_address_there_is_no_sink(tmp_path: Path) -> None:
    assert application({"TM_HOME": str(tmp_path)}).alert_sink is None
