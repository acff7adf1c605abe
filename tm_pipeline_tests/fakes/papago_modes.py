"""How the fake Papago answers one call: well, badly, late, or not at all."""

import functools
import gzip
import json
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NAMED_ERRORS: Mapping[str, tuple[int, str]] = {
    "400": (400, "100"),
    "401": (401, "200"),
    "401-permission": (401, "210"),
    "404": (404, "300"),
    "413": (413, "430"),
    "429-quota": (429, "400"),
    "429-throttle": (429, "410"),
    "429-rate": (429, "420"),
    "500": (500, "900"),
    "503": (503, "500"),
    "504": (504, "510"),
    "n2mt99": (500, "N2MT99"),
    "ld99": (500, "LD99"),
}
BILLED_MODES = frozenset(
    {
        "ok", "slow", "timeout", "cut", "garbage", "html200", "empty", "null", "number", "missing",
        "huge", "endless", "drip", "drip-headers", "gzip", "gzip-bomb", "zstd", "charset", "utf16",
        "duplicate", "surrogate", "error200", "wrong-shape", "truncated", "deep", "nan",
        "detected-uppercase",
    }
)  # fmt: skip
UNBILLED_MODES = frozenset({"redirect", "429-html", "429-empty", "500-html", "reset", *NAMED_ERRORS})


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReply:
    """An error body in one of the three shapes ``ncp``, ``flat``, ``full``."""

    status: int
    code: str | int
    shape: str = "ncp"
    message: str = "refused"
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        inner = {"errorCode": self.code, "message": self.message}
        shapes: dict[str, object] = {
            "ncp": {"error": inner},
            "flat": {"errorCode": self.code, "errorMessage": self.message},
            "full": {"error": {**inner, "detail": None, "fieldErrors": []}},
        }
        return json.dumps(shapes[self.shape], ensure_ascii=False).encode()


def named_error(mode: str) -> ErrorReply | None:
    """``500``, ``n2mt06`` … or ``http:STATUS:CODE[:shape]``; None where the mode is no error reply."""
    if mode.startswith("http:"):
        _, status, code, *shape = mode.split(":")
        return ErrorReply(status=int(status), code=code, shape=shape[0] if shape else "ncp")
    if mode in NAMED_ERRORS:
        status_code, error_code = NAMED_ERRORS[mode]
        return ErrorReply(status=status_code, code=error_code)
    if mode.startswith("n2mt") and mode[4:].isdigit():
        return ErrorReply(status=400, code=mode.upper())
    return None


def check_mode(mode: str) -> str:
    """``mode`` itself; ``ValueError`` where it is unknown."""
    if mode in BILLED_MODES or mode in UNBILLED_MODES or named_error(mode) is not None:
        return mode
    raise ValueError(f"unknown mode {mode!r}")


class Script:
    """Which mode the next call gets: the script first, then chance, then the standing mode."""

    def __init__(self, mode: str = "ok") -> None:
        self._lock = threading.Lock()
        self._always = check_mode(mode)
        self._queue: list[str | ErrorReply] = []
        self._repeat: list[str | ErrorReply] = []
        self._chances: dict[str, float] = {}
        self._random = random.Random(0)

    def always(self, mode: str) -> None:
        with self._lock:
            self._always, self._queue, self._repeat, self._chances = check_mode(mode), [], [], {}

    def script(self, modes: Sequence[str | ErrorReply], *, repeat: bool = False) -> None:
        checked = [mode if isinstance(mode, ErrorReply) else check_mode(mode) for mode in modes]
        with self._lock:
            self._queue, self._repeat = list(checked), list(checked) if repeat else []

    def chances(self, chances: Mapping[str, float], *, seed: int = 0) -> None:
        checked = {check_mode(mode): share for mode, share in chances.items()}
        with self._lock:
            self._chances, self._random = checked, random.Random(seed)

    def next(self) -> str | ErrorReply:
        with self._lock:
            if not self._queue:
                self._queue = list(self._repeat)
            if self._queue:
                return self._queue.pop(0)
            drawn = self._random.random() if self._chances else 1.0
            for mode, share in self._chances.items():
                drawn -= share
                if drawn < 0:
                    return mode
            return self._always


def success(text: object, source: str, target: str) -> dict[str, object]:
    result = {"srcLangType": source, "tarLangType": target, "translatedText": text}
    return {
        "message": {
            "@type": "response",
            "@service": "naverservice.nmt.proxy",
            "@version": "1",
            "result": result,
        }
    }


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(b"[" * (64 << 20))


def bad_body(mode: str, text: str, source: str, target: str) -> tuple[bytes, dict[str, str]]:
    """The body and headers of a 200 that is wrong in the way of ``mode``."""
    good = json.dumps(success(text, source, target), ensure_ascii=False).encode()
    nothing = {"empty": "", "null": None, "number": 7, "surrogate": "a\ud83d"}
    if mode in nothing:
        return json.dumps(success(nothing[mode], source, target)).encode(), {}
    bodies: dict[str, tuple[bytes, dict[str, str]]] = {
        "missing": (b'{"message": {"result": {"srcLangType": "ko"}}}', {}),
        "garbage": (b"\x00\xff\xfe not json", {}),
        "html200": (b"<html><body>It works</body></html>", {"content-type": "text/html"}),
        "huge": (json.dumps(success("a" * (2 << 20), source, target)).encode(), {}),
        "gzip": (gzip.compress(good), {"content-encoding": "gzip"}),
        "gzip-bomb": (_bomb() if mode == "gzip-bomb" else b"", {"content-encoding": "gzip"}),
        "zstd": (good, {"content-encoding": "zstd"}),
        "charset": (
            json.dumps(success("번역", source, target), ensure_ascii=False).encode("euc-kr"),
            {"content-type": "application/json; charset=euc-kr"},
        ),
        "utf16": (good.decode().encode("utf-16"), {"content-type": "application/json; charset=utf-16"}),
        "duplicate": (
            good.replace(b'"translatedText":', b'"translatedText": "other", "translatedText":'),
            {},
        ),
        "error200": (ErrorReply(status=200, code="N2MT99").body(), {}),
        "wrong-shape": (json.dumps({"message": [text]}).encode(), {}),
        "truncated": (good[:-3], {}),
        "deep": (b"[" * 100_000, {}),
        "nan": (b'{"message": {"result": {"translatedText": NaN}}}', {}),
        "detected-uppercase": (json.dumps(success(text, "KO", target)).encode(), {}),
    }
    return bodies[mode]
