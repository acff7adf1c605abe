"""How an expected error reads in the UI: its own sentence first, no frames of the framework before it."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from tm_pipeline.domain.errors import TmPipelineError


@contextmanager
def plainly() -> Iterator[None]:
    """Turn an error of the pipeline into a failed step whose first line says what to do; no retry repeats it."""
    try:
        yield
    except TmPipelineError as error:
        raise dg.Failure(str(error), allow_retries=False) from error


def nothing_matched(what: str, selection: object) -> dg.Failure:
    """An action that found nothing to act on is no success (T42)."""
    return dg.Failure(
        f"0 of 0 {what}: nothing matches {selection}. Correct the form and launch again.", allow_retries=False
    )


def how_to_act(*, dry_run: bool) -> str:
    """What follows the counts of a dry run."""
    return " (a dry run: set dry_run to false to act)" if dry_run else ""
