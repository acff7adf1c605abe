"""The one way to a paid call: stored reply → single flight → intent → call → reply (design §9).

Order of the writes: an IN_FLIGHT row is committed before the request leaves; the reply is committed
before anything else happens with it. So a crash leaves either no call, a reply that is replayed, or a
row that the sweep turns UNKNOWN and that counts as possibly paid. Rate permits and budgets belong
between the intent and the request, nowhere else.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tm_pipeline.domain.errors import (
    ErrorKind,
    OutputInvalidError,
    ProtocolError,
    ProviderError,
    TmPipelineError,
)
from tm_pipeline.domain.jobs import Job
from tm_pipeline.domain.splitting import split
from tm_pipeline.domain.text import NORMALIZATION_VERSION
from tm_pipeline.ports import BatchOutcome, Engine, ItemOutcome, TranslationItem, TranslationRequest
from tm_pipeline.services.context import Context
from tm_pipeline.services.failpoints import failpoint
from tm_pipeline.store.calls import Call, CallIntent, CallState, calls_for_keys, close_call, open_call

UNKNOWN_LIMIT = 2  # possibly paid calls per key before a person decides (design §9, K)
REPLY_LIMIT = 2  # paid replies per key that failed the checks before a person decides
RECORD_MARGIN_SECONDS = 30  # after the time-out, the time a live worker may need to commit its reply
CALL_UNIT = "segment"
POLL_SECONDS = 0.1  # between looks at another worker's call; only contention pays for it


class CallInFlightError(TmPipelineError):
    """Another worker is paying for this text now; its reply will be in the memory."""


class CallLimitError(TmPipelineError):
    """This text was paid or possibly paid for often enough; a person decides.  ``kind`` says which."""

    def __init__(self, message: str, kind: ErrorKind) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A text from the engine, or from the ledger where ``replayed``."""

    text: str
    call_id: int
    replayed: bool
    characters: int


def request_key(engine: Engine, job: Job, piece: str) -> str:
    """What is paid for once: the text piece, its pair, the engine with its options, the rules version."""
    parts = (
        job.source_hash,
        hashlib.sha256(piece.encode()).hexdigest(),
        job.source_language,
        job.group.target_language,
        engine.key,
        NORMALIZATION_VERSION,
    )
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def request_keys(engine: Engine, job: Job) -> list[str]:
    """The keys of all pieces that the text of ``job`` is paid for in."""
    return [request_key(engine, job, piece) for piece in pieces_of(engine, job)]


def pieces_of(engine: Engine, job: Job) -> tuple[str, ...]:
    """The text of ``job`` in pieces that the engine takes; each is a call of its own."""
    return split(job.source_text, engine.provider.capabilities.max_characters_item)


def known_calls(ctx: Context, keys: Sequence[str]) -> Mapping[str, Sequence[Call]]:
    """The ledger's rows for ``keys``, in one read."""
    if not keys:
        return {}
    with ctx.db.read() as conn:
        return calls_for_keys(conn, sorted(set(keys)))


def stored_reply(calls: Sequence[Call]) -> Reply | None:
    """A paid reply that passed its checks and never reached the memory."""
    for call in calls:
        if call.state is CallState.DONE and call.error_kind is None and call.reply and not call.settled:
            return Reply(text=call.reply, call_id=call.id, replayed=True, characters=0)
    return None


def obtain(ctx: Context, engine: Engine, job: Job, piece: str, calls: Sequence[Call], *, run_id: str) -> Reply:
    """The reply for ``piece``: the stored one, the one another worker is paying for, or a call paid now.

    ``calls`` are the ledger's rows for this piece. Raises ``CallInFlightError``, ``CallLimitError`` or the
    engine's ``ProviderError``.
    """
    key = request_key(engine, job, piece)
    deadline = time.monotonic() + ctx.policy.call_timeout_seconds
    while True:
        stored = stored_reply(calls)
        if stored is not None:
            return stored
        if not any(call.state is CallState.IN_FLIGHT for call in calls):
            call_id = _open(ctx, engine, job, piece, key, calls, run_id)
            if call_id is not None:
                return _pay(ctx, engine, job, piece, call_id)
        if time.monotonic() > deadline:
            raise CallInFlightError(f"{job.group} {job.field_key}: another worker is translating the same text now.")
        time.sleep(POLL_SECONDS)
        calls = known_calls(ctx, [key]).get(key, ())


