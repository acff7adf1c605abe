"""Op outputs as JSON rows in the pipeline's database.

Dagster's default keeps pickles on the disk of one host: a re-execution on another host would not find
them, and nothing ever removes them. Outputs here are keys and counts, never texts.
"""

from typing import Any

import dagster as dg

from tm_pipeline.orchestration.failures import plainly
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.services.outputs import load_output, save_output


class JsonOutputs(dg.ConfigurableIOManager):
    """Stores each output under its run, step, name and mapping key."""

    pipeline: dg.ResourceDependency[Pipeline]

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Keep one output."""
        with plainly():
            save_output(
                self.pipeline.context,
                run_id=context.run_id,
                step_key=context.step_key,
                name=context.name,
                mapping_key=context.mapping_key or "",
                value=obj,
            )

    def load_input(self, context: dg.InputContext) -> Any:
        """Read the output of the step before, also where that step ran in the parent of this run.

        An output that is not there any more fails the step in one line that says what to launch instead.
        """
        upstream = context.upstream_output
        if upstream is None:
            raise dg.DagsterInvariantViolationError("An input without an upstream output cannot be loaded.")
        with plainly():
            return load_output(
                self.pipeline.context,
                run_id=upstream.run_id,
                step_key=upstream.step_key,
                name=upstream.name,
                mapping_key=upstream.mapping_key or "",
            )
