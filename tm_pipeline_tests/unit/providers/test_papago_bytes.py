"""Replies of a 200 that are wrong: each becomes an error of one kind, and says whether it may be billed."""

import time

import pytest

from tm_pipeline.domain.errors import (
    OutputInvalidError,
    ProtocolError,
    ProviderError,
    ProviderTimeoutError,
    TransientProviderError,
)
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.unit.providers.conftest import Translate, request_for

TEXT = "안녕하세요 👋"

NO_REPLY_OF_THIS_ENGINE = [
    "garbage", "html200", "charset", "utf16", "duplicate", "wrong-shape", "truncated", "deep", "nan",
    "number", "huge", "gzip-bomb", "zstd",
]  # fmt: skip


@pytest.mark.parametrize("mode", NO_REPLY_OF_THIS_ENGINE)
def test_a_200_that_cannot_be_read_is_a_protocol_error_that_may_be_billed(
    papago: PapagoProvider, fake_papago: FakePapago, mode: str
) -> None:
    fake_papago.script([mode])
    with pytest.raises(ProtocolError) as caught:
        papago.translate(request_for(TEXT))
    assert caught.value.may_have_been_billed is True
    assert len(fake_papago.ledger()) == 1
    assert len(str(caught.value)) < 200
    assert "html" not in str(caught.value).replace("text/html", "")


@pytest.mark.parametrize("mode", ["null", "empty", "missing", "surrogate"])
def test_a_complete_reply_without_a_usable_text_is_invalid_output_and_billed(
    translate: Translate, fake_papago: FakePapago, mode: str
) -> None:
    fake_papago.script([mode])
    outcome = translate(TEXT)
    assert outcome.text is None
    assert type(outcome.error) is OutputInvalidError
    assert outcome.billed_units == len(TEXT) == fake_papago.ledger()[0]["characters"]
    assert outcome.billed_estimated is True


def test_a_redirect_is_not_followed(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    fake_papago.script(["redirect"])
    with pytest.raises(ProtocolError) as caught:
        papago.translate(request_for(TEXT))
    assert caught.value.http_status == 302
    assert caught.value.may_have_been_billed is False
    assert len(fake_papago.requests()) == 1


def test_a_compressed_reply_is_read_although_none_was_asked_for(translate: Translate, fake_papago: FakePapago) -> None:
    fake_papago.script(["gzip"])
    assert (translate(TEXT).text or "").startswith("(en) ")


@pytest.mark.parametrize("mode", ["timeout", "drip", "drip-headers"])
def test_the_total_time_out_ends_a_reply_that_never_ends(
    hasty_papago: PapagoProvider, fake_papago: FakePapago, mode: str
) -> None:
    fake_papago.script([mode])
    begun = time.monotonic()
    with pytest.raises(ProviderTimeoutError) as caught:
        hasty_papago.translate(request_for(TEXT))
    assert 0.5 < time.monotonic() - begun < 3.0  # the reply itself would take minutes
    assert caught.value.may_have_been_billed is True
    assert len(fake_papago.ledger()) == 1


def test_an_endless_reply_is_cut_by_its_size(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    fake_papago.script(["endless"])
    with pytest.raises(ProtocolError) as caught:
        papago.translate(request_for(TEXT))
    assert caught.value.may_have_been_billed is True


@pytest.mark.parametrize("mode", ["cut", "reset"])
def test_a_connection_lost_after_sending_may_have_been_billed(
    papago: PapagoProvider, fake_papago: FakePapago, mode: str
) -> None:
    fake_papago.script([mode])
    with pytest.raises(TransientProviderError) as caught:
        papago.translate(request_for(TEXT))
    assert type(caught.value) is TransientProviderError
    assert caught.value.may_have_been_billed is True
    assert fake_papago.requests_seen() == 1


@pytest.mark.parametrize("mode", ["500", "cut", "garbage", "429-throttle", "401", "huge"])
def test_the_next_call_works_after_any_failure(papago: PapagoProvider, fake_papago: FakePapago, mode: str) -> None:
    fake_papago.script([mode])
    with pytest.raises(ProviderError):
        papago.translate(request_for(TEXT))
    (outcome,) = papago.translate(request_for(TEXT)).outcomes
    assert outcome.error is None
    assert fake_papago.requests_seen() == 2


def test_the_next_call_works_after_a_time_out(fake_papago: FakePapago) -> None:
    provider = PapagoProvider(
        base_url=fake_papago.base_url,
        client_id=lambda: "id",
        client_secret=lambda: "secret",
        timeout_seconds=2.0,
    )
    fake_papago.script(["drip"])
    with pytest.raises(ProviderTimeoutError):
        provider.translate(request_for(TEXT))
    assert provider.translate(request_for(TEXT)).outcomes[0].error is None
    provider.close()
