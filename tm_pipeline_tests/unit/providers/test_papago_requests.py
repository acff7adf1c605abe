"""What leaves for Papago, what is answered or refused without a call, and what is counted."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.errors import InvalidInputError, ProviderError, UnsupportedPairError
from tm_pipeline.ports import TranslationItem, TranslationRequest
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline.providers.papago_languages import CODES, PAIRS
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.unit.providers.conftest import CLIENT_ID, CLIENT_SECRET, Translate, request_for


def test_a_call_carries_the_key_in_headers_and_the_text_in_a_form(
    translate: Translate, fake_papago: FakePapago
) -> None:
    translate("안녕하세요", "ko-KR", "zh-Hant")
    (sent,) = fake_papago.requests()
    assert sent["path"] == "/nmt/v1/translation"
    assert sent["form"] == {"source": "ko", "target": "zh-TW", "text": "안녕하세요"}
    assert sent["headers"]["x-ncp-apigw-api-key-id"] == CLIENT_ID
    assert sent["headers"]["x-ncp-apigw-api-key"] == CLIENT_SECRET
    assert sent["headers"]["content-type"] == "application/x-www-form-urlencoded"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60))
def test_any_text_arrives_unchanged_and_is_counted_in_code_points(
    papago: PapagoProvider, fake_papago: FakePapago, text: str
) -> None:
    text = f"가{text}"
    (outcome,) = papago.translate(request_for(text)).outcomes
    row = fake_papago.ledger()[-1]
    assert row["text"] == text
    assert outcome.billed_units == row["characters"] == len(text)
    assert outcome.billed_estimated is True


@pytest.mark.parametrize(
    "text", ["5 + 5 = 10, \"가\" & '나' % 100", "첫 줄\n둘째 줄\r\n셋째", "a=b&c=d 가", "  바깥 공백  "]
)
def test_characters_of_the_form_encoding_arrive_unchanged(
    translate: Translate, fake_papago: FakePapago, text: str
) -> None:
    translate(text)
    assert fake_papago.ledger()[0]["text"] == text


def test_all_58_pairs_are_taken_and_no_other(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    assert len(PAIRS) == 58
    for source in sorted(CODES):
        for target in sorted(CODES - {source}):
            (outcome,) = papago.translate(request_for("안녕", source, target)).outcomes
            assert (outcome.error is None) == ((source, target) in PAIRS)
            assert outcome.error is None or type(outcome.error) is UnsupportedPairError
    assert fake_papago.requests_seen() == len(fake_papago.ledger()) == 58


REFUSED: list[tuple[str, str, str, type[ProviderError]]] = [
    ("Ciao", "en", "it", UnsupportedPairError),
    ("Olá", "pt-BR", "ko", UnsupportedPairError),
    ("안녕", "ko", "zh", UnsupportedPairError),
    ("안녕", "ko", "und", UnsupportedPairError),
    ("안녕", "ko", "not a tag", UnsupportedPairError),
    ("가" * 5_001, "ko", "en", InvalidInputError),
    ("👋" * 2_501, "ko", "en", InvalidInputError),
    ("", "ko", "en", InvalidInputError),
    (" \n\t", "ko", "en", InvalidInputError),
    ("가\ud83d", "ko", "en", InvalidInputError),
    ("가\x00", "ko", "en", InvalidInputError),
]


@pytest.mark.parametrize(("text", "source", "target", "expected"), REFUSED)
def test_what_papago_cannot_take_is_refused_before_any_call(
    papago: PapagoProvider,
    fake_papago: FakePapago,
    text: str,
    source: str,
    target: str,
    expected: type[ProviderError],
) -> None:
    batch = papago.translate(request_for(text, source, target))
    (outcome,) = batch.outcomes
    assert type(outcome.error) is expected
    assert "nothing was sent" in str(outcome.error)
    assert (outcome.billed_units, batch.http_calls, batch.http_status) == (0, 0, None)
    assert fake_papago.requests() == []


@pytest.mark.parametrize("length", [1, 4_999, 5_000])
def test_texts_up_to_the_limit_are_sent_whole(translate: Translate, fake_papago: FakePapago, length: int) -> None:
    outcome = translate("가" * length)
    assert outcome.error is None
    assert fake_papago.ledger()[0]["characters"] == length == outcome.billed_units


@pytest.mark.parametrize(("source", "target"), [("en", "en"), ("en-GB", "en"), ("en-GB", "en-US"), ("zh-HK", "zh-TW")])
def test_one_language_for_papago_is_the_source_text_without_a_call(
    translate: Translate, fake_papago: FakePapago, source: str, target: str
) -> None:
    assert translate("colour", source, target).text == "colour"
    assert fake_papago.requests() == []


@pytest.mark.parametrize(
    ("source", "target", "sent"),
    [
        ("en", "ko", True),
        ("ja", "ko", True),
        ("ko", "ja", True),
        ("zh-CN", "ja", True),
        ("ko", "en", False),
        ("fr", "ko", False),
    ],
)
def test_the_honorific_is_sent_only_where_the_pair_knows_it(
    translate: Translate, fake_papago: FakePapago, source: str, target: str, *, sent: bool
) -> None:
    translate("안녕하세요", source, target, honorific=True)
    translate("안녕하세요", source, target)
    assert [request["form"].get("honorific") for request in fake_papago.requests()] == [
        "true" if sent else None,
        None,
    ]


def test_an_unknown_source_is_left_to_the_engine_which_says_what_it_was(
    translate: Translate, fake_papago: FakePapago
) -> None:
    outcome = translate("안녕하세요", "und", "en")
    assert fake_papago.requests()[0]["form"]["source"] == "auto"
    assert outcome.detected_source == "ko"
    fake_papago.script(["detected-uppercase"])
    assert translate("안녕하세요", "und", "en").detected_source == "ko"


def test_two_texts_are_refused_because_a_call_takes_one(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    items = (TranslationItem(id="a", text="하나"), TranslationItem(id="b", text="둘"))
    batch = papago.translate(TranslationRequest(items=items, source_language="ko", target_language="en"))
    assert [type(outcome.error) for outcome in batch.outcomes] == [InvalidInputError] * 2
    assert set(batch.by_id()) == {"a", "b"}
    assert batch.http_calls == 0
    assert fake_papago.requests() == []


def test_no_text_is_no_call(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    batch = papago.translate(TranslationRequest(items=(), source_language="ko", target_language="en"))
    assert (batch.outcomes, batch.http_calls, fake_papago.requests()) == ((), 0, [])
