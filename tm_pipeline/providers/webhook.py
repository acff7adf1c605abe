"""Alerts to a webhook: one JSON object by POST. The address is a secret: whoever knows it can post there."""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from tm_pipeline.domain.errors import AlertDeliveryError, ConfigurationError, ProviderError, ProviderTimeoutError
from tm_pipeline.providers.http import HttpExchange

TIMEOUT_SECONDS = 5.0
SERVICE = "alert webhook"


class WebhookSink:
    """POSTs each alert; any answer of 200 to 299 means that it was taken."""

    def __init__(self, *, url: Callable[[], str], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._url = url
        base, _ = _split(url())
        self._timeout = timeout_seconds
        self._http = HttpExchange(service=SERVICE, base_url=base, timeout_seconds=timeout_seconds)

    def send(self, alert: Mapping[str, object]) -> None:
        """Deliver one alert; raises ``AlertDeliveryError`` whose message holds neither address nor reply."""
        _, path = _split(self._url())
        reason = ""
        try:
            reply = self._http.post_json(path, alert, {})
        except ProviderTimeoutError:
            reason = f"no complete reply within {self._timeout:g} s; it may have arrived"
        except ProviderError as error:
            reason = f"the request failed ({type(error).__name__})"
        else:
            if 200 <= reply.status < 300:
                return
            reason = f"it answered {reply.describe()}"
        # Raised outside the handler: the cause would carry the request with its address along.
        raise AlertDeliveryError(
            f"{SERVICE}: {reason}. The alert is kept and sent again; check TM_ALERT_WEBHOOK_URL and its receiver."
        )


def _split(url: str) -> tuple[str, str]:
    """Host and path of ``url``; raises ``ConfigurationError`` without naming it."""
    problem = ConfigurationError(
        "TM_ALERT_WEBHOOK_URL must be an http:// or https:// address with a host, without user and password."
    )
    try:
        parts = urlsplit(url)
        wrong = parts.username is not None or parts.password is not None or (parts.port or 1) < 1
    except ValueError:
        raise problem from None
    if parts.scheme not in ("http", "https") or not parts.hostname or wrong or set(url) & set(" \t\r\n\\"):
        raise problem
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}", f"{parts.path or '/'}{query}"
