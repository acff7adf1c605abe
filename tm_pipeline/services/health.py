"""The numbers that are plotted, flat and by name: of the queue, of the spending, of the memory (S80–S84).

Cheap at any size, because a sensor asks every ten minutes; ``status`` is exact and for people.
"""

from collections.abc import Iterable, Sequence

from tm_pipeline.domain.jobs import JobStatus
from tm_pipeline.services.claim import claimable_domains
from tm_pipeline.services.context import Context
from tm_pipeline.store.calls import CallState
from tm_pipeline.store.candidates import ClaimableDomain
from tm_pipeline.store.health import (
    Recorded,
    Spent,
    count_doubtful_calls,
    count_jobs,
    count_marks,
    count_units,
    latencies_lately,
    recorded_lately,
    spent_in_all,
    spent_lately,
)
from tm_pipeline.store.snapshots import due_snapshot

Numbers = dict[str, int | float]

WINDOW_SECONDS = 600
DRIFT_SECONDS = 3_600
STATES = tuple(state.value.lower() for state in CallState)
NEEDS_PERSON = (JobStatus.FAILED, JobStatus.NEEDS_REVIEW, JobStatus.NEEDS_CREDENTIAL)


def queue_numbers(ctx: Context, *, window_seconds: int = WINDOW_SECONDS) -> Numbers:
    """The queue now and in the last window; a domain whose provider is stopped counts too: its work grows old.

    Shares and call times are left out where nothing was recorded or called.
    """
    names = [domain.resource_type for domain in ctx.registry]
    stopped = len(names) - len(claimable_domains(ctx))
    with ctx.db.read() as conn:
        jobs = count_jobs(conn)
        due = due_snapshot(conn, [ClaimableDomain(resource_type=name) for name in names])
        marks = count_marks(conn, names)
        recorded = recorded_lately(conn, window_seconds)
        latencies = latencies_lately(conn, window_seconds)
        doubtful = count_doubtful_calls(conn)
    return {
        **{f"jobs_{name}": count for name, count in jobs.items()},
        "groups_due": due.due_groups,
        "oldest_due_age_seconds": due.oldest_age_seconds,
        "stopped_domains": stopped,
        "materialize_failures": sum(mark.failing for mark in marks.values()),
        "oldest_due_read_model_seconds": max((mark.oldest_due_age_seconds for mark in marks.values()), default=0),
        "calls_unsettled": doubtful,
        **_recorded_numbers(recorded),
        **_percentiles(latencies),
    }


def _recorded_numbers(recorded: Recorded) -> Numbers:
    completed = recorded.statuses.get(JobStatus.COMPLETED.value, 0)
    total = sum(recorded.statuses.values())
    failed = sum(recorded.statuses.get(status.value, 0) for status in NEEDS_PERSON)
    numbers: Numbers = {
        "window_recorded": total,
        "window_completed": completed,
        "window_put_off": recorded.statuses.get(JobStatus.PENDING.value, 0),
        "window_failed": failed,
    }
    if total:
        numbers["failure_rate"] = round(failed / total, 4)
    if completed:
        numbers["memory_hit_rate"] = round(recorded.reused / completed, 4)
    return numbers


def _percentiles(ordered: Sequence[int]) -> Numbers:
    if not ordered:
        return {}
    last = len(ordered) - 1
    return {f"call_p{share}_ms": ordered[min(last, share * len(ordered) // 100)] for share in (50, 95)}


def spend_numbers(ctx: Context, *, window_seconds: int = WINDOW_SECONDS) -> Numbers:
    """Calls, characters sent and units billed: in all, in the last window, and by provider."""
    with ctx.db.read() as conn:
        total, lately = spent_in_all(conn), spent_lately(conn, window_seconds)
        doubtful = count_doubtful_calls(conn)
    providers = sorted({spent.provider for spent in total} | set(ctx.engines.provider_names()))
    return {
        **_sums("", total),
        "calls_unsettled": doubtful,
        **_sums("window_", lately),
        **{
            f"{prefix}{provider}_{name}": value
            for provider in providers
            for prefix, rows in (("", total), ("window_", lately))
            for name, value in _of_provider(rows, provider).items()
        },
    }


def _sums(prefix: str, rows: Sequence[Spent]) -> Numbers:
    return {
        f"{prefix}calls_total": sum(spent.calls for spent in rows),
        **{f"{prefix}calls_{state}": _calls(rows, state) for state in STATES},
        f"{prefix}characters_sent": sum(spent.characters for spent in rows),
        f"{prefix}characters_billed": sum(spent.billed for spent in rows),
    }


def _calls(rows: Iterable[Spent], state: str) -> int:
    return sum(spent.calls for spent in rows if spent.state.lower() == state)


def _of_provider(rows: Iterable[Spent], provider: str) -> Numbers:
    mine = [spent for spent in rows if spent.provider == provider]
    return {
        "calls": sum(spent.calls for spent in mine),
        "characters_billed": sum(spent.billed for spent in mine),
    }


def memory_numbers(ctx: Context) -> Numbers:
    """Units in all, by status, by engine and by language pair."""
    with ctx.db.read() as conn:
        counts = count_units(conn)
    numbers: Numbers = {"units": 0}
    for count in counts:
        for name in ("units", f"units_{count.status.lower()}", f"units_{count.engine}", f"units_{count.pair}"):
            numbers[name] = numbers.get(name, 0) + count.units
    return numbers


def drift_numbers(ctx: Context, *, window_seconds: int = DRIFT_SECONDS) -> Numbers:
    """What the warnings judge: ages now, and what failed or stayed unknown in the last hour."""
    names = [domain.resource_type for domain in ctx.registry]
    with ctx.db.read() as conn:
        due = due_snapshot(conn, [ClaimableDomain(resource_type=name) for name in names])
        marks = count_marks(conn, names)
        recorded = recorded_lately(conn, window_seconds)
        spent = spent_lately(conn, window_seconds)
    return {
        "oldest_due_age_seconds": due.oldest_age_seconds,
        "oldest_due_read_model_seconds": max((mark.oldest_due_age_seconds for mark in marks.values()), default=0),
        "recorded": sum(recorded.statuses.values()),
        "failed": sum(recorded.statuses.get(status.value, 0) for status in NEEDS_PERSON),
        "calls": sum(one.calls for one in spent),
        "calls_unknown": _calls(spent, "unknown"),
    }
