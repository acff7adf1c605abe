"""Long lists in pieces: MariaDB changes its plan for an IN list of more than 1,000 values."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

BATCH = 500


def batches(values: Sequence[T]) -> Iterator[list[T]]:
    """``values`` in order, in lists of at most ``BATCH``."""
    for start in range(0, len(values), BATCH):
        yield list(values[start : start + BATCH])
