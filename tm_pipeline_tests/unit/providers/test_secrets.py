"""A canary as the key never appears in a repr, a message, an exception chain or a log."""

import logging
import traceback

import pytest

from tm_pipeline.domain.errors import ProviderError
from tm_pipeline.providers.papago import PapagoDetector, PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.papago_modes import ErrorReply
from tm_pipeline_tests.unit.providers.conftest import CLIENT_ID, CLIENT_SECRET, request_for

TEXT = "아무도 읽으면 안 되는 글"

FAILURES: list[str | ErrorReply] = [
    "401", "500", "429-quota", "cut", "reset", "timeout", "garbage", "huge", "gzip-bomb", "redirect", "drip",
    "n2mt06",
    ErrorReply(status=401, code="200", message=f"key {CLIENT_SECRET} of {CLIENT_ID} refused for {TEXT}"),
    ErrorReply(status=401, code=CLIENT_SECRET, message=CLIENT_SECRET * 9),
]  # fmt: skip


def chain(error: BaseException) -> str:
    """Everything that a log or an event could print of an error: the chain, with its attributes."""
    found = "".join(traceback.format_exception(error))
    seen: BaseException | None = error
    while seen is not None:
        found += f"{seen!r} {seen.args!r} {vars(seen)!r}"
        request = getattr(seen, "_request", None)
        found += repr(dict(request.headers)) if request is not None else ""
        seen = seen.__cause__ or seen.__context__
    return found


@pytest.mark.parametrize("mode", FAILURES, ids=str)
def test_a_failing_call_shows_neither_key_nor_text(
    hasty_papago: PapagoProvider,
    fake_papago: FakePapago,
    mode: str | ErrorReply,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    fake_papago.script([mode])
    try:
        (outcome,) = hasty_papago.translate(request_for(TEXT)).outcomes
        error = outcome.error
    except ProviderError as raised:
        error = raised
    assert error is not None
    shown = chain(error) + caplog.text
    for hidden in (CLIENT_ID, CLIENT_SECRET, TEXT):
        assert hidden.lower() not in shown.lower()


def test_a_successful_call_logs_neither_key_nor_text(
    papago: PapagoProvider, detector: PapagoDetector, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    papago.translate(request_for(TEXT))
    detector.detect(TEXT)
    for hidden in (CLIENT_ID, CLIENT_SECRET, TEXT):
        assert hidden not in caplog.text


def test_no_object_of_the_provider_shows_its_key(papago: PapagoProvider) -> None:
    papago.translate(request_for("안녕하세요"))
    api = papago._api
    shown = f"{papago!r} {vars(papago)!r} {vars(api)!r} {vars(api._http)!r}"
    assert CLIENT_ID not in shown
    assert CLIENT_SECRET not in shown


def test_the_key_is_asked_for_at_each_call(fake_papago: FakePapago) -> None:
    keys = iter(["first", "second"])
    provider = PapagoProvider(
        base_url=fake_papago.base_url,
        client_id=lambda: "id",
        client_secret=Rotating(keys),
        timeout_seconds=5.0,
    )
    for _ in range(2):
        provider.translate(request_for("안녕하세요"))
    provider.close()
    assert [request["headers"]["x-ncp-apigw-api-key"] for request in fake_papago.requests()] == [
        "first",
        "second",
    ]


class Rotating:
    """A secret that changes between calls."""

    def __init__(self, keys: object) -> None:
        self._keys = iter(keys)  # type: ignore[call-overload]

    def __call__(self) -> str:
        return str(next(self._keys))
