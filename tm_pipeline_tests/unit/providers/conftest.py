"""Engines that talk to the fake Papago, with a canary as their key."""

from collections.abc import Callable, Iterator

import pytest

from tm_pipeline.ports import ItemOutcome, TranslationItem, TranslationRequest
from tm_pipeline.providers.papago import PapagoDetector, PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago

CLIENT_ID, CLIENT_SECRET = "canary-id-4711", "canary-secret-0815"

Translate = Callable[..., ItemOutcome]


@pytest.fixture
def papago(fake_papago: FakePapago) -> Iterator[PapagoProvider]:
    provider = PapagoProvider(
        base_url=fake_papago.base_url,
        client_id=lambda: CLIENT_ID,
        client_secret=lambda: CLIENT_SECRET,
        timeout_seconds=5.0,
    )
    yield provider
    provider.close()


@pytest.fixture
def hasty_papago(fake_papago: FakePapago) -> Iterator[PapagoProvider]:
    """The same with a time-out that a test can wait for."""
    provider = PapagoProvider(
        base_url=fake_papago.base_url,
        client_id=lambda: CLIENT_ID,
        client_secret=lambda: CLIENT_SECRET,
        timeout_seconds=0.7,
    )
    yield provider
    provider.close()


@pytest.fixture
def detector(fake_papago: FakePapago) -> Iterator[PapagoDetector]:
    found = PapagoDetector(
        base_url=fake_papago.base_url,
        client_id=lambda: CLIENT_ID,
        client_secret=lambda: CLIENT_SECRET,
        timeout_seconds=5.0,
    )
    yield found
    found.close()


def request_for(text: str, source: str = "ko", target: str = "en", *, honorific: bool = False) -> TranslationRequest:
    items = (TranslationItem(id="a", text=text),)
    return TranslationRequest(items=items, source_language=source, target_language=target, honorific=honorific)


@pytest.fixture
def translate(papago: PapagoProvider) -> Translate:
    """Translate one text and give its outcome."""

    def run(text: str, source: str = "ko", target: str = "en", *, honorific: bool = False) -> ItemOutcome:
        (outcome,) = papago.translate(request_for(text, source, target, honorific=honorific)).outcomes
        return outcome

    return run
