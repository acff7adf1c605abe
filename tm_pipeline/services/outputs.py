"""Small op outputs, kept in the pipeline's database so that a re-execution on any host finds them."""

import json
from typing import Any

from tm_pipeline.domain.errors import UsageError
from tm_pipeline.services.context import Context
from tm_pipeline.store.op_outputs import delete_outputs, store_output
from tm_pipeline.store.op_outputs import load_output as load_text


def save_output(ctx: Context, *, run_id: str, step_key: str, name: str, mapping_key: str, value: Any) -> None:
    """Keep a JSON-able value under its run, step, output and mapping key."""
    content = json.dumps(value, ensure_ascii=False, sort_keys=True)
    ctx.db.run(lambda conn: store_output(conn, run_id, step_key, name, mapping_key, content))


def load_output(ctx: Context, *, run_id: str, step_key: str, name: str, mapping_key: str) -> Any:
    """The value; raises ``UsageError`` where the run left none."""
    with ctx.db.read() as conn:
        content = load_text(conn, run_id, step_key, name, mapping_key)
    if content is None:
        raise UsageError(
            f"What step {step_key} of run {run_id} handed on is not kept any more: it was pruned, or the step never "
            "finished. Nothing was called or written. Launch a new run of this job instead; it takes what is due now, "
            "and retry_jobs makes due what had failed."
        )
    return json.loads(content)


def forget_outputs(ctx: Context, run_id: str) -> int:
    """Delete what a run left; returns how many outputs."""
    return ctx.db.run(lambda conn: delete_outputs(conn, run_id))
