"""Schedules: the ten-minute heartbeat of the design. The sensor is what makes the delay *fixed*."""

from datetime import UTC, datetime

import dagster as dg

from tm_pipeline.domain.ticks import SkipTick
from tm_pipeline.orchestration.jobs import translate_due_groups
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.orchestration.sensors import tick_decision, tick_request


def build_schedules(*, automation: bool) -> list[dg.ScheduleDefinition]:
    """Every schedule; ``automation`` decides whether they run without being switched on."""
    status = dg.DefaultScheduleStatus.RUNNING if automation else dg.DefaultScheduleStatus.STOPPED

    @dg.schedule(
        cron_schedule="*/10 * * * *",
        job=translate_due_groups,
        default_status=status,
        description=(
            "A heartbeat by the wall clock that takes the same decision as `fixed_delay_sensor`. It launches "
            "only what the sensor has not: with the sensor on, it skips and says why."
        ),
    )
    def ten_minute_schedule(context: dg.ScheduleEvaluationContext, pipeline: Pipeline) -> dg.RunRequest | dg.SkipReason:
        decision, last = tick_decision(context.instance, pipeline, datetime.now(UTC))
        if isinstance(decision, SkipTick):
            return dg.SkipReason(decision.reason)
        return tick_request(last, pipeline.settings, "ten_minute_schedule")

    return [ten_minute_schedule]
