"""The typed ``TM_*`` settings, read once from an environment mapping (README has the same table)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from tm_pipeline.domain.errors import ConfigurationError

T = TypeVar("T")

CALL_MARGIN_SECONDS = 10  # time to record a reply after the longest call, before the lease ends


class Secret:
    """A value that never shows in a log, error, page or ``repr``."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one place that sends it."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its meaning in the README's table; times in the unit of the name."""

    home: Path
    database_url: Secret
    domains_file: Path | None
    provider: str
    papago_base_url: str
    papago_client_id: Secret
    papago_client_secret: Secret
    papago_honorific: bool
    provider_timeout_seconds: float
    provider_max_in_flight: int
    fixed_delay_ms: int
    groups_per_tick: int
    max_retries: int
    backoff_base_seconds: int
    backoff_max_seconds: int
    lease_seconds: int
    backlog_groups: int
    backlog_age_seconds: int
    drain_seconds: int
    automation: bool
    git_url: str
    ui_url: str
    alert_webhook_url: Secret
    failpoints: str

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Settings":
        """Read the settings; raises ``ConfigurationError`` naming the variable, its value and a remedy."""
        home = Path(env.get("TM_HOME") or ".tm_home").expanduser().resolve()
        domains_file = env.get("TM_DOMAINS_FILE", "")
        settings = cls(
            home=home,
            database_url=Secret(env.get("TM_DATABASE_URL") or f"sqlite:///{home / 'tm.db'}"),
            domains_file=Path(domains_file).expanduser() if domains_file else None,
            provider=env.get("TM_PROVIDER") or "pseudo",
            papago_base_url=env.get("TM_PAPAGO_BASE_URL") or "https://papago.apigw.ntruss.com",
            papago_client_id=Secret(env.get("TM_PAPAGO_CLIENT_ID", "")),
            papago_client_secret=Secret(env.get("TM_PAPAGO_CLIENT_SECRET", "")),
            papago_honorific=_flag(env, "TM_PAPAGO_HONORIFIC", default=False),
            provider_timeout_seconds=_number(env, "TM_PROVIDER_TIMEOUT_SECONDS", 10.0, float, minimum=0.1),
            provider_max_in_flight=_number(env, "TM_PROVIDER_MAX_IN_FLIGHT", 4, int, minimum=1),
            fixed_delay_ms=_number(env, "TM_FIXED_DELAY_MS", 600_000, int, minimum=0),
            groups_per_tick=_number(env, "TM_GROUPS_PER_TICK", 5, int, minimum=1),
            max_retries=_number(env, "TM_MAX_RETRIES", 5, int, minimum=1),
            backoff_base_seconds=_number(env, "TM_BACKOFF_BASE_SECONDS", 30, int, minimum=0),
            backoff_max_seconds=_number(env, "TM_BACKOFF_MAX_SECONDS", 3_600, int, minimum=0),
            lease_seconds=_number(env, "TM_LEASE_SECONDS", 120, int, minimum=1),
            backlog_groups=_number(env, "TM_BACKLOG_GROUPS", 50, int, minimum=1),
            backlog_age_seconds=_number(env, "TM_BACKLOG_AGE_SECONDS", 1_800, int, minimum=1),
            drain_seconds=_number(env, "TM_DRAIN_SECONDS", 120, int, minimum=1),
            automation=_flag(env, "TM_AUTOMATION", default=False),
            git_url=env.get("TM_GIT_URL", "").strip(),
            ui_url=env.get("TM_UI_URL", "").strip().rstrip("/"),
            alert_webhook_url=Secret(env.get("TM_ALERT_WEBHOOK_URL", "").strip()),
            failpoints=env.get("TM_FAILPOINTS", ""),
        )
        settings._check_lease()
        return settings

    def secret_values(self) -> tuple[str, ...]:
        """Every value that must not show anywhere, for the masks of what leaves this process."""
        secrets = (self.papago_client_id, self.papago_client_secret, self.alert_webhook_url, self.database_url)
        password = urlsplit(self.database_url.reveal()).password or ""
        return tuple(
            value for value in (*(secret.reveal() for secret in secrets), password, unquote(password)) if value
        )

    def _check_lease(self) -> None:
        shortest = self.provider_timeout_seconds * 1.5
        if self.lease_seconds < shortest:
            raise ConfigurationError(
                f"TM_LEASE_SECONDS is {self.lease_seconds} but one call may take "
                f"{self.provider_timeout_seconds:g} s (TM_PROVIDER_TIMEOUT_SECONDS): a second worker would pay again. "
                f"Set TM_LEASE_SECONDS to at least {shortest:g}."
            )


def _flag(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    raw = env.get(name, "").strip().lower()
    if not raw:
        return default
    if raw in {"on", "true", "1", "yes"}:
        return True
    if raw in {"off", "false", "0", "no"}:
        return False
    raise ConfigurationError(f"{name} is {raw!r}; use on or off.")


def _number(env: Mapping[str, str], name: str, default: T, read: Callable[[str], T], *, minimum: float) -> T:
    raw = env.get(name, "").strip()
    if not raw:
        return default
    kind = "a whole number" if read is int else "a finite number"
    wrong = ConfigurationError(f"{name} is {raw!r}; use {kind} of at least {minimum:g}.")
    try:
        value = read(raw)
    except ValueError as error:
        raise wrong from error
    if not minimum <= float(value) < float("inf"):  # type: ignore[arg-type]
        raise wrong
    return value
