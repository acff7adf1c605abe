"""A Papago of our own over real HTTP, with a billing ledger: the oracle of "paid once".

Written from the vendor's documentation and independent of the provider under test: it has its own pair table,
limit and codes. As a server: ``python -m tm_pipeline_tests.fakes.papago --port 8765 --mode ok``.
``GET /_ledger`` tells what was billed, ``POST /_modes`` sets how the next calls are answered, with JSON such as ``{"script": ["ok", "500"], "repeat": false}``, ``{"always": "429-quota"}`` or
``{"chances": {"500": 0.1}, "seed": 7}``.
"""

import argparse
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from tm_pipeline_tests.fakes.papago_modes import (
    BILLED_MODES,
    ErrorReply,
    Script,
    bad_body,
    named_error,
    success,
)
from tm_pipeline_tests.fakes.papago_texts import detected, translated

TRANSLATION_PATH, DETECTION_PATH = "/nmt/v1/translation", "/langs/v1/dect"
LIMIT = 5_000
PARTNERS = {
    "ko": ["en", "ja", "zh-CN", "zh-TW", "vi", "th", "id", "fr", "es", "ru", "de", "it"],
    "en": ["ja", "zh-CN", "zh-TW", "vi", "th", "id", "fr", "es", "ru", "de"],
    "ja": ["zh-CN", "zh-TW", "vi", "th", "id", "fr"],
    "zh-CN": ["zh-TW"],
}
CODES = frozenset({*PARTNERS, *PARTNERS["ko"]})
PAIRS = frozenset(pair for a, others in PARTNERS.items() for b in others for pair in ((a, b), (b, a)))
HANG_SECONDS = 30.0
DRIP_SECONDS = 0.2


