"""A process that claims and finishes groups as fast as it can, and writes down when it held which."""

import json
import os
import sys
import time
from pathlib import Path

from tm_pipeline.domain.errors import LeaseLostError, TmPipelineError
from tm_pipeline.domain.jobs import ClaimedGroup, JobOutcome, JobStatus
from tm_pipeline.store.claims import ClaimableDomain, finish_jobs, take_groups
from tm_pipeline.store.engine import Database, open_database

LEASE_SECONDS = 2
WORK_SECONDS = 0.004


def note(log: int, kind: str, group: ClaimedGroup, begun: float = 0.0) -> None:
    """Append one line; a single short write to a file opened for appending is never torn."""
    line = {
        "kind": kind,
        "at": time.monotonic(),  # one clock for every process of the machine
        "begun": begun,  # before the claim was asked for: its lease is no older than that
        "group": str(group.key),
        "token": group.token,
        "jobs": [job.id for job in group.jobs],
    }
    os.write(log, (json.dumps(line) + "\n").encode())


def finish(db: Database, log: int, group: ClaimedGroup) -> None:
    outcomes = [JobOutcome(job=job, status=JobStatus.COMPLETED, retry_count=job.retry_count) for job in group.jobs]
    note(log, "finishing", group)
    try:
        db.run(lambda conn: finish_jobs(conn, group.token, outcomes))
    except LeaseLostError:
        return
    note(log, "finished", group)


def main(url: str, log_file: str) -> None:
    """Run until killed."""
    db = open_database(url)
    log = os.open(Path(log_file), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    domains = [ClaimableDomain(resource_type="content")]
    while True:
        begun = time.monotonic()
        try:
            groups = take_groups(db, domains, limit=3, claimed_by=f"pid-{os.getpid()}", lease_seconds=LEASE_SECONDS)
            for group in groups:
                note(log, "claimed", group, begun)
                time.sleep(WORK_SECONDS)
                finish(db, log, group)
        except TmPipelineError as error:
            print(error, file=sys.stderr)
            continue
        if not groups:
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
