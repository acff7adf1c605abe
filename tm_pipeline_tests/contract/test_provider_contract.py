"""What every engine must do, whichever it is: run over the pseudo engine and over Papago."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from tm_pipeline.domain.errors import InvalidInputError, ProviderError, UnsupportedPairError
from tm_pipeline.domain.languages import canonical
from tm_pipeline.domain.placeholders import multiset
from tm_pipeline.ports import (
    BatchOutcome,
    LanguageDetector,
    TranslationItem,
    TranslationProvider,
    TranslationRequest,
)
from tm_pipeline.providers.papago import PapagoDetector, PapagoProvider
from tm_pipeline.providers.pseudo import PseudoDetector, PseudoProvider
from tm_pipeline_tests.fakes.papago import FakePapago

SENTENCES = ("안녕하세요, {name}님! <b>%d개</b>의 글이 있습니다.", "첫 줄입니다.\n둘째 줄입니다. 👋")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An engine under test, with a way to count the HTTP calls that it made."""

    provider: TranslationProvider
    detector: LanguageDetector
    calls: Callable[[], int]

    def translate(self, *texts: str, source: str = "ko", target: str = "en", honorific: bool = False) -> BatchOutcome:
        items = tuple(TranslationItem(id=f"id-{n}", text=text) for n, text in enumerate(texts))
        return self.provider.translate(
            TranslationRequest(items=items, source_language=source, target_language=target, honorific=honorific)
        )


def pseudo_case() -> Iterator[Case]:
    yield Case(provider=PseudoProvider(), detector=PseudoDetector(), calls=lambda: 0)


def papago_case() -> Iterator[Case]:
    with FakePapago() as fake:
        key = {"client_id": lambda: "id", "client_secret": lambda: "secret"}
        provider = PapagoProvider(base_url=fake.base_url, timeout_seconds=5, **key)
        detector = PapagoDetector(base_url=fake.base_url, timeout_seconds=5, **key)
        yield Case(provider=provider, detector=detector, calls=lambda: len(fake.requests()))
        provider.close()
        detector.close()


@pytest.fixture(params=[pseudo_case, papago_case], ids=["pseudo", "papago"])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    yield from request.param()


def test_an_engine_has_a_short_name_and_a_version(case: Case) -> None:
    assert case.provider.name
    assert case.provider.name == case.provider.name.lower()
    assert len(case.provider.name) <= 40
    assert 0 < len(case.provider.version) <= 50


def test_pairs_are_canonical_directed_and_never_the_same_language(case: Case) -> None:
    for source, target in case.provider.capabilities.pairs or ():
        assert source != target
        assert (canonical(source), canonical(target)) == (source, target)
    assert case.provider.capabilities.max_items >= 1


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("target", ["en", "ja", "zh-TW"])
def test_a_translation_keeps_placeholders_and_is_not_the_source(case: Case, text: str, target: str) -> None:
    (outcome,) = case.translate(text, target=target).outcomes
    assert outcome.error is None
    assert outcome.text
    assert outcome.text != text
    assert multiset(outcome.text) == multiset(text)


def test_outcomes_are_exactly_the_requested_ids(case: Case) -> None:
    texts = [f"글 {number}번" for number in range(case.provider.capabilities.max_items)]
    batch = case.translate(*texts)
    assert set(batch.by_id()) == {f"id-{number}" for number in range(len(texts))}
    assert len(batch.outcomes) == len(texts)


def test_more_items_than_a_call_takes_are_never_half_translated(case: Case) -> None:
    count = case.provider.capabilities.max_items + 1
    try:
        batch = case.translate(*[f"글 {number}번" for number in range(count)])
    except ProviderError:
        return
    assert set(batch.by_id()) == {f"id-{number}" for number in range(count)}


def test_one_request_is_at_most_one_exchange(case: Case) -> None:
    before = case.calls()
    batch = case.translate(SENTENCES[0])
    assert case.calls() - before == batch.http_calls <= 1


def test_a_billed_text_is_counted_in_code_points_and_a_free_one_is_not(case: Case) -> None:
    (outcome,) = case.translate("글 👋").outcomes
    assert outcome.billed_units == (3 if case.provider.capabilities.billed else 0)


@pytest.mark.parametrize("text", ["", "   ", "글\x00", "글\ud83d"])
def test_a_text_that_no_engine_takes_fails_alone_and_unpaid(case: Case, text: str) -> None:
    batch = case.translate(text)
    (outcome,) = batch.outcomes
    assert isinstance(outcome.error, InvalidInputError)
    assert (outcome.text, outcome.billed_units, batch.http_calls, case.calls()) == (None, 0, 0, 0)


def test_a_text_beyond_the_limit_is_refused_and_never_cut(case: Case) -> None:
    limit = case.provider.capabilities.max_characters_item
    (outcome,) = case.translate("글" * (limit + 1)).outcomes
    assert isinstance(outcome.error, InvalidInputError)
    assert case.calls() == 0
    (outcome,) = case.translate("글" * limit).outcomes
    assert outcome.error is None


def test_the_same_language_is_the_text_itself_without_a_call(case: Case) -> None:
    (outcome,) = case.translate("colour", source="en", target="en-GB").outcomes
    assert (outcome.text, outcome.error, outcome.billed_units, case.calls()) == ("colour", None, 0, 0)


def test_a_pair_that_the_engine_lacks_is_refused_without_a_call(case: Case) -> None:
    (outcome,) = case.translate("Ciao", source="en", target="sw").outcomes
    takes_every_pair = case.provider.capabilities.pairs is None
    assert isinstance(outcome.error, UnsupportedPairError) is not takes_every_pair
    assert case.calls() == 0 or takes_every_pair


def test_an_unsupported_honorific_is_left_out_rather_than_refused(case: Case) -> None:
    (outcome,) = case.translate(SENTENCES[0], honorific=True).outcomes
    assert outcome.error is None


def test_threads_may_share_an_engine(case: Case) -> None:
    texts = [f"글 {number}번" for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(case.translate, texts))
    assert len({batch.outcomes[0].text for batch in batches}) == len(texts)


def test_a_detector_answers_a_canonical_tag_under_its_name(case: Case) -> None:
    detection = case.detector.detect("안녕하세요")
    assert (detection.language, detection.provider) == ("ko", case.detector.name)
    assert detection.confidence is None or 0 <= detection.confidence <= 1