class FakePapago:
    """The server in this process; a context manager."""

    def __init__(
        self,
        *,
        port: int = 0,
        mode: str = "ok",
        calls_per_second: float | None = None,
        daily_characters: int | None = None,
        latency_seconds: float = 0.0,
        key: tuple[str, str] | None = None,
    ) -> None:
        self.plan = Script(mode)
        self.latency_seconds = latency_seconds
        self.closing = threading.Event()
        self._calls_per_second = calls_per_second
        self._daily_characters = daily_characters
        self._key = key
        self._lock = threading.Lock()
        self._ledger: list[dict[str, Any]] = []
        self._requests: list[dict[str, Any]] = []
        self._recent: list[float] = []
        self._running = 0
        self._most_running = 0
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, modes: Sequence[str | ErrorReply], *, repeat: bool = False) -> None:
        """Answer the next calls in these ways, then in the standing one."""
        self.plan.script(modes, repeat=repeat)

    def always(self, mode: str) -> None:
        """Answer every call in this way from now on."""
        self.plan.always(mode)

    def chances(self, chances: Mapping[str, float], *, seed: int = 0) -> None:
        """Answer a share of the calls in each of these ways."""
        self.plan.chances(chances, seed=seed)

    def ledger(self) -> list[dict[str, Any]]:
        """What was billed, in order: source, target, text, characters, honorific."""
        with self._lock:
            return list(self._ledger)

    def requests(self) -> list[dict[str, Any]]:
        """Every translation and detection request: path, headers, form."""
        with self._lock:
            return list(self._requests)

    def requests_seen(self) -> int:
        """How many translation requests arrived, billed or not."""
        return sum(request["path"] == TRANSLATION_PATH for request in self.requests())

    def most_at_once(self) -> int:
        """The largest number of translation requests served at the same time."""
        with self._lock:
            return self._most_running

    def report(self) -> dict[str, Any]:
        """The ledger with its sums, as ``GET /_ledger`` shows it."""
        rows = self.ledger()
        texts = Counter((row["source"], row["target"], row["text"], row["honorific"]) for row in rows)
        return {
            "calls": rows,
            "billed_calls": len(rows),
            "billed_characters": sum(row["characters"] for row in rows),
            "billed_twice": sum(count - 1 for count in texts.values()),
            "requests": self.requests_seen(),
            "most_at_once": self.most_at_once(),
        }

    def close(self) -> None:
        """Stop the server; calls that hang are let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def arrived(self, path: str, headers: Mapping[str, str], form: Mapping[str, str]) -> None:
        lowered = {name.lower(): value for name, value in headers.items()}
        with self._lock:
            self._requests.append({"path": path, "headers": lowered, "form": dict(form)})

    def entered(self) -> None:
        with self._lock:
            self._running += 1
            self._most_running = max(self._most_running, self._running)

    def left(self) -> None:
        with self._lock:
            self._running -= 1

    def refusal(self, headers: Mapping[str, str]) -> ErrorReply | None:
        """What the gateway says before the engine sees the call."""
        lowered = {name.lower(): value for name, value in headers.items()}
        given = (lowered.get("x-ncp-apigw-api-key-id"), lowered.get("x-ncp-apigw-api-key"))
        if not all(given) or (self._key is not None and given != self._key):
            return ErrorReply(status=401, code="200", message="Authentication Failed")
        with self._lock:
            now = time.monotonic()
            self._recent = [moment for moment in self._recent if moment > now - 1]
            if self._calls_per_second is not None and len(self._recent) >= self._calls_per_second:
                return ErrorReply(status=429, code="410", message="Throttle Limited")
            used = sum(row["characters"] for row in self._ledger)
            # The call that crosses the limit is still served and billed.
            if self._daily_characters is not None and used >= self._daily_characters:
                return ErrorReply(status=429, code="400", message="Quota Exceeded")
            self._recent.append(now)
        return None

    def bill(self, form: Mapping[str, str]) -> None:
        row = {
            "source": form["source"],
            "target": form["target"],
            "text": form["text"],
            "characters": len(form["text"]),
            "honorific": form.get("honorific", "false").lower() == "true",
        }
        with self._lock:
            self._ledger.append(row)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakePapago

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep the terminal quiet."""

    def do_GET(self) -> None:
        if self.path == "/_ledger":
            self._json(200, self.server.fake.report())
        else:
            self._error(ErrorReply(status=404, code="300", message="Not Found"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/_modes":
            self._set_modes(json.loads(body))
            return
        fake, form = self.server.fake, self._form(body)
        fake.arrived(self.path, dict(self.headers.items()), form)
        if self.path not in (TRANSLATION_PATH, DETECTION_PATH):
            self._error(ErrorReply(status=404, code="300", message="Not Found"))
            return
        fake.entered()
        try:
            refused = fake.refusal(dict(self.headers.items()))
            if refused is not None:
                self._error(refused)
            elif self.path == TRANSLATION_PATH:
                self._translate(form)
            else:
                self._detect(form)
        finally:
            fake.left()

    def _set_modes(self, wish: Mapping[str, Any]) -> None:
        fake = self.server.fake
        try:
            if "always" in wish:
                fake.always(wish["always"])
            if "script" in wish:
                fake.script(wish["script"], repeat=bool(wish.get("repeat", False)))
            if "chances" in wish:
                fake.chances(wish["chances"], seed=int(wish.get("seed", 0)))
        except ValueError as error:
            self._json(400, {"error": str(error)})
        else:
            self._json(200, {"ok": True})

    def _form(self, body: bytes) -> dict[str, str]:
        if self.headers.get_content_type() == "application/json":
            return {name: str(value) for name, value in json.loads(body).items()}
        pairs = parse_qs(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict"
        )
        return {name: values[-1] for name, values in pairs.items()}

    def _translate(self, form: Mapping[str, str]) -> None:
        mode = self.server.fake.plan.next()
        code = _service_error(form)
        if isinstance(mode, str) and mode in BILLED_MODES and code is not None:
            self._error(ErrorReply(status=400, code=code))
            return
        self._play(mode, form)

    def _detect(self, form: Mapping[str, str]) -> None:
        if not form.get("query"):
            self._error(ErrorReply(status=400, code="LD01"))
        else:
            self._json(200, {"langCode": detected(form["query"])})

    def _play(self, mode: str | ErrorReply, form: Mapping[str, str]) -> None:
        fake = self.server.fake
        if isinstance(mode, str) and mode in BILLED_MODES:
            fake.bill(form)
        if fake.latency_seconds:
            fake.closing.wait(fake.latency_seconds)
        error = mode if isinstance(mode, ErrorReply) else named_error(mode)
        if error is not None:
            self._error(error)
            return
        source = detected(form["text"]) if form.get("source") == "auto" else form.get("source", "")
        target = form.get("target", "")
        text = translated(form.get("text", ""), target, honorific=form.get("honorific") == "true")
        self._play_named(str(mode), text, source, target)

    def _play_named(self, mode: str, text: str, source: str, target: str) -> None:
        if mode in ("ok", "slow"):
            self.server.fake.closing.wait(0.3 if mode == "slow" else 0)
            self._json(200, success(text, source, target))
        elif mode == "redirect":
            self._raw(302, b"", {"location": f"{self.server.fake.base_url}/elsewhere"})
        elif mode in ("429-html", "500-html"):
            self._raw(int(mode[:3]), b"<html>busy</html>", {"content-type": "text/html"})
        elif mode == "429-empty":
            self._raw(429, b"", {})
        elif mode in ("timeout", "cut", "reset", "drip", "drip-headers", "endless"):
            self._break(mode, json.dumps(success(text, source, target)).encode())
        else:
            body, headers = bad_body(mode, text, source, target)
            self._raw(200, body, headers)

    def _break(self, mode: str, body: bytes) -> None:
        """Never give the complete reply, each mode in its own way; then close the connection."""
        self.close_connection = True
        closing = self.server.fake.closing
        if mode == "timeout":
            closing.wait(HANG_SECONDS)
        elif mode == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif mode == "drip-headers":
            self._drip(b"HTTP/1.1 200 OK\r\n" + b"x-slow: 1\r\n" * 1_000)
        elif mode == "drip":
            self._head(200, len(body) + 10_000, {})
            self._drip(body + b" " * 10_000)
        elif mode == "endless":
            self._head(200, None, {})
            while not closing.is_set():
                self.wfile.write(b" " * 65_536)
        else:
            self._head(200, len(body), {})
            self.wfile.write(body[: len(body) // 2])

    def _drip(self, data: bytes) -> None:
        for at in range(len(data)):
            self.wfile.write(data[at : at + 1])
            if self.server.fake.closing.wait(DRIP_SECONDS):
                return

    def _error(self, error: ErrorReply) -> None:
        self._raw(error.status, error.body(), dict(error.headers))

    def _json(self, status: int, body: object) -> None:
        self._raw(status, json.dumps(body, ensure_ascii=False).encode(), {})

    def _raw(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int | None, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json; charset=UTF-8", **headers}.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("content-length", str(length))
        self.end_headers()


def _service_error(form: Mapping[str, str]) -> str | None:
    source, target, text = form.get("source"), form.get("target"), form.get("text")
    checks = (
        (not source, "N2MT01"),
        (source not in CODES | {"auto"}, "N2MT02"),
        (not target, "N2MT03"),
        (target not in CODES, "N2MT04"),
        (source == target, "N2MT05"),
        (source != "auto" and (source, target) not in PAIRS, "N2MT06"),
        (not text or not text.strip(), "N2MT07"),
        (len(text or "") > LIMIT, "N2MT08"),
        (source == "auto" and detected(text or "") == "unk", "N2MT09"),
    )
    return next((code for failed, code in checks if failed), None)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A fake Papago with a billing ledger, on 127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--mode", default="ok")
    parser.add_argument("--calls-per-second", type=float, default=None)
    parser.add_argument("--daily-characters", type=int, default=None)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    options = parser.parse_args(arguments)
    fake = FakePapago(
        port=options.port,
        mode=options.mode,
        calls_per_second=options.calls_per_second,
        daily_characters=options.daily_characters,
        latency_seconds=options.latency_ms / 1_000,
    )
    print(f"fake Papago at {fake.base_url}", flush=True)  # noqa: T201 - its only output
    with fake:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
