"""Every documented pair of status and code, in every error shape, and what is unknown."""

import itertools

import pytest

from tm_pipeline.domain.errors import (
    CredentialRejectedError,
    InvalidInputError,
    LanguageUndeterminedError,
    ProtocolError,
    ProviderError,
    ProviderMisconfiguredError,
    ProviderStoppedError,
    QuotaExhaustedError,
    RateLimitedError,
    TransientProviderError,
    UnsupportedPairError,
)
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.fakes.papago_modes import ErrorReply
from tm_pipeline_tests.unit.providers.conftest import Translate, request_for

DOCUMENTED: list[tuple[int, str, type[ProviderError]]] = [
    (400, "N2MT01", InvalidInputError),
    (400, "N2MT02", UnsupportedPairError),
    (400, "N2MT03", InvalidInputError),
    (400, "N2MT04", UnsupportedPairError),
    (400, "N2MT06", UnsupportedPairError),
    (400, "N2MT07", InvalidInputError),
    (400, "N2MT08", InvalidInputError),
    (400, "N2MT09", LanguageUndeterminedError),
    (400, "N2MT10", ProviderMisconfiguredError),
    (500, "N2MT99", TransientProviderError),
    (400, "100", InvalidInputError),
    (401, "200", CredentialRejectedError),
    (401, "210", CredentialRejectedError),
    (404, "300", ProviderMisconfiguredError),
    (413, "430", InvalidInputError),
    (429, "400", QuotaExhaustedError),
    (429, "410", RateLimitedError),
    (429, "420", RateLimitedError),
    (500, "900", TransientProviderError),
    (503, "500", TransientProviderError),
    (504, "510", TransientProviderError),
]
UNDOCUMENTED: list[tuple[int, str, type[ProviderError]]] = [
    (401, "024", CredentialRejectedError),
    (403, "X1", CredentialRejectedError),
    (400, "400", InvalidInputError),
    (400, "N2MT55", InvalidInputError),
    (404, "999", ProviderMisconfiguredError),
    (408, "1", TransientProviderError),
    (418, "1", InvalidInputError),
    (429, "012", RateLimitedError),
    (500, "400", TransientProviderError),
    (502, "1", TransientProviderError),
    (302, "1", ProtocolError),
]
ITEM_ERRORS = (InvalidInputError, UnsupportedPairError, LanguageUndeterminedError)


def failure(papago: PapagoProvider, fake: FakePapago, reply: ErrorReply | str) -> ProviderError:
    """The error of one call, whether raised for the call or given for its item."""
    fake.script([reply])
    try:
        (outcome,) = papago.translate(request_for("안녕하세요")).outcomes
    except ProviderError as raised:
        error: ProviderError | None = raised
        for_the_item = False
    else:
        assert (outcome.text, outcome.billed_units) == (None, 0)
        error, for_the_item = outcome.error, True
    assert error is not None
    assert isinstance(error, ITEM_ERRORS) is for_the_item
    return error


@pytest.mark.parametrize(("status", "code", "expected"), DOCUMENTED + UNDOCUMENTED)
def test_status_and_code_together_decide_what_an_error_means_in_every_shape(
    papago: PapagoProvider, fake_papago: FakePapago, status: int, code: str, expected: type[ProviderError]
) -> None:
    codes: list[str | int] = [code, int(code)] if code.isdigit() and str(int(code)) == code else [code]
    for shape, given in itertools.product(("ncp", "flat", "full"), codes):
        error = failure(papago, fake_papago, ErrorReply(status=status, code=given, shape=shape))
        assert type(error) is expected
        assert error.http_status == status
        assert error.may_have_been_billed is (status == 504)
        assert f"HTTP {status}" in str(error)
        assert f"code {code}" in str(error)
    assert fake_papago.ledger() == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("429-html", RateLimitedError),
        ("429-empty", RateLimitedError),
        ("500-html", TransientProviderError),
        ("error200", TransientProviderError),
    ],
)
def test_a_body_that_tells_nothing_leaves_the_status_to_decide(
    papago: PapagoProvider, fake_papago: FakePapago, mode: str, expected: type[ProviderError]
) -> None:
    error = failure(papago, fake_papago, mode)
    assert type(error) is expected
    assert "<html>" not in str(error)


def test_code_400_in_a_429_is_the_quota_but_http_400_is_not(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    stopped = failure(papago, fake_papago, "429-quota")
    assert isinstance(stopped, ProviderStoppedError)
    assert "console" in str(stopped)
    assert not isinstance(failure(papago, fake_papago, "http:400:400"), ProviderStoppedError)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120.0),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "soon"}, None),
    ],
)
def test_a_throttle_says_for_how_long_where_the_reply_did(
    papago: PapagoProvider, fake_papago: FakePapago, headers: dict[str, str], seconds: float | None
) -> None:
    error = failure(papago, fake_papago, ErrorReply(status=429, code="410", headers=headers))
    assert isinstance(error, RateLimitedError)
    assert error.retry_after_seconds == seconds
    assert error.may_have_been_billed is False


def test_source_equal_to_target_is_the_source_text_at_no_cost(translate: Translate, fake_papago: FakePapago) -> None:
    fake_papago.script(["n2mt05"])
    outcome = translate("Hello there", "und", "en")
    assert (outcome.text, outcome.error, outcome.billed_units) == ("Hello there", None, 0)


def test_a_message_of_the_engine_is_shown_on_one_short_line_without_the_text(
    papago: PapagoProvider, fake_papago: FakePapago
) -> None:
    words = "Bad\r\ntext \x1b[31m안녕하세요 " + "so " * 400
    error = failure(papago, fake_papago, ErrorReply(status=400, code="100", message=words))
    assert "Bad text" in str(error)
    assert "안녕하세요" not in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 320
