"""Papago by NAVER Cloud Platform: text translation and language detection, one text a call."""

import json
from collections.abc import Callable, Mapping

from tm_pipeline.domain.errors import (
    CredentialRejectedError,
    InvalidInputError,
    OutputInvalidError,
    ProtocolError,
    ProviderError,
    UnsupportedPairError,
)
from tm_pipeline.ports import (
    BatchOutcome,
    Capabilities,
    Detection,
    ItemOutcome,
    TranslationItem,
    TranslationRequest,
)
from tm_pipeline.providers.http import HttpExchange, HttpReply, printable
from tm_pipeline.providers.papago_errors import ITEM_ERRORS, SAME_LANGUAGE, ErrorBody, error_body, error_of
from tm_pipeline.providers.papago_languages import HONORIFIC_PAIRS, PAIRS, has_pair, papago_code, tag_of
from tm_pipeline.providers.texts import refusal, utf16_units

TRANSLATION_PATH = "/nmt/v1/translation"
DETECTION_PATH = "/langs/v1/dect"
MAX_CHARACTERS = 5_000
DETECTION_SAMPLE = 1_000  # code points; more would not change the answer


class _DuplicateKeyError(ValueError):
    """An object of the reply holds one name twice, so that its meaning depends on the reader."""


class _PapagoApi:
    """What both APIs share: credentials, the exchange, and the reading of replies."""

    def __init__(
        self,
        *,
        base_url: str,
        client_id: Callable[[], str],
        client_secret: Callable[[], str],
        timeout_seconds: float,
    ) -> None:
        self._http = HttpExchange(service="papago", base_url=base_url, timeout_seconds=timeout_seconds)
        self._client_id = client_id
        self._client_secret = client_secret

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def post(self, path: str, form: Mapping[str, str]) -> HttpReply:
        """One exchange with the key's headers; raises a ``ProviderError``."""
        headers = {
            "x-ncp-apigw-api-key-id": self._client_id().strip(),
            "x-ncp-apigw-api-key": self._client_secret().strip(),
        }
        if not all(value.isascii() and value.isprintable() and value for value in headers.values()):
            raise CredentialRejectedError(
                "papago: the client id or secret is empty or has characters of no key; nothing was sent."
            )
        return self._http.post_form(path, form, headers)

    def error_of(self, reply: HttpReply, parsed: object, *, sent: str) -> ProviderError:
        """The error of a reply that is no result; its message shows neither key nor text."""
        body = error_body(parsed)
        return error_of(reply, body, service="papago", said=self._safe(body, sent))

    def _safe(self, body: ErrorBody, sent: str) -> str:
        words = body.message
        for hidden in (self._client_secret().strip(), self._client_id().strip(), sent):
            if hidden and hidden in words:
                words = words.replace(hidden, "***")
        return printable(words)


class _PapagoClient:
    """What a provider and a detector are made of. The keys are asked for at each call and kept nowhere."""

    def __init__(
        self,
        *,
        base_url: str,
        client_id: Callable[[], str],
        client_secret: Callable[[], str],
        timeout_seconds: float = 10.0,
    ) -> None:
        self._api = _PapagoApi(
            base_url=base_url,
            client_id=client_id,
            client_secret=client_secret,
            timeout_seconds=timeout_seconds,
        )

    def close(self) -> None:
        """Close idle connections; the client stays usable."""
        self._api.close()


