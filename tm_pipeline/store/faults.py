"""Driver errors in the words of ``domain/errors``: one clear line, no DSN, no parameters (database study §8)."""

import re

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from tm_pipeline.domain.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    ReadModelError,
    SchemaError,
    TmPipelineError,
)

LOCKED = {1205, 1213, 1020, 3572}
LOST = {2006, 2013, 4031, 1053, 1927}
READ_ONLY = {1290, 1792, 1836}
DENIED = {1044, 1045, 1049, 1698}
UNGRANTED = {1142, 1143, 1227}
UNREACHABLE = {2002, 2003}
SCHEMA = {1146, 1054, 1064, 1273, 1267}
DATA = {1062, 1406, 1366, 1292, 1264, 1048, 4025, 3140, 3819}
MESSAGE_CHARACTERS = 200


def error_code(error: SQLAlchemyError) -> int | None:
    """The server's error number, where the driver gave one."""
    cause = getattr(error, "orig", None)
    first = cause.args[0] if cause is not None and cause.args else None
    return first if isinstance(first, int) else None


def is_lock_conflict(error: SQLAlchemyError) -> bool:
    """Whether somebody else holds the row (NOWAIT failed, lock wait, dead-lock)."""
    return error_code(error) in LOCKED or "database is locked" in str(getattr(error, "orig", ""))


def is_retryable(error: SQLAlchemyError) -> bool:
    """Whether running the whole transaction again can succeed at once."""
    if is_lock_conflict(error) or error_code(error) in LOST:
        return True
    return isinstance(error, DBAPIError) and error.connection_invalidated


def is_demoted(error: SQLAlchemyError) -> bool:
    """Whether the server only reads: it was the primary before a failover, or never was."""
    return error_code(error) in READ_ONLY


def translated(error: SQLAlchemyError) -> TmPipelineError:  # noqa: PLR0911 - one return for each family
    """The product's error for a driver error."""
    code, said = error_code(error), _said(error)
    lowered = said.lower()
    if code in DENIED:
        return ConfigurationError(f"The database refused the login or the name in TM_DATABASE_URL: {said}")
    if code in UNGRANTED:
        return ConfigurationError(f"The database user lacks a right: {said}. Grant it; see sql/contract.")
    if "unable to open database file" in lowered:
        return ConfigurationError(f"The SQLite file of TM_DATABASE_URL cannot be opened: {said}. Check the folder.")
    if code in SCHEMA or "no such table" in lowered or "no such column" in lowered:
        return SchemaError(f"The schema lacks something: {said}. Run tm-pipeline migrate, then tm-pipeline doctor.")
    if code in DATA or isinstance(error, IntegrityError):
        return ReadModelError(f"The database refused a value: {said}")
    if code in UNREACHABLE:
        return DatabaseUnavailableError(
            f"The database server was not reached: {said}. Check that it runs, and host and port in TM_DATABASE_URL."
        )
    if isinstance(error, PoolTimeoutError):
        said = "all pooled connections stayed busy, lower the number of threads"
    return DatabaseUnavailableError(f"The database did not do it: {said}. Nothing is lost; run the same again.")


def _said(error: SQLAlchemyError) -> str:
    cause = getattr(error, "orig", None)
    if cause is None:
        return re.sub(r"\s+", " ", str(error).split("\n", 1)[0])[:MESSAGE_CHARACTERS]
    words = str(cause.args[-1]) if cause.args else type(cause).__name__
    return re.sub(r"\s+", " ", words)[:MESSAGE_CHARACTERS]
