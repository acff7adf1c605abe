"""The state of the fake Papago: its ledger, its limits and its plan for the next calls."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tm_pipeline_tests.fakes.papago_modes import ErrorReply, Script

TRANSLATION_PATH, DETECTION_PATH = "/nmt/v1/translation", "/langs/v1/dect"


class Gateway:
    """What the fake knows and counts; the request handlers and the tests share it."""

    def __init__(
        self,
        *,
        mode: str = "ok",
        calls_per_second: float | None = None,
        daily_characters: int | None = None,
        latency_seconds: float = 0.0,
        key: tuple[str, str] | None = None,
    ) -> None:
        self.plan = Script(mode)
        self.latency_seconds = latency_seconds
        self.closing = threading.Event()
        self.detections: list[object] = []  # what the next detections answer instead
        self._calls_per_second = calls_per_second
        self._daily_characters = daily_characters
        self._key = key
        self._lock = threading.Lock()
        self._ledger: list[dict[str, Any]] = []
        self._requests: list[dict[str, Any]] = []
        self._recent: list[float] = []
        self._running = 0
        self._most_running = 0

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
        """Every translation and detection request: path, headers, form, the client's port."""
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

    def arrived(self, path: str, headers: Mapping[str, str], form: Mapping[str, str], port: int) -> None:
        lowered = {name.lower(): value for name, value in headers.items()}
        with self._lock:
            self._requests.append({"path": path, "headers": lowered, "form": dict(form), "port": port})

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
