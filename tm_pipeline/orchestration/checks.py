"""Asset checks: invariants that must hold, read models against their sources, and drift that a person should see.

A check's name is its claim. Invariants are errors and stop what is downstream in the same run; drift is a warning,
which ``queue_health_sensor`` reports every ten minutes without a run.
"""

from collections.abc import Iterator, Mapping

import dagster as dg

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.orchestration.assets import JOB_ASSET, MEMORY_ASSET, SPEND_ASSET
from tm_pipeline.orchestration.check_results import ERROR, Verdict, check_result
from tm_pipeline.orchestration.drift import drift_checks
from tm_pipeline.orchestration.read_model_checks import read_model_checks_of
from tm_pipeline.orchestration.resources import Pipeline
from tm_pipeline.store.invariants import violations

SWEEP = "Launch `sweep_stuck`; if it comes back, the workers' clocks or connections need a look."
BUG = "No operator's action leads here: keep the rows and report a bug."
INVARIANTS: Mapping[str, tuple[str, str]] = {
    "unit_keys_are_unique": (MEMORY_ASSET, "Each text, pair and engine is in the memory once. Restore the unique key."),
    "no_unit_is_empty": (MEMORY_ASSET, "No translation is an empty text. Launch `retranslate` for its resource."),
    "completed_jobs_have_their_unit": (
        MEMORY_ASSET,
        "What a finished job translated is in the memory. Launch `reserve_translations` with `full`.",
    ),
    "every_paid_unit_has_its_call": (MEMORY_ASSET, f"A unit that was paid for names a finished call. {BUG}"),
    "a_group_is_held_under_one_token": (JOB_ASSET, f"Two workers never hold one group. {BUG}"),
    "a_claim_is_of_one_group": (JOB_ASSET, f"A claim's token holds one group only. {BUG}"),
    "only_running_jobs_hold_a_token": (JOB_ASSET, f"A job that does not run is held by nobody. {BUG}"),
    "no_lease_outlives_its_bound": (JOB_ASSET, f"No lease ended more than ten minutes ago. {SWEEP}"),
    "every_status_is_known": (JOB_ASSET, "An application wrote a status that nobody acts on. Correct it there."),
    "stopped_jobs_say_why": (JOB_ASSET, "A job that stopped has an error and a message. Launch `retry_jobs` for it."),
    "no_job_is_lost": (
        JOB_ASSET,
        "Nothing deletes jobs: those of the history are in the queue. Launch `reserve_translations` with `full`.",
    ),
    "no_stale_worker_completed_a_job": (
        JOB_ASSET,
        f"A job is completed once for each booking: a worker that lost its lease writes nothing. {BUG}",
    ),
    "a_call_in_flight_is_the_only_one_of_its_key": (SPEND_ASSET, f"A text is on its way to an engine once. {BUG}"),
    "ended_calls_free_their_key": (SPEND_ASSET, f"A call that ended blocks no other. {BUG}"),
    "no_call_outlives_its_deadline": (SPEND_ASSET, f"No call is in flight ten minutes after its deadline. {SWEEP}"),
    "a_text_has_one_usable_paid_reply": (SPEND_ASSET, f"No text was paid for twice. {BUG}"),
    "refused_calls_cost_nothing": (SPEND_ASSET, f"A call that an engine refused bills nothing. {BUG}"),
}


def build_checks(registry: DomainRegistry) -> list[dg.AssetChecksDefinition]:
    """Every check of the main code location but the one of Dagster itself."""
    return [_invariants(), drift_checks(), *(read_model_checks_of(domain) for domain in registry)]


def _invariants() -> dg.AssetChecksDefinition:
    specs = [
        dg.AssetCheckSpec(
            name,
            asset=asset,
            blocking=True,
            description=f"{words} Reads whole tables: press it after an incident; `tm-pipeline check` prints the same.",
        )
        for name, (asset, words) in INVARIANTS.items()
    ]

    @dg.multi_asset_check(
        name="invariants",
        specs=specs,
        can_subset=True,
        description="Runs the queries of `sql/invariants.sql`; each must find no row. **Red**: read the description "
        "of the check that failed.",
    )
    def invariants(context: dg.AssetCheckExecutionContext, pipeline: Pipeline) -> Iterator[dg.AssetCheckResult]:
        names = {key.name for key in context.selected_asset_check_keys}
        with pipeline.context.db.read() as conn:
            found = violations(conn, names)
        for name, rows in found.items():
            verdict = Verdict(passed=not rows, words=f"{rows} rows", numbers={"rows": rows, "threshold": 0})
            yield check_result(name, INVARIANTS[name][0], ERROR, verdict)

    return invariants
