"""Claiming due groups (S66–S74, design §8): thin rules over ``store/claims``."""

import uuid
from collections.abc import Sequence

from tm_pipeline.domain.jobs import ClaimedGroup, GroupKey
from tm_pipeline.services.context import Context
from tm_pipeline.store import claims
from tm_pipeline.store.provider_states import stopped_providers


def claimable_domains(ctx: Context, resource_types: Sequence[str] | None = None) -> list[claims.ClaimableDomain]:
    """The domains whose provider may be called now; a paused engine's backlog must not hide other work."""
    with ctx.db.read() as conn:
        stopped = stopped_providers(conn)
    chosen = [domain for domain in ctx.registry if resource_types is None or domain.resource_type in resource_types]
    return [
        claims.ClaimableDomain(resource_type=domain.resource_type, priority_seconds=domain.priority_seconds)
        for domain in chosen
        if ctx.engines.engine_for(domain.resource_type).provider.name not in stopped
    ]


def claim_groups(
    ctx: Context,
    *,
    limit: int,
    claimed_by: str,
    domains: Sequence[str] | None = None,
    target_languages: Sequence[str] | None = None,
) -> list[ClaimedGroup]:
    """Claim up to ``limit`` due groups for ``claimed_by`` (the root run id)."""
    return claims.take_groups(
        ctx.db,
        claimable_domains(ctx, domains),
        limit=limit,
        claimed_by=claimed_by,
        lease_seconds=ctx.policy.lease_seconds,
        target_languages=target_languages,
    )


def reacquire(ctx: Context, key: GroupKey, *, claimed_by: str, include_failed: bool = False) -> ClaimedGroup | None:
    """Take the group again under a new token, which fences off any older process of this chain of runs.

    None where another live lease holds it or nothing of it is due. ``include_failed`` is the operator's
    retry: a re-execution from failure also takes the group's FAILED jobs.
    """
    return claims.reacquire_group(
        ctx.db,
        key,
        token=uuid.uuid4().hex,
        claimed_by=claimed_by,
        lease_seconds=ctx.policy.lease_seconds,
        include_failed=include_failed,
    )


def release_run(ctx: Context, claimed_by: str) -> int:
    """Give back, unburned and due now, every job that this run still holds."""
    return claims.release_claims(ctx.db, claimed_by)
