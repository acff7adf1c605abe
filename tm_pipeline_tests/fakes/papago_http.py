"""The HTTP side of the fake Papago: routes, the engine's own checks, and replies good and bad."""

import json
import socket
import struct
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tm_pipeline_tests.fakes.papago_gateway import DETECTION_PATH, TRANSLATION_PATH, Gateway
from tm_pipeline_tests.fakes.papago_modes import BILLED_MODES, ErrorReply, bad_body, named_error, success
from tm_pipeline_tests.fakes.papago_texts import detected, translated

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


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    gateway: Gateway

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault of the server."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep the terminal quiet."""

    def do_GET(self) -> None:
        if self.path == "/_ledger":
            self._json(200, self.server.gateway.report())
        else:
            self._error(ErrorReply(status=404, code="300", message="Not Found"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/_modes":
            self._set_modes(json.loads(body))
            return
        gateway, form = self.server.gateway, self._form(body)
        gateway.arrived(self.path, dict(self.headers.items()), form, self.client_address[1])
        if self.path not in (TRANSLATION_PATH, DETECTION_PATH):
            self._error(ErrorReply(status=404, code="300", message="Not Found"))
            return
        gateway.entered()
        try:
            refused = gateway.refusal(dict(self.headers.items()))
            if refused is not None:
                self._error(refused)
            elif self.path == TRANSLATION_PATH:
                self._translate(form)
            else:
                self._detect(form)
        finally:
            gateway.left()

    def _set_modes(self, wish: Mapping[str, Any]) -> None:
        gateway = self.server.gateway
        try:
            if "always" in wish:
                gateway.always(wish["always"])
            if "script" in wish:
                gateway.script(wish["script"], repeat=bool(wish.get("repeat", False)))
            if "chances" in wish:
                gateway.chances(wish["chances"], seed=int(wish.get("seed", 0)))
        except ValueError as error:
            self._json(400, {"error": str(error)})
        else:
            self._json(200, {"ok": True})

    def _form(self, body: bytes) -> dict[str, str]:
        if self.headers.get_content_type() == "application/json":
            return {name: str(value) for name, value in json.loads(body).items()}
        pairs = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict")
        return {name: values[-1] for name, values in pairs.items()}

    def _translate(self, form: Mapping[str, str]) -> None:
        mode = self.server.gateway.plan.next()
        code = _service_error(form)
        if isinstance(mode, str) and mode in BILLED_MODES and code is not None:
            self._error(ErrorReply(status=400, code=code))
            return
        self._play(mode, form)

    def _detect(self, form: Mapping[str, str]) -> None:
        if not form.get("query"):
            self._error(ErrorReply(status=400, code="LD01"))
        else:
            scripted = self.server.gateway.detections
            self._json(200, scripted.pop(0) if scripted else {"langCode": detected(form["query"])})

    def _play(self, mode: str | ErrorReply, form: Mapping[str, str]) -> None:
        gateway = self.server.gateway
        if isinstance(mode, str) and mode in BILLED_MODES:
            gateway.bill(form)
        if gateway.latency_seconds:
            gateway.closing.wait(gateway.latency_seconds)
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
            self.server.gateway.closing.wait(0.3 if mode == "slow" else 0)
            self._json(200, success(text, source, target))
        elif mode == "redirect":
            self._raw(302, b"", {"location": f"http://{self.headers.get('host')}/elsewhere"})
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
        closing = self.server.gateway.closing
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
            if self.server.gateway.closing.wait(DRIP_SECONDS):
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
