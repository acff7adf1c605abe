"""A receiver of alerts on a real socket: keeps what it was sent, and answers as told."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

HANG_SECONDS = 30.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.hangs = threading.Event()
        self.released = threading.Event()
        self.received: list[tuple[str, str, Any]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault of the receiver."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep the terminal quiet."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        kind = self.headers.get("content-type", "")
        self.server.received.append((self.path, kind, json.loads(body)))
        if self.server.hangs.is_set():
            self.server.released.wait(HANG_SECONDS)
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()


class WebhookReceiver:
    """Use as a context manager; ``received`` holds (path, content type, object)."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def received(self) -> list[tuple[str, str, Any]]:
        return self._server.received

    def answer(self, status: int) -> None:
        self._server.status = status

    def hang(self) -> None:
        self._server.hangs.set()
