"""Exponential back-off with jitter (S62)."""

MAX_EXPONENT = 30  # beyond it the cap decides anyway


def backoff_seconds(attempt: int, *, base: int, cap: int, jitter: float) -> int:
    """Whole seconds to wait after attempt ``attempt`` (from 1): between half and all of min(cap, base·2^(n−1)).

    ``jitter`` is a number in [0, 1) from the caller's generator; the result is 0 only where base or cap is 0.
    """
    full: int = min(cap, base * 2 ** min(max(attempt - 1, 0), MAX_EXPONENT))
    if full <= 0:
        return 0
    return max(1, round(full / 2 + full / 2 * jitter))
