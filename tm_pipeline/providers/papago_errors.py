"""What Papago's statuses and codes mean: three error shapes, and the pair (HTTP status, code) decides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from tm_pipeline.domain.errors import (
    ContentRefusedError,
    CredentialRejectedError,
    InvalidInputError,
    LanguageUndeterminedError,
    ProtocolError,
    ProviderError,
    ProviderMisconfiguredError,
    QuotaExhaustedError,
    RateLimitedError,
    TransientProviderError,
    UnsupportedPairError,
)
from tm_pipeline.providers.http import HttpReply
from tm_pipeline.providers.retry_after import retry_after_seconds

SAME_LANGUAGE = "N2MT05"

# Errors of one text; anything else fails the whole call and would meet the next text too.
ITEM_ERRORS = (InvalidInputError, UnsupportedPairError, LanguageUndeterminedError, ContentRefusedError)

_SERVICE_CODES: Mapping[str, type[ProviderError]] = {
    "N2MT01": InvalidInputError,
    "N2MT02": UnsupportedPairError,
    "N2MT03": InvalidInputError,
    "N2MT04": UnsupportedPairError,
    "N2MT06": UnsupportedPairError,
    "N2MT07": InvalidInputError,
    "N2MT08": InvalidInputError,
    "N2MT09": LanguageUndeterminedError,
    "N2MT10": ProviderMisconfiguredError,
    "N2MT99": TransientProviderError,
    "LD01": InvalidInputError,
    "LD99": TransientProviderError,
}
_GATEWAY_CODES: Mapping[tuple[int, str], type[ProviderError]] = {
    (400, "100"): InvalidInputError,
    (401, "200"): CredentialRejectedError,
    (401, "210"): CredentialRejectedError,
    (404, "300"): ProviderMisconfiguredError,
    (413, "430"): InvalidInputError,
    (429, "400"): QuotaExhaustedError,
    (429, "410"): RateLimitedError,
    (429, "420"): RateLimitedError,
    (500, "900"): TransientProviderError,
    (503, "500"): TransientProviderError,
    (504, "510"): TransientProviderError,
}
_STATUSES: Mapping[int, type[ProviderError]] = {
    400: InvalidInputError,
    401: CredentialRejectedError,
    403: CredentialRejectedError,
    404: ProviderMisconfiguredError,
    405: ProviderMisconfiguredError,
    408: TransientProviderError,
    410: ProviderMisconfiguredError,
    413: InvalidInputError,
    429: RateLimitedError,
}
_REMEDIES: Mapping[type[ProviderError], str] = {
    QuotaExhaustedError: "raise the limit or select the API for the application in the console, then resume.",
    CredentialRejectedError: "check client id, secret and the application's permissions, then resume.",
    ProviderMisconfiguredError: "check the base URL and the glossary, then resume.",
}
_CODE = re.compile(r"[A-Z0-9]{1,8}")  # anything else is not shown: it is no code and may be anything
_GATEWAY_TIMEOUT = 504  # the engine may have finished, and billed, behind a gateway that gave up


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The engine's own words about an error; ``code`` is None where the body is no error body."""

    code: str | None = None
    message: str = ""


def error_body(parsed: object) -> ErrorBody:
    """Read ``{"error": {"errorCode", "message"}}``, with or without details, or a flat body."""
    if not isinstance(parsed, Mapping):
        return ErrorBody()
    inner = parsed.get("error")
    found = inner if isinstance(inner, Mapping) else parsed
    code = found.get("errorCode")
    if isinstance(code, bool) or not isinstance(code, str | int):
        return ErrorBody()
    message = found.get("message", found.get("errorMessage"))
    return ErrorBody(code=str(code).strip().upper(), message=message if isinstance(message, str) else "")


def error_of(reply: HttpReply, body: ErrorBody, *, service: str, said: str) -> ProviderError:
    """The error of a reply that is no result; ``said`` is the engine's message, safe to show."""
    kind = _kind(reply.status, body.code)
    code = f", code {body.code}" if body.code and _CODE.fullmatch(body.code) else ""
    words = f": {said}" if said else ""
    remedy = f"; {_REMEDIES[kind]}" if kind in _REMEDIES else ""
    message = f"{service}: {reply.describe()}{code}{words}{remedy}"
    build = partial(kind, message, http_status=reply.status)
    if kind is RateLimitedError:
        wait = retry_after_seconds(reply.headers, now=datetime.now(UTC))
        return RateLimitedError(message, retry_after_seconds=wait, http_status=reply.status)
    if reply.status == _GATEWAY_TIMEOUT or (issubclass(kind, TransientProviderError) and reply.status < 300):
        return build(may_have_been_billed=True)
    return build()


def _kind(status: int, code: str | None) -> type[ProviderError]:
    if code is not None:
        known = _SERVICE_CODES.get(code) or _GATEWAY_CODES.get((status, code))
        if known is not None:
            return known
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return TransientProviderError
    # An unknown 4xx refuses this request; a 2xx or 3xx that is no result is no reply of this engine.
    return InvalidInputError if 400 <= status < 500 else ProtocolError
