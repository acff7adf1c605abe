"""Launchpad forms: every field has a visible default and says what it does.

An empty list means all, 0 means no limit: a default of None would hide the field from the launchpad.
"""

import dagster as dg
from pydantic import Field


class ClaimConfig(dg.Config):
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


class RetryConfig(dg.Config):
    """Which stopped jobs start again."""

    domains: list[str] = Field(default=[], description="Only these domains; empty means all.")
    target_language: str = Field(default="", description="Only this language; empty means all.")
    statuses: list[str] = Field(
        default=["FAILED"],
        description="FAILED, NEEDS_REVIEW or NEEDS_CREDENTIAL; jobs in these states start again.",
    )
    reason: str = Field(default="retried in the launchpad", description="Kept in translation_event.")
    dry_run: bool = Field(default=True, description="Only count; set to false to act.")


class ProviderConfig(dg.Config):
    """Which provider to pause or resume."""

    provider: str = Field(default="", description="Its name, such as papago; empty means every provider in use.")
    reason: str = Field(default="in the launchpad", description="Shown with the paused provider.")
