"""The same deadline and the same answers over TLS, which is how the real engine is reached."""

import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tm_pipeline.domain.errors import ProviderTimeoutError, TransientProviderError
from tm_pipeline.providers.papago import PapagoProvider
from tm_pipeline_tests.fakes.papago import FakePapago
from tm_pipeline_tests.unit.providers.conftest import request_for

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    key, cert = path.with_name("key.pem"), path.with_name("cert.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*command, *names, "-keyout", key, "-out", cert], check=True, capture_output=True)
    path.write_text(key.read_text() + cert.read_text())
    return path


@pytest.fixture
def secure_papago(certificate: Path) -> Iterator[FakePapago]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with FakePapago(tls=context) as fake:
        yield fake


@pytest.fixture
def provider(secure_papago: FakePapago) -> Iterator[PapagoProvider]:
    found = PapagoProvider(
        base_url=secure_papago.base_url,
        client_id=lambda: "id",
        client_secret=lambda: "secret",
        timeout_seconds=0.7,
    )
    yield found
    found.close()


def test_a_trusted_certificate_is_accepted(
    secure_papago: FakePapago, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    provider = PapagoProvider(
        base_url=secure_papago.base_url,
        client_id=lambda: "id",
        client_secret=lambda: "secret",
        timeout_seconds=5.0,
    )
    assert provider.translate(request_for("안녕하세요")).outcomes[0].text
    provider.close()


def test_an_unknown_certificate_is_refused_before_the_key_leaves(
    provider: PapagoProvider, secure_papago: FakePapago
) -> None:
    with pytest.raises(TransientProviderError) as caught:
        provider.translate(request_for("안녕하세요"))
    assert caught.value.may_have_been_billed is False
    assert secure_papago.requests() == []


@pytest.mark.parametrize("mode", ["drip", "drip-headers", "timeout"])
def test_the_total_time_out_holds_over_tls(
    provider: PapagoProvider,
    secure_papago: FakePapago,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    secure_papago.script([mode])
    begun = time.monotonic()
    with pytest.raises(ProviderTimeoutError):
        provider.translate(request_for("안녕하세요"))
    assert time.monotonic() - begun < 3.0