def _open(
    ctx: Context, engine: Engine, job: Job, piece: str, key: str, calls: Sequence[Call], run_id: str
) -> int | None:
    """Commit the intent; None where another worker wrote to this key since ``calls`` were read.

    ``attempt`` is part of a unique key: a worker that read the ledger before the other's reply arrived
    cannot open the same attempt again, so it looks once more and finds the reply.
    """
    _refuse_beyond_limits(calls)
    intent = CallIntent(
        request_key=key,
        attempt=len(calls) + 1,
        operation="translate",
        provider=engine.provider.name,
        engine_key=engine.key,
        source_language=job.source_language,
        target_language=job.group.target_language,
        source_hash=job.source_hash,
        characters=len(piece),
        run_id=run_id,
        job_ids=str(job.id),
        deadline_seconds=int(ctx.policy.call_timeout_seconds) + RECORD_MARGIN_SECONDS,
    )
    return ctx.db.run(lambda conn: open_call(conn, intent))


def _pay(ctx: Context, engine: Engine, job: Job, piece: str, call_id: int) -> Reply:
    failpoint("after_intent")
    begun = time.monotonic()
    request = TranslationRequest(
        items=(TranslationItem(id=CALL_UNIT, text=piece),),
        source_language=job.source_language,
        target_language=job.group.target_language,
        honorific=engine.honorific,
    )
    try:
        batch = engine.provider.translate(request)
    except ProviderError as error:
        _close_failed(ctx, call_id, error, begun)
        raise
    failpoint("after_reply")
    outcome = _only_outcome(engine, batch)
    if outcome.error is not None:
        _close_failed(ctx, call_id, outcome.error, begun, billed_units=outcome.billed_units)
        raise outcome.error
    ctx.db.run(
        lambda conn: close_call(
            conn,
            call_id,
            state=CallState.DONE,
            http_status=batch.http_status,
            latency_ms=_elapsed_ms(begun),
            reply=outcome.text,
            billed_units=outcome.billed_units,
            billed_estimated=outcome.billed_estimated,
        )
    )
    failpoint("after_ledger")
    return Reply(text=outcome.text or "", call_id=call_id, replayed=False, characters=len(piece))


def _only_outcome(engine: Engine, batch: BatchOutcome) -> ItemOutcome:
    """The outcome of the one item asked for; a reply that does not have exactly it is a failed item."""
    found = batch.by_id().get(CALL_UNIT)
    if found is None or len(batch.outcomes) != 1:
        error: ProviderError = ProtocolError(
            f"{engine.key} answered {len(batch.outcomes)} items for 1 asked; the reply was not used.",
            http_status=batch.http_status,
            may_have_been_billed=True,
        )
        return ItemOutcome(id=CALL_UNIT, error=error)
    if found.error is None and not found.text:
        empty = OutputInvalidError(f"{engine.key} answered no text.", http_status=batch.http_status)
        return ItemOutcome(id=CALL_UNIT, error=empty, billed_units=found.billed_units)
    return found


def _refuse_beyond_limits(calls: Sequence[Call]) -> None:
    calls = [call for call in calls if not call.settled]
    unknown = sum(call.state is CallState.UNKNOWN for call in calls)
    if unknown >= UNKNOWN_LIMIT:
        raise CallLimitError(
            f"{unknown} calls for this text ended without a known reply and may have been paid; "
            "compare provider_call with the provider's bill, then retry the job: that settles them.",
            ErrorKind.UNKNOWN_CALL,
        )
    invalid = [call for call in calls if call.error_kind is ErrorKind.OUTPUT_INVALID]
    if len(invalid) >= REPLY_LIMIT:
        raise CallLimitError(
            f"{len(invalid)} paid replies failed the checks; last reason: {invalid[-1].error_message}",
            ErrorKind.OUTPUT_INVALID,
        )


def _close_failed(ctx: Context, call_id: int, error: ProviderError, begun: float, *, billed_units: int = 0) -> None:
    """Book a call that gave no text: paid but useless, possibly paid, or surely unpaid."""
    state = CallState.UNKNOWN if error.may_have_been_billed else CallState.REFUSED
    if isinstance(error, OutputInvalidError):
        state = CallState.DONE
    ctx.db.run(
        lambda conn: close_call(
            conn,
            call_id,
            state=state,
            http_status=error.http_status,
            error_kind=error.kind,
            message=str(error),
            latency_ms=_elapsed_ms(begun),
            billed_units=billed_units,
        )
    )


def _elapsed_ms(begun: float) -> int:
    return int((time.monotonic() - begun) * 1_000)
