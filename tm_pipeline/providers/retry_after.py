"""How long a reply asks to wait, in the three forms that services use."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_SECONDS = 7 * 86_400.0  # beyond a week the header is taken for a mistake


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``Retry-After`` (seconds or HTTP date).

    None where the header is missing, unreadable, not in the future or longer than a week: the caller then
    uses its own back-off. ``headers`` must look names up without regard to case.
    """
    for name, read in (("retry-after-ms", _milliseconds), ("retry-after", _seconds_or_date)):
        wait = read(headers.get(name, "").strip(), now)
        if wait is not None and 0 < wait <= LONGEST_WAIT_SECONDS:
            return wait
    return None


def _number(raw: str) -> float | None:
    if not raw.isascii() or "_" in raw:
        return None
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _milliseconds(raw: str, _now: datetime) -> float | None:
    value = _number(raw)
    return None if value is None else value / 1_000


def _seconds_or_date(raw: str, now: datetime) -> float | None:
    value = _number(raw)
    if value is not None:
        return value
    try:
        moment = parsedate_to_datetime(raw)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
