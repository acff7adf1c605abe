"""What an alert says and when it is told: once for a fault, short, without secrets or whole texts (design §12.4)."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

TITLE_CHARACTERS = 200
TEXT_CHARACTERS = 1_000
ERROR_CHARACTERS = 300
QUOTED_CHARACTERS = 60  # a longer quotation may be a whole source text
QUIET = timedelta(hours=1)
MASK = "***"

_QUOTED = re.compile(r"(['\"`“«])([^'\"`“”«»]{60,})(['\"`”»])")
_IN_AN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_NAMED_SECRET = re.compile(
    r"(?i)\b([\w-]*(?:password|passwd|secret|token|api[-_]?key|authorization)[\w-]*\s*[=:]\s*)(?:bearer\s+)?\S+"
)
_UUID = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b", re.IGNORECASE)
_HEX = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.IGNORECASE)
_GROUP = re.compile(r"\b\w+-\d+ → [\w-]+( and \d+ more groups)?")
_NEED = re.compile(r"\bneeds?\b")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class AlertKind(StrEnum):
    """What an alert is about."""

    RUN = "run"
    PROVIDER = "provider"
    CHECK = "check"
    DATABASE = "database"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One fault as it is told. ``key`` is the same for ever, so that a receiver may drop a second delivery."""

    key: str
    kind: AlertKind
    title: str
    text: str
    job: str | None = None
    root_run_id: str | None = None
    error: str | None = None
    url: str | None = None
    held_back: int = 0


def alert_body(alert: Alert, time: datetime) -> dict[str, object]:
    """What is kept and sent: one JSON object, the same fields for every kind."""
    return {
        "key": alert.key,
        "kind": alert.kind.value,
        "title": alert.title,
        "text": alert.text,
        "job": alert.job,
        "root_run_id": alert.root_run_id,
        "error": alert.error,
        "url": alert.url,
        "held_back": alert.held_back,
        "time": time.isoformat(timespec="seconds"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed run: its first error of ours, and how many of its steps failed."""

    job: str
    root_run_id: str
    error_class: str
    error: str
    failed_steps: int = 0


def run_key(root_run_id: str) -> str:
    """The key of a failed run's alert: its chain's, so that a re-execution gives no second one."""
    return f"run:{root_run_id}"


def run_alert(failure: Failure, *, url: str | None = None, secrets: Sequence[str] = ()) -> Alert:
    """The alert of a failed run; one for its whole chain of re-executions."""
    line = safe_line(failure.error, ERROR_CHARACTERS, secrets) or "no error was recorded"
    steps = f"{failure.failed_steps} steps failed. " if failure.failed_steps > 1 else ""
    return Alert(
        key=run_key(failure.root_run_id),
        kind=AlertKind.RUN,
        title=one_line(f"{failure.job} failed: {line}", TITLE_CHARACTERS),
        text=f"{steps}Open the run, correct the cause, then re-execute it from failure.",
        job=failure.job,
        root_run_id=failure.root_run_id,
        error=line,
        url=url,
    )


def run_fault(failure: Failure) -> str:
    """The same for every run that fails for the same reason: job, class and first line without numbers and ids."""
    line = failure.error.split("\n", 1)[0]
    for pattern in (_UUID, _GROUP, _HEX, _NUMBER):
        line = pattern.sub("#", line)
    return fault("run", failure.job, failure.error_class, _NEED.sub("need", line))


def fault(*parts: str) -> str:
    """A short key of what makes faults the same."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def provider_alert(provider: str, reason: str | None, opened_at: datetime | None, secrets: Sequence[str] = ()) -> Alert:
    """The alert of an opened circuit; one for each opening."""
    why = safe_line(reason or "no reason was recorded", ERROR_CHARACTERS, secrets)
    return Alert(
        key=f"provider:{provider}:{opened_at.isoformat() if opened_at else 'unknown'}",
        kind=AlertKind.PROVIDER,
        title=one_line(f"{provider} is stopped: {why}", TITLE_CHARACTERS),
        text="No call is made and nothing is spent until a person resumes it: correct quota, key or host, then "
        "launch resume_provider. What is due waits; jobs in NEEDS_CREDENTIAL become due again by that.",
        error=why,
    )


def check_alert(asset: str, check: str, since: str, description: str | None, secrets: Sequence[str] = ()) -> Alert:
    """The alert of a failed check; ``since`` is the same until the check has passed once."""
    why = safe_line(description or "no description", ERROR_CHARACTERS, secrets)
    return Alert(
        key=f"check:{asset}:{check}:{since}"[:191],
        kind=AlertKind.CHECK,
        title=one_line(f"check {check} of {asset} failed: {why}", TITLE_CHARACTERS),
        text="Open the check on the asset's page: its description says what to do. It is told once until it passes.",
        error=why,
    )


def database_alert(error: str, secrets: Sequence[str] = ()) -> Alert:
    """The alert of a database that does not answer: the one that cannot be booked."""
    why = safe_line(error, ERROR_CHARACTERS, secrets)
    return Alert(
        key="database",
        kind=AlertKind.DATABASE,
        title=one_line(f"the pipeline's database does not answer: {why}", TITLE_CHARACTERS),
        text="Nothing is translated until it answers. Told again after an hour; failed runs are told when it is back.",
        error=why,
    )


def with_held_back(alert: Alert, held_back: int) -> Alert:
    """``alert`` saying how many like it were not told."""
    if not held_back:
        return alert
    said = f"{held_back} more runs failed for the same reason since the last alert. {alert.text}"
    fields: Mapping[str, object] = {"text": said[:TEXT_CHARACTERS], "held_back": held_back}
    return Alert(**{name: getattr(alert, name) for name in Alert.__slots__} | dict(fields))


def is_quiet(now: datetime, last_told: datetime | None, quiet: timedelta = QUIET) -> bool:
    """Whether the same fault was told so short a time ago that it is held back.

    A last time further in the future than ``quiet`` comes from a clock that stepped back; it holds nothing back.
    """
    return last_told is not None and -quiet < now - last_told < quiet


def safe_line(text: str, limit: int, secrets: Sequence[str] = ()) -> str:
    """The first line of ``text`` without secrets and long quotations, at most ``limit`` characters."""
    line = one_line(text.split("\n", 1)[0], 10 * limit)
    for secret in sorted((value for value in secrets if len(value) > 3), key=len, reverse=True):
        line = line.replace(secret, MASK)
    line = _IN_AN_ADDRESS.sub(MASK, line)
    line = _NAMED_SECRET.sub(lambda found: f"{found[1]}{MASK}", line)
    line = _QUOTED.sub(lambda found: f"{found[1]}{found[2][: QUOTED_CHARACTERS // 3]}…{found[3]}", line)
    return one_line(line, limit)


def one_line(text: str, limit: int) -> str:
    """``text`` on one line of at most ``limit`` characters, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 10 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
