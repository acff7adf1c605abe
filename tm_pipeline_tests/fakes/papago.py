"""A Papago of our own over real HTTP, with a billing ledger: the oracle of "paid once".

Written from the vendor's documentation and independent of the provider under test: it has its own pair table,
limit and codes. As a server: ``python -m tm_pipeline_tests.fakes.papago --port 8765 --mode ok``.
``GET /_ledger`` tells what was billed; ``POST /_modes`` sets how next calls are answered, by JSON such as
``{"script": ["ok", "500"], "repeat": false}``, ``{"always": "429-quota"}`` or
``{"chances": {"500": 0.1}, "seed": 7}``.
"""

import argparse
import ssl
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tm_pipeline_tests.fakes.papago_gateway import Gateway
from tm_pipeline_tests.fakes.papago_http import Handler, Server

POLL_SECONDS = 0.02  # how soon the server notices that it is asked to stop


class FakePapago(Gateway):
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
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(
            mode=mode,
            calls_per_second=calls_per_second,
            daily_characters=daily_characters,
            latency_seconds=latency_seconds,
            key=key,
        )
        self._server = Server(("127.0.0.1", port), Handler)
        self._server.gateway = self
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop the server; calls that hang are let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


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
    print(f"fake Papago at {fake.base_url}", flush=True)
    with fake:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
