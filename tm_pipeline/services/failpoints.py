"""Crash points for fault tests: ``TM_FAILPOINTS=name:kill|stop|raise@n`` (design §14).

Nothing is armed in production: ``arm`` is called by ``wiring`` with the setting, which is empty there.
"""

import os
import signal
from collections import Counter

from tm_pipeline.domain.errors import ConfigurationError

_armed: dict[str, tuple[str, int]] = {}
_hits: Counter[str] = Counter()


class FailpointError(RuntimeError):
    """Raised by an armed ``raise`` crash point."""


def arm(setting: str) -> None:
    """Arm the crash points of a setting such as ``after_claim:kill@3,before_record:raise@1``."""
    _armed.clear()
    _hits.clear()
    for part in filter(None, (piece.strip() for piece in setting.split(","))):
        name, _, action = part.partition(":")
        verb, _, count = action.partition("@")
        if verb not in {"kill", "stop", "raise"} or not (count or "1").isdigit():
            raise ConfigurationError(f"TM_FAILPOINTS: {part!r}; use name:kill|stop|raise@n.")
        _armed[name] = (verb, int(count or "1"))


def failpoint(name: str) -> None:
    """Do what is armed for ``name`` at its n-th passing; nothing otherwise."""
    if name not in _armed:
        return
    verb, count = _armed[name]
    _hits[name] += 1
    if _hits[name] != count:
        return
    if verb == "raise":
        raise FailpointError(f"crash point {name} reached")
    os.kill(os.getpid(), signal.SIGKILL if verb == "kill" else signal.SIGSTOP)
