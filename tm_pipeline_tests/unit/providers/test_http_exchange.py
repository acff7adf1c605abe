"""Connections: made late, shared by threads, kept between calls, and never a bill where none was made."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tm_pipeline.domain.errors import (
    ConfigurationError,
    CredentialRejectedError,
    ProviderError,
    ProviderMisconfiguredError,
    TransientProviderError,
)
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.unit.providers.conftest import request_for


def provider_at(
    base_url: str, *, client_id: str = "id", secret: str = "secret", seconds: float = 2.0
) -> PapagoProvider:
    return PapagoProvider(
        base_url=base_url, client_id=lambda: client_id, client_secret=lambda: secret, timeout_seconds=seconds
    )


def failure_at(base_url: str, **key: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider_at(base_url, **key).translate(request_for("안녕하세요"))  # type: ignore[arg-type]
    return caught.value


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "nowhere.invalid"])
def test_a_connection_that_cannot_be_made_is_transient_and_unpaid(host: str) -> None:
    error = failure_at("http://" + host.format(port=unused_port()))
    assert type(error) is TransientProviderError
    assert error.may_have_been_billed is False
    assert "nothing was sent" in str(error)


def test_a_server_that_speaks_no_tls_is_transient_and_unpaid(fake_papago: FakePapago) -> None:
    error = failure_at(fake_papago.base_url.replace("http:", "https:"))
    assert type(error) is TransientProviderError
    assert error.may_have_been_billed is False
    assert fake_papago.requests() == []


def test_a_wrong_path_stops_the_provider(fake_papago: FakePapago) -> None:
    error = failure_at(f"{fake_papago.base_url}/elsewhere")
    assert isinstance(error, ProviderMisconfiguredError)
    assert "base URL" in str(error)


def test_a_base_url_may_end_with_a_slash(fake_papago: FakePapago) -> None:
    provider = provider_at(f"{fake_papago.base_url}/")
    assert provider.translate(request_for("안녕하세요")).http_status == 200
    provider.close()


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "papago.example",
        "ftp://papago.example",
        "http://",
        "https://u:canary@papago.example",
        "http://a b/",
        "http://x/?k=canary",
    ],
)
def test_a_base_url_that_is_no_plain_address_is_refused_at_once(base_url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        provider_at(base_url)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "key",
    [{"client_id": ""}, {"secret": " "}, {"secret": "canary\r\nx-evil: 1"}, {"client_id": "캐너리canary"}],
)
def test_a_key_that_no_header_can_carry_is_rejected_without_a_call(
    fake_papago: FakePapago, key: dict[str, str]
) -> None:
    error = failure_at(fake_papago.base_url, **key)
    assert isinstance(error, CredentialRejectedError)
    assert "canary" not in str(error)
    assert fake_papago.requests() == []


def test_many_threads_share_one_provider_and_each_gets_its_own_answer(
    papago: PapagoProvider, fake_papago: FakePapago
) -> None:
    fake_papago.latency_seconds = 0.02
    texts = [f"문장 {number}번입니다" for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: papago.translate(request_for(text)).outcomes[0].text, texts))
    assert len(set(answers)) == 64
    assert all(f" {number}" in (answer or "") for number, answer in enumerate(answers))
    assert sorted(row["text"] for row in fake_papago.ledger()) == sorted(texts)
    assert fake_papago.most_at_once() > 1


def test_calls_one_after_the_other_use_one_connection(papago: PapagoProvider, fake_papago: FakePapago) -> None:
    for number in range(5):
        papago.translate(request_for(f"문장 {number}번"))
    assert len({request["port"] for request in fake_papago.requests()}) == 1


def test_a_closed_provider_connects_again(papago: PapagoProvider) -> None:
    papago.translate(request_for("하나"))
    papago.close()
    papago.close()
    assert papago.translate(request_for("둘")).http_status == 200


def test_importing_and_building_a_provider_does_no_work() -> None:
    program = (
        "import socket, threading\n"
        "socket.socket.connect = socket.getaddrinfo = None\n"
        "from tm_pipeline.providers.papago import PapagoProvider\n"
        "def refuse(): raise SystemExit('the key was asked for too early')\n"
        "PapagoProvider(base_url='https://papago.example', client_id=refuse, client_secret=refuse)\n"
        "assert threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