class PapagoProvider(_PapagoClient):
    """Text translation (NMT)."""

    name = "papago"
    version = "nmt-v1"
    capabilities = Capabilities(
        max_items=1,
        max_characters_item=MAX_CHARACTERS,
        pairs=PAIRS,
        auto_source=True,
        honorific_pairs=HONORIFIC_PAIRS,
    )

    def translate(self, request: TranslationRequest) -> BatchOutcome:
        """Translate the one text of ``request``; what can be answered or refused here makes no call."""
        if len(request.items) != 1:
            outcomes = tuple(
                _refused(item, InvalidInputError("papago takes one text a call.")) for item in request.items
            )
            return BatchOutcome(outcomes=outcomes, http_calls=0)
        (item,) = request.items
        source, target = papago_code(request.source_language), papago_code(request.target_language)
        local = _without_a_call(item, request, source, target)
        if local is not None or source is None or target is None:
            return BatchOutcome(outcomes=(local,) if local else (), http_calls=0)
        form = {"source": source, "target": target, "text": item.text}
        if request.honorific and (source, target) in HONORIFIC_PAIRS:
            form["honorific"] = "true"
        reply = self._api.post(TRANSLATION_PATH, form)
        return BatchOutcome(outcomes=(self._outcome(item, reply),), http_status=reply.status)

    def _outcome(self, item: TranslationItem, reply: HttpReply) -> ItemOutcome:
        parsed = parsed_json(reply)
        result = _result(parsed) if reply.status == 200 else None
        if result is not None:
            return _paid_outcome(item, reply, result)
        if error_body(parsed).code == SAME_LANGUAGE:
            return ItemOutcome(id=item.id, text=item.text)
        error = self._api.error_of(reply, parsed, sent=item.text)
        if not isinstance(error, ITEM_ERRORS):
            raise error
        return _refused(item, error)


class PapagoDetector(_PapagoClient):
    """Language detection: free of charge, one answer, no confidence."""

    name = "papago"

    def detect(self, text: str) -> Detection:
        """Detect by the beginning of ``text``; raises a ``ProviderError``."""
        sample = text[:DETECTION_SAMPLE]
        refused = refusal(sample)
        if refused is not None:
            raise InvalidInputError(f"papago: {refused}; nothing was sent.")
        reply = self._api.post(DETECTION_PATH, {"query": sample})
        parsed = parsed_json(reply)
        code = parsed.get("langCode") if reply.status == 200 and isinstance(parsed, Mapping) else None
        if not isinstance(code, str) or not code.strip():
            raise self._api.error_of(reply, parsed, sent=sample)
        return Detection(language=tag_of(code), provider=self.name)


def parsed_json(reply: HttpReply) -> object:
    """The body as JSON; None where it is none, is not UTF-8, or holds one name twice."""
    try:
        return json.loads(reply.body.decode("utf-8-sig"), object_pairs_hook=_unique_names, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise _DuplicateKeyError
    return names


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _result(parsed: object) -> Mapping[str, object] | None:
    """``message.result`` of a success body; every other member is optional."""
    message = parsed.get("message") if isinstance(parsed, Mapping) else None
    result = message.get("result") if isinstance(message, Mapping) else None
    return result if isinstance(result, Mapping) else None


def _without_a_call(
    item: TranslationItem, request: TranslationRequest, source: str | None, target: str | None
) -> ItemOutcome | None:
    if source is None or target is None or (source != target and not has_pair(source, target)):
        pair = f"{printable(request.source_language, 35)} → {printable(request.target_language, 35)}"
        return _refused(item, UnsupportedPairError(f"papago has no engine for {pair}; nothing was sent."))
    refused = refusal(item.text)
    if refused is not None:
        return _refused(item, InvalidInputError(f"papago: {refused}; nothing was sent."))
    if source == target:
        return ItemOutcome(id=item.id, text=item.text)
    units = utf16_units(item.text)
    if units > MAX_CHARACTERS:
        message = f"papago takes {MAX_CHARACTERS:,} characters a call, the text has {units:,}; nothing was sent."
        return _refused(item, InvalidInputError(message))
    return None


def _refused(item: TranslationItem, error: ProviderError) -> ItemOutcome:
    return ItemOutcome(id=item.id, error=error)


def _paid_outcome(item: TranslationItem, reply: HttpReply, result: Mapping[str, object]) -> ItemOutcome:
    """The outcome of a success body, which is billed whatever it holds."""
    text, detected = result.get("translatedText"), result.get("srcLangType")
    if text is not None and not isinstance(text, str):
        raise ProtocolError(
            f"papago: {reply.describe()} holds a translation that is no text.",
            http_status=reply.status,
            may_have_been_billed=True,
        )
    problem = "no translation" if text is None else refusal(text)
    error = (
        OutputInvalidError(f"papago answered, and billed, {problem}.", http_status=reply.status)
        if problem is not None
        else None
    )
    return ItemOutcome(
        id=item.id,
        text=text if error is None else None,
        error=error,
        billed_units=len(item.text),
        detected_source=tag_of(detected) if isinstance(detected, str) and detected.strip() else None,
    )
