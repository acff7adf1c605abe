"""A step that takes its groups again, at once or weeks later: what is left alone, and the reason that is shown."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, update

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.jobs import GroupKey
from tm_pipeline.services.claim import claim_groups, release_run
from tm_pipeline.services.context import Context
from tm_pipeline.services.resume import take_again
from tm_pipeline.store.tables import metadata
from tm_pipeline_tests.product import insert_rows, reserve_everything

KEY = GroupKey(resource_type="category", resource_id=1, target_language="en")
OTHER_LANGUAGE = GroupKey(resource_type="category", resource_id=1, target_language="ja")


@pytest.fixture
def booked(ctx: Context) -> Context:
    insert_rows(ctx, "category", [{"id": 1, "name": "로맨스 판타지"}])
    assert reserve_everything(ctx) == 2
    return ctx


def become(ctx: Context, status: str, **values: object) -> None:
    jobs = metadata.tables["translation_job"]
    held = {"claim_token": None, "claimed_by": None, "lease_expires_at": None, **values}
    with ctx.db.begin() as conn:
        conn.execute(update(jobs).values(status=status, **held))


def reasons(ctx: Context, *, keys: Sequence[GroupKey] = (KEY,), again: bool = True, owner: str = "mine") -> list[str]:
    """Why each of the groups is left alone; "" for one that is taken."""
    held, left = take_again(ctx, keys, claimed_by=owner, include_failed=again)
    assert len(held) + len(left) == len(keys)
    told = {group.key: group.reason for group in left}
    return [told.get(key, "") for key in keys]


def test_own_and_due_groups_are_taken(booked: Context) -> None:
    claim_groups(booked, limit=1, claimed_by="mine")
    assert reasons(booked, keys=(KEY, OTHER_LANGUAGE)) == ["", ""]


def test_a_group_that_another_run_holds_is_left_to_it(booked: Context) -> None:
    claim_groups(booked, limit=5, claimed_by="another-run")
    assert reasons(booked) == ["run another-run works on it now; nothing to do here"]


def test_a_group_of_a_run_that_died_is_taken(booked: Context) -> None:
    claim_groups(booked, limit=5, claimed_by="another-run")
    become(booked, "RUNNING", claimed_by="another-run", lease_expires_at=datetime.now(UTC) - timedelta(hours=1))
    assert reasons(booked) == [""]


@pytest.mark.parametrize("status", ["COMPLETED", "SUPERSEDED", "CANCELLED"])
def test_a_group_that_was_done_or_is_wanted_no_more_is_left_as_it_is(booked: Context, status: str) -> None:
    become(booked, status)
    [reason] = reasons(booked)
    assert reason == f"nothing is left to do (1 {status}); another run finished it, or its source changed"


@pytest.mark.parametrize("status", ["NEEDS_REVIEW", "NEEDS_CREDENTIAL"])
def test_a_group_that_a_person_decides_on_is_not_paid_for_by_a_re_execution(booked: Context, status: str) -> None:
    become(booked, status)
    assert reasons(booked) == [f"a person decides on it (1 {status}); see retry_jobs and resume_provider"]


def test_only_a_re_execution_takes_failed_jobs_and_does_not_wait_for_a_back_off(booked: Context) -> None:
    become(booked, "FAILED")
    assert "a person decides on it (1 FAILED)" in reasons(booked, again=False)[0]
    assert reasons(booked) == [""]
    become(booked, "PENDING", next_retry_at=datetime.now(UTC) + timedelta(hours=1))
    assert reasons(booked, again=False) == ["it waits for its back-off (1 PENDING); a later tick takes it"]
    assert reasons(booked) == [""]


def test_a_group_whose_jobs_are_gone_has_nothing_to_do(booked: Context) -> None:
    with booked.db.begin() as conn:
        conn.execute(delete(metadata.tables["translation_job"]))
    assert reasons(booked) == ["it has no jobs any more; nothing to do"]


def test_a_domain_that_is_not_configured_any_more_is_neither_held_nor_paid_for(booked: Context) -> None:
    become(booked, "FAILED")
    fewer = {name: domain for name, domain in booked.registry.domains.items() if name != "category"}
    later = Context(
        db=booked.db,
        registry=DomainRegistry(domains=fewer),
        engines=booked.engines,
        detector=booked.detector,
        policy=booked.policy,
        random=booked.random,
    )
    [reason] = reasons(later)
    assert reason == "the domain category is not configured any more; its jobs stay as they are"
    assert release_run(booked, "mine") == 0
