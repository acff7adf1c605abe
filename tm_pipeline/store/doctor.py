"""Is this database fit for the pipeline? Each check with what was found and what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select, text

from tm_pipeline.domain.domains import Domain
from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.store.drift import automatic_times, drift
from tm_pipeline.store.engine import Database
from tm_pipeline.store.heartbeat import SILENT_SECONDS, last_seen_age_seconds, seen_words
from tm_pipeline.store.migrate import pending
from tm_pipeline.store.sources import check_source
from tm_pipeline.store.tables import translation_job

MIN_MARIADB = (10, 6)
MIN_MYSQL = (8, 0)
MIN_PACKET_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding; ``remedy`` is empty where all is well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def examine(db: Database, domains: Sequence[Domain] = ()) -> list[Check]:
    """Run every check; raises only where the database cannot be reached at all."""
    checks = [_schema(db)]
    with db.read() as conn:
        checks += [] if db.is_sqlite else _server(conn)
    if checks[0].ok:
        with db.read() as conn:
            checks.append(_columns(conn))
            checks += _automation(conn)
            checks += [_automatic_values(conn)] if not db.is_sqlite else []
            for domain in domains:
                problems = check_source(conn, domain)
                detail = "; ".join(problems) or f"table {domain.source.table} fits"
                remedy = "create the tables or correct the domains file" if problems else ""
                checks.append(
                    Check(name=f"domain {domain.resource_type}", ok=not problems, detail=detail, remedy=remedy)
                )
            if domains:
                checks.append(_foreign_jobs(conn, domains))
    checks.append(_writable(db))
    return checks


def _foreign_jobs(conn: Connection, domains: Sequence[Domain]) -> Check:
    """Jobs that nobody here claims: of a removed domain, or of another version of the product."""
    known = {domain.resource_type for domain in domains}
    rows = conn.execute(select(translation_job.c.resource_type).distinct())
    foreign = sorted(row[0] for row in rows if row[0] not in known)
    if not foreign:
        return Check(name="jobs of known domains", ok=True, detail="every job has its domain")
    return Check(
        name="jobs of known domains",
        ok=False,
        detail=f"nobody works on the jobs of {', '.join(foreign)}",
        remedy="add the domain to the domains file, or delete the rows",
    )


def _automation(conn: Connection) -> list[Check]:
    """Whether sensors are evaluated; a database that no automation ever worked on says nothing about it."""
    age = last_seen_age_seconds(conn)
    if age is None:
        return []
    remedy = "start dagster-daemon, and switch fixed_delay_sensor on (TM_AUTOMATION=on)"
    return [_check("automation", age <= SILENT_SECONDS, seen_words(age), remedy)]


def _schema(db: Database) -> Check:
    try:
        missing = pending(db)
    except TmPipelineError as error:
        return Check(name="schema", ok=False, detail=str(error), remedy="see the message")
    if missing:
        return Check(name="schema", ok=False, detail=f"lacks {', '.join(missing)}", remedy="run tm-pipeline migrate")
    return Check(name="schema", ok=True, detail="every migration is applied")


def _server(conn: Connection) -> list[Check]:
    row = conn.execute(
        text(
            "SELECT @@version AS version, @@sql_mode AS mode, @@session.time_zone AS zone, "
            "@@character_set_database AS charset, @@max_allowed_packet AS packet, @@read_only AS read_only"
        )
    ).one()
    isolation = _isolation(conn)
    numbers = [int(part) for part in re.findall(r"\d+", row.version)[:2]]
    least = MIN_MARIADB if "mariadb" in row.version.lower() else MIN_MYSQL
    wanted = ".".join(str(part) for part in least)
    return [
        _check(
            "version",
            tuple(numbers) >= least,
            row.version,
            f"use MariaDB 10.6+ or MySQL 8 (at least {wanted})",
        ),
        _check("strict mode", "STRICT_TRANS_TABLES" in row.mode, row.mode, "allow the session to set sql_mode"),
        _check("time zone", row.zone == "+00:00", row.zone, "allow the session to set time_zone"),
        _check("isolation", isolation == "READ-COMMITTED", isolation, "allow the session to set READ COMMITTED"),
        _check("binary log", *_binary_log(conn), "set binlog_format to ROW or MIXED"),
        _check("character set", row.charset == "utf8mb4", row.charset, "ALTER DATABASE … CHARACTER SET utf8mb4"),
        _check(
            "packet size",
            int(row.packet) >= MIN_PACKET_BYTES,
            str(row.packet),
            "raise max_allowed_packet to 16M",
        ),
        _check("read only", not int(row.read_only), str(row.read_only), "point TM_DATABASE_URL at the primary"),
    ]


def _isolation(conn: Connection) -> str:
    # MariaDB before 11.1 and MySQL 8 do not share a name for this variable.
    found = conn.execute(
        text("SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')")
    )
    return str(next(iter(found))[1])


def _binary_log(conn: Connection) -> tuple[bool, str]:
    """READ COMMITTED and SKIP LOCKED are not safe where a replica repeats statements."""
    row = conn.execute(text("SELECT @@log_bin AS written, @@binlog_format AS format")).one()
    return not int(row.written) or str(row.format) != "STATEMENT", str(row.format) if int(row.written) else "off"


def _check(name: str, ok: bool, detail: str, remedy: str) -> Check:  # noqa: FBT001 - a row of the table above
    return Check(name=name, ok=ok, detail=detail, remedy="" if ok else remedy)


def _columns(conn: Connection) -> Check:
    problems = drift(conn)
    detail = "; ".join(problems) or "every column and key is as the code expects"
    return _check("columns and keys", not problems, detail, "restore them as in sql/migrations")


def _automatic_values(conn: Connection) -> Check:
    """Old servers give the first TIMESTAMP column ON UPDATE silently, and every back-off vanishes."""
    problems = automatic_times(conn)
    remedy = "create these tables again with explicit_defaults_for_timestamp=ON"
    return _check("due times", not problems, "; ".join(problems) or "no automatic value", remedy)


def _writable(db: Database) -> Check:
    try:
        with db.begin() as conn:
            conn.execute(text("UPDATE op_output SET value = value WHERE run_id = ''"))
    except TmPipelineError as error:
        return Check(
            name="writing",
            ok=False,
            detail=str(error),
            remedy="grant INSERT, UPDATE and DELETE; see sql/contract",
        )
    return Check(name="writing", ok=True, detail="a write transaction works")
