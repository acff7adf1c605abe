"""One HTTP exchange with a total deadline, a size limit and errors without secrets or bodies.

The deadline bounds every read and write of the connection, so that a body or a header that drips in byte by
byte cannot outlast it; only the name look-up before a connection is bounded by the system's resolver instead.
"""

import re
import ssl
import threading
import time
import weakref
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpcore
import httpx

from tm_pipeline.domain.errors import (
    ConfigurationError,
    ProtocolError,
    ProviderError,
    ProviderMisconfiguredError,
    ProviderTimeoutError,
    TransientProviderError,
)

MAX_REPLY_BYTES = 1 << 20
KEEP_ALIVE_SECONDS = 5.0  # shorter than any gateway's, so that no request meets a connection just closed
MAX_CONNECTIONS = 32

_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[a-z.+-]{1,30}")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_UNUSABLE_URL = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
_WINDOW_BITS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A complete reply; ``body`` is decompressed, ``headers`` look names up without regard to case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def describe(self) -> str:
        """Status, type and size, for a message; never the body."""
        kind = _MEDIA_TYPE.match(self.headers.get("content-type", "").lower())
        return f"HTTP {self.status} with {len(self.body)} bytes of {kind[0] if kind else 'no known type'}"


class _ReplyTooLargeError(Exception):
    """More bytes than a reply may have."""


class _UnreadableEncodingError(Exception):
    """The content encoding is unknown or its stream is damaged."""


class HttpExchange:
    """POSTs forms and JSON to one host; thread-safe, connects at the first use, never redirects, retries or sleeps."""

    def __init__(self, *, service: str, base_url: str, timeout_seconds: float) -> None:
        self._service = service
        self._base_url = checked_base_url(base_url)
        self._timeout = timeout_seconds
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post_form(self, path: str, form: Mapping[str, str], headers: Mapping[str, str]) -> HttpReply:
        """Send one form and read the whole reply; raises a ``ProviderError`` that names no body or header."""
        return self._post(path, {"data": form}, headers)

    def post_json(self, path: str, document: Mapping[str, object], headers: Mapping[str, str]) -> HttpReply:
        """Send one JSON object and read the whole reply; raises as ``post_form`` does."""
        return self._post(path, {"json": document}, headers)

    def _post(self, path: str, content: Mapping[str, Any], headers: Mapping[str, str]) -> HttpReply:
        error: ProviderError
        client = self._connected()  # loading the trusted certificates takes none of the exchange's time
        _deadline.set(time.monotonic() + self._timeout)
        try:
            return self._exchange(client, path, content, headers)
        except _ReplyTooLargeError:
            error = ProtocolError(
                f"{self._service}: the reply is larger than {MAX_REPLY_BYTES:,} bytes and was not read.",
                may_have_been_billed=True,
            )
        except _UnreadableEncodingError:
            error = ProtocolError(
                f"{self._service}: the reply's compression could not be read.", may_have_been_billed=True
            )
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            error = self._classify(failure)
        finally:
            _deadline.clear()
        # Raised outside the handler: the cause would carry the request with its key along.
        raise error

    def close(self) -> None:
        """Close idle connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _exchange(
        self, client: httpx.Client, path: str, content: Mapping[str, Any], headers: Mapping[str, str]
    ) -> HttpReply:
        request_headers = {"accept": "application/json", "accept-encoding": "identity", **headers}
        url = f"{self._base_url}{path}"
        with client.stream("POST", url, headers=request_headers, **content) as response:
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            body = _read_capped(response.iter_raw(), encoding)
            return HttpReply(status=response.status_code, headers=response.headers, body=body)

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    transport=_DeadlineTransport(),
                    timeout=self._timeout,
                    follow_redirects=False,
                    headers={"user-agent": "tm-pipeline"},
                )
                weakref.finalize(self, self._client.close)
            return self._client

    def _classify(self, failure: httpx.HTTPError | httpx.InvalidURL) -> ProviderError:
        cause = type(failure).__name__
        if isinstance(failure, _UNUSABLE_URL):
            return ProviderMisconfiguredError(
                f"{self._service}: no request can be made from this address and key ({cause}); "
                "check the base URL and the credentials."
            )
        if isinstance(failure, _NOT_SENT):
            return TransientProviderError(f"{self._service}: no connection ({cause}); nothing was sent.")
        if isinstance(failure, httpx.TimeoutException):
            return ProviderTimeoutError(
                f"{self._service}: no complete reply within {self._timeout:g} s; it may have been billed.",
                may_have_been_billed=True,
            )
        return TransientProviderError(
            f"{self._service}: the connection broke before the reply was whole ({cause}); it may be billed.",
            may_have_been_billed=True,
        )


def checked_base_url(base_url: str) -> str:
    """``base_url`` without its last slash; raises ``ConfigurationError`` where it is no plain address."""
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        url = httpx.URL()
    plain = not (url.userinfo or url.query or url.fragment or set(base_url.strip()) & set(" \t\r\n\\"))
    if url.scheme not in ("http", "https") or not url.host or not plain:
        # The address itself stays out of the message: what is wrong with it may be a password inside.
        raise ConfigurationError(
            "The provider's base URL must be http:// or https:// with a host and at most a path after it, "
            "such as https://papago.apigw.ntruss.com"
        )
    return str(url).rstrip("/")


def printable(text: str, limit: int = 200) -> str:
    """``text`` on one line of at most ``limit`` characters, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _read_capped(chunks: Iterable[bytes], encoding: str) -> bytes:
    if encoding in ("", "identity"):
        decode = None
    elif encoding in _WINDOW_BITS:
        decode = zlib.decompressobj(_WINDOW_BITS[encoding])
    else:
        raise _UnreadableEncodingError
    body = bytearray()
    for chunk in chunks:
        try:
            body += chunk if decode is None else decode.decompress(chunk, MAX_REPLY_BYTES + 1 - len(body))
        except zlib.error:
            raise _UnreadableEncodingError from None
        if len(body) > MAX_REPLY_BYTES:
            raise _ReplyTooLargeError
    if decode is not None and not decode.eof:
        raise _UnreadableEncodingError
    return bytes(body)


class _Deadline(threading.local):
    """The moment at which this thread's exchange must be over."""

    at: float | None = None

    def set(self, at: float) -> None:
        self.at = at

    def clear(self) -> None:
        self.at = None

    def remaining(self, asked: float | None, error: type[httpcore.TimeoutException]) -> float | None:
        if self.at is None:
            return asked
        left = self.at - time.monotonic()
        if left <= 0:
            raise error("total time-out")
        return left


_deadline = _Deadline()


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _deadline.remaining(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _deadline.remaining(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _deadline.remaining(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _DeadlineBackend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = _deadline.remaining(timeout, httpcore.ConnectTimeout)
        connect = partial(self._inner.connect_tcp, host, port, left, local_address)
        return _DeadlineStream(connect(socket_options=socket_options))


class _DeadlineTransport(httpx.HTTPTransport):
    """httpx's own transport over a pool whose connections obey the exchange's deadline."""

    def __init__(self) -> None:
        trust = httpx.create_ssl_context()
        super().__init__(verify=trust)
        self._pool = httpcore.ConnectionPool(
            ssl_context=trust,
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=_DeadlineBackend(),
        )
