"""Launchpad forms: every field has a visible default and says what it does.

An empty list means all, 0 means no limit: a default of None would hide the field from the launchpad.
"""

from typing import Any

import dagster as dg
from pydantic import Field, ValidationError

DRAIN_GROUPS = 500  # what a fast engine does in one run; a run that is out of time gives the rest back
DRAIN_GROUPS_PER_STEP = 25
DRAIN_SECONDS = 120  # the launchpad's; the sensor takes TM_DRAIN_SECONDS


class Form(dg.Config):
    """A form whose numbers have limits: one that is out of them fails the step in one line that names it."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            wrong = [f"{one['loc'][-1]} is {one['input']!r}: {_lower(one['msg'])}" for one in error.errors()]
            raise dg.Failure(f"{'; '.join(wrong)}. Correct the form and launch again.", allow_retries=False) from None


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


class ClaimConfig(Form):
    """What one run takes."""

    max_groups: int = Field(default=5, ge=1, le=1_000, description="Groups to claim at most.")
    max_seconds: int = Field(
        default=0,
        ge=0,
        description="Start no further call after so many seconds; the rest goes back to the queue. 0 means no limit.",
    )
    groups_per_step: int = Field(
        default=1,
        ge=1,
        le=200,
        description="1 shows each group as a step of its own. More puts so many groups into one step, "
        "where they are worked on in threads: for a backlog.",
    )
    domains: list[str] = Field(default=[], description="Only these domains, such as content; empty means all.")
    target_languages: list[str] = Field(default=[], description="Only these languages, such as en; empty means all.")


def drain_form() -> ClaimConfig:
    """What a backlog run launched by hand takes."""
    return ClaimConfig(max_groups=DRAIN_GROUPS, groups_per_step=DRAIN_GROUPS_PER_STEP, max_seconds=DRAIN_SECONDS)


class ReserveConfig(dg.Config):
    """What one intake looks at."""

    domains: list[str] = Field(default=[], description="Only these domains; empty means all.")
    full: bool = Field(
        default=False,
        description="Reconcile whole source tables by hash, instead of what changed since the last scan.",
    )


class ReadModelConfig(dg.Config):
    """What one materialisation rebuilds."""

    ids: list[int] = Field(
        default=[], description="Only these resource ids; empty means all of the selected partitions."
    )
    only_due: bool = Field(
        default=False,
        description="Only what is marked as due (what the sensor launches), instead of a rebuild.",
    )


class JobSelectionConfig(dg.Config):
    """Which jobs an action is for: those that meet every condition."""

    domains: list[str] = Field(default=[], description="Only these domains, such as content; empty means all.")
    target_languages: list[str] = Field(default=[], description="Only these languages, such as en; empty means all.")
    resource_ids: list[int] = Field(default=[], description="Only these ids of the product's rows; empty means all.")
    job_ids: list[int] = Field(default=[], description="Only these ids of translation_job; empty means all.")
    dry_run: bool = Field(default=True, description="Only count; set to false to act.")


class RetryConfig(JobSelectionConfig):
    """Which stopped jobs start again."""

    statuses: list[str] = Field(
        default=["FAILED"],
        description="FAILED, NEEDS_REVIEW, NEEDS_CREDENTIAL, CANCELLED or SUPERSEDED; these start again.",
    )
    reason: str = Field(default="retried in the launchpad", description="Kept in translation_event.")


class CancelConfig(JobSelectionConfig):
    """Which jobs stop; at least one condition beside the state is asked for."""

    statuses: list[str] = Field(
        default=["PENDING"],
        description="PENDING, RUNNING, FAILED, NEEDS_REVIEW or NEEDS_CREDENTIAL; jobs in these states stop.",
    )
    reason: str = Field(default="cancelled in the launchpad", description="Kept in translation_event and in the job.")


class RetranslateConfig(dg.Config):
    """Which finished translations are paid for once more."""

    domains: list[str] = Field(default=[], description="These domains, such as content; at least one.")
    target_languages: list[str] = Field(default=[], description="Only these languages, such as en; empty means all.")
    resource_ids: list[int] = Field(default=[], description="Only these ids of the product's rows; empty means all.")
    engine: str = Field(
        default="",
        description="Only texts whose present translation is from this engine, such as papago; empty means any. "
        "The new one is from the domain's engine.",
    )
    over_human: bool = Field(
        default=False, description="Also replace what a person translated. Needs a reason of your own."
    )
    reason: str = Field(default="", description="Kept in translation_event.")
    dry_run: bool = Field(default=True, description="Only count texts and characters; set to false to act.")


class RematerialiseConfig(dg.Config):
    """Which read models are written again."""

    domains: list[str] = Field(default=[], description="Only these domains; empty means all.")
    target_languages: list[str] = Field(default=[], description="Only these languages; empty means all.")
    resource_ids: list[int] = Field(default=[], description="Only these ids of the product's rows; empty means all.")
    dry_run: bool = Field(default=True, description="Only count; set to false to act.")


class SweepConfig(dg.Config):
    """How a sweep is done."""

    dry_run: bool = Field(default=False, description="Only count what would be given back.")


class ProviderConfig(dg.Config):
    """Which provider to pause or resume."""

    provider: str = Field(default="", description="Its name, such as papago; empty means every provider in use.")
    reason: str = Field(default="in the launchpad", description="Shown with the paused provider.")
    dry_run: bool = Field(default=False, description="Only show which providers and how many jobs it is about.")


class PruneConfig(Form):
    """Which runs are forgotten."""

    older_than_days: int = Field(default=90, ge=1, description="Runs that ended longer ago than this.")
    keep_of_each_job: int = Field(
        default=20, ge=6, description="The newest runs of each job stay, however old; sensors look at the last six."
    )
    most: int = Field(default=1_000, ge=1, le=100_000, description="So many at most in one go, oldest first.")
    dry_run: bool = Field(default=True, description="Only count; set to false to act.")
