"""Detection: free, without a confidence, and open for languages that cannot be translated."""

import pytest

from tm_pipeline.domain.errors import (
    CredentialRejectedError,
    InvalidInputError,
    ProtocolError,
    RateLimitedError,
)
from tm_pipeline.providers.papago import PapagoDetector
from tm_pipeline.providers.papago_languages import papago_code, tag_of
from tm_pipeline_tests.fakes.papago import FakePapago


@pytest.mark.parametrize(
    ("text", "language"), [("안녕하세요", "ko"), ("こんにちは", "ja"), ("hello", "en"), ("123", "und")]
)
def test_the_language_of_a_text_is_asked_for_at_no_cost(
    detector: PapagoDetector, fake_papago: FakePapago, text: str, language: str
) -> None:
    detection = detector.detect(text)
    assert (detection.language, detection.provider, detection.confidence) == (language, "papago", None)
    assert fake_papago.requests()[0]["path"] == "/langs/v1/dect"
    assert fake_papago.ledger() == []


def test_only_the_beginning_of_a_long_text_is_sent(detector: PapagoDetector, fake_papago: FakePapago) -> None:
    detector.detect("가" * 20_000)
    assert len(fake_papago.requests()[0]["form"]["query"]) == 1_000


@pytest.mark.parametrize("text", ["", "  ", "\ud800", "a\x00"])
def test_a_text_without_content_is_refused_before_any_call(
    detector: PapagoDetector, fake_papago: FakePapago, text: str
) -> None:
    with pytest.raises(InvalidInputError):
        detector.detect(text)
    assert fake_papago.requests() == []


def test_a_rejected_key_stops_the_detector_too(fake_papago: FakePapago) -> None:
    with FakePapago(key=("other", "key")) as strict:
        detector = PapagoDetector(base_url=strict.base_url, client_id=lambda: "id", client_secret=lambda: "secret")
        with pytest.raises(CredentialRejectedError):
            detector.detect("hello")
        detector.close()


def test_a_throttled_detection_is_rate_limited() -> None:
    with FakePapago(calls_per_second=1) as slow:
        detector = PapagoDetector(base_url=slow.base_url, client_id=lambda: "id", client_secret=lambda: "secret")
        detector.detect("hello")
        with pytest.raises(RateLimitedError):
            detector.detect("hello")
        detector.close()


@pytest.mark.parametrize("answer", [{}, {"langCode": None}, {"langCode": ""}, {"langCode": 7}, []])
def test_an_answer_without_a_code_is_a_protocol_error(
    detector: PapagoDetector, fake_papago: FakePapago, answer: object
) -> None:
    fake_papago.detections.append(answer)
    with pytest.raises(ProtocolError):
        detector.detect("hello")


@pytest.mark.parametrize(
    ("code", "tag"),
    [
        ("ko", "ko"),
        ("KO", "ko"),
        ("zh-CN", "zh-CN"),
        ("zh-cn", "zh-CN"),
        ("ZH-TW", "zh-TW"),
        ("mm", "my"),
        ("unk", "und"),
        ("pt", "pt"),
        ("hi", "hi"),
        ("??", "und"),
    ],
)
def test_a_detected_code_becomes_a_canonical_tag(code: str, tag: str) -> None:
    assert tag_of(code) == tag


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("ko", "ko"),
        ("ko-KR", "ko"),
        ("en-GB", "en"),
        ("zh-Hans", "zh-CN"),
        ("zh-SG", "zh-CN"),
        ("zh-Hant", "zh-TW"),
        ("zh-HK", "zh-TW"),
        ("und", "auto"),
        ("zh", None),
        ("pt-BR", None),
        ("hi", None),
        ("ja-Latn", None),
        ("??", None),
    ],
)
def test_a_tag_keeps_its_script_and_may_lose_its_region(tag: str, code: str | None) -> None:
    assert papago_code(tag) == code
