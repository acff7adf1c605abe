"""Every error of the product, split by what the caller can do about it.

TmPipelineError
├── ConfigurationError            the operator must correct a setting, file or schema (exit 3)
│   ├── DomainsFileError          … the domains file: names file, path inside it and remedy
│   └── SchemaError               … the database schema or server settings
├── DatabaseUnavailableError      wait and run the same thing again
├── UsageError                    the request names something that does not exist (exit 2)
├── InvalidSourceError            this text can never be translated as it is
├── ReadModelError                this read-model row cannot be written as it is
├── LeaseLostError                another worker owns the group now; write nothing
├── AlertDeliveryError            the webhook did not take an alert; it is kept and tried again
└── ProviderError                 the engine did not give a usable translation
    ├── InvalidInputError         final for the item
    ├── UnsupportedPairError      final for the item
    ├── LanguageUndeterminedError final for the item: a person decides
    ├── ContentRefusedError       final for the item: a person decides
    ├── OutputInvalidError        bounded retry, then a person decides
    ├── TransientProviderError    attempt + back-off
    │   └── ProtocolError         … a reply that is no reply of this engine
    ├── RateLimitedError          the whole provider pauses, no attempt is burned
    └── ProviderStoppedError      nothing is spent until a person resumes
        ├── QuotaExhaustedError
        ├── CredentialRejectedError
        └── ProviderMisconfiguredError

A message says what was tried, what came back and what to do next; never a secret, never a whole
source text (facts/providers.md §5.3).
"""

from enum import StrEnum


class ErrorKind(StrEnum):
    """What is stored in ``error_kind`` columns; one value per way of failing."""

    INVALID_SOURCE = "invalid_source"
    INVALID_INPUT = "invalid_input"
    UNSUPPORTED_PAIR = "unsupported_pair"
    LANGUAGE_UNDETERMINED = "language_undetermined"
    CONTENT_REFUSED = "content_refused"
    OUTPUT_INVALID = "output_invalid"
    TRANSIENT = "transient"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    CREDENTIAL = "credential"
    CONFIGURATION = "configuration"
    IN_FLIGHT = "in_flight"
    UNKNOWN_CALL = "unknown_call"
    LEASE_EXPIRED = "lease_expired"
    WITHDRAWN = "withdrawn"
    OPERATOR = "operator"
    INTERNAL = "internal"


class TmPipelineError(Exception):
    """Base of every error that this package raises on purpose."""


class ConfigurationError(TmPipelineError):
    """A setting, file or schema must be corrected by a person."""


class DomainsFileError(ConfigurationError):
    """The domains file is wrong; the message names file, path and remedy."""


class SchemaError(ConfigurationError):
    """The database schema or server settings do not fit this version of the code."""


class DatabaseUnavailableError(TmPipelineError):
    """The database did not answer or refused to write; running the same thing again is safe."""


class UsageError(TmPipelineError):
    """The request names something that does not exist."""


class InvalidSourceError(TmPipelineError):
    """The source text can never be translated as it is (lone surrogate, NUL, too many bytes)."""


class ReadModelError(TmPipelineError):
    """A read-model row cannot be written as it is (for instance longer than its column)."""


class LeaseLostError(TmPipelineError):
    """Another worker owns the group; nothing was written."""


class AlertDeliveryError(TmPipelineError):
    """The webhook did not take an alert; it is kept and tried again."""


class ProviderError(TmPipelineError):
    """The engine did not give a usable translation.

    ``kind`` is what the ledger stores; ``may_have_been_billed`` is true where the request left this
    machine and no complete reply came back; ``http_status`` is None where no reply was read.
    """

    kind = ErrorKind.TRANSIENT

    def __init__(
        self,
        message: str,
        *,
        http_status: int | None = None,
        may_have_been_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.may_have_been_billed = may_have_been_billed


class InvalidInputError(ProviderError):
    """The engine will never take this text as it is."""

    kind = ErrorKind.INVALID_INPUT


class UnsupportedPairError(ProviderError):
    """The engine has no such language pair."""

    kind = ErrorKind.UNSUPPORTED_PAIR


class LanguageUndeterminedError(ProviderError):
    """The engine could not tell the source language."""

    kind = ErrorKind.LANGUAGE_UNDETERMINED


class ContentRefusedError(ProviderError):
    """The engine refuses this content."""

    kind = ErrorKind.CONTENT_REFUSED


class OutputInvalidError(ProviderError):
    """The reply is complete and paid, but is not a translation that may be stored."""

    kind = ErrorKind.OUTPUT_INVALID


class TransientProviderError(ProviderError):
    """The same call may succeed later."""

    kind = ErrorKind.TRANSIENT


class ProviderTimeoutError(TransientProviderError):
    """No complete reply within the total time-out; it may have been billed."""

    kind = ErrorKind.TIMEOUT


class ProtocolError(TransientProviderError):
    """The reply is not one of this engine: not JSON, wrong shape, a redirect, too large."""

    kind = ErrorKind.PROTOCOL


class RateLimitedError(ProviderError):
    """The engine asks for fewer calls; ``retry_after_seconds`` is None where it did not say for how long."""

    kind = ErrorKind.RATE_LIMITED

    def __init__(
        self, message: str, *, retry_after_seconds: float | None = None, http_status: int | None = None
    ) -> None:
        super().__init__(message, http_status=http_status)
        self.retry_after_seconds = retry_after_seconds


class ProviderStoppedError(ProviderError):
    """Nothing may be spent on this provider until a person resumes it."""

    kind = ErrorKind.CONFIGURATION


class QuotaExhaustedError(ProviderStoppedError):
    """The account has nothing left to spend."""

    kind = ErrorKind.QUOTA


class CredentialRejectedError(ProviderStoppedError):
    """The key is wrong or lacks the permission."""

    kind = ErrorKind.CREDENTIAL


class ProviderMisconfiguredError(ProviderStoppedError):
    """Host, path, model or glossary of this provider is wrong."""

    kind = ErrorKind.CONFIGURATION
