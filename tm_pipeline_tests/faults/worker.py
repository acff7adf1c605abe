"""A worker process of the fault tests: ticks until the queue is empty, with the settings of its environment."""

import os
import sys
import time

from tm_pipeline.domain.errors import TmPipelineError
from tm_pipeline.services.status import status
from tm_pipeline.services.tick import run_tick
from tm_pipeline.wiring import application


def main() -> int:
    """Work until no job is PENDING or RUNNING, or until the deadline in argv[1] (seconds) has passed."""
    app = application(os.environ)
    deadline = time.monotonic() + float(sys.argv[1])
    run_id = f"worker-{os.getpid()}"
    while time.monotonic() < deadline:
        try:
            run_tick(app.context, groups=5, drain=True, run_id=run_id)
            jobs = status(app.context)["jobs"]
        except TmPipelineError as error:
            print(error, file=sys.stderr)
            continue
        assert isinstance(jobs, dict)
        if not jobs.get("PENDING") and not jobs.get("RUNNING"):
            return 0
        time.sleep(0.2)
    return 1


if __name__ == "__main__":
    sys.exit(main())
