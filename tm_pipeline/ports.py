"""What the services need from the outside, as protocols; ``wiring`` supplies the implementations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tm_pipeline.domain.errors import ProviderError


class Clock(Protocol):
    """The time of this process; leases and due times use the database's clock instead."""

    def now(self) -> datetime:
        """The present as an aware UTC time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an engine can take. ``pairs`` None means every pair; characters are UTF-16 units."""

    max_items: int = 1
    max_characters_item: int = 5_000
    pairs: frozenset[tuple[str, str]] | None = None
    auto_source: bool = False
    honorific_pairs: frozenset[tuple[str, str]] = frozenset()
    billed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationItem:
    """One text to translate; ``id`` comes back with its outcome."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationRequest:
    """Texts of one language pair (canonical tags) for at most one HTTP exchange."""

    items: tuple[TranslationItem, ...]
    source_language: str
    target_language: str
    honorific: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """The engine's answer for one item: a text, or the error of this item."""

    id: str
    text: str | None = None
    error: ProviderError | None = None
    billed_units: int = 0
    billed_estimated: bool = True
    detected_source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOutcome:
    """Exactly one outcome per requested id."""

    outcomes: tuple[ItemOutcome, ...]
    http_status: int | None = None
    provider_request_id: str | None = None
    http_calls: int = 1

    def by_id(self) -> Mapping[str, ItemOutcome]:
        """The outcomes by item id."""
        return {outcome.id: outcome for outcome in self.outcomes}


class TranslationProvider(Protocol):
    """A translation engine. It never sleeps, retries or touches the database (design §9)."""

    @property
    def name(self) -> str:
        """The name by which domains and settings choose this engine, such as ``papago``."""
        ...

    @property
    def version(self) -> str:
        """What is stored as ``provider_version``."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can take."""
        ...

    def translate(self, request: TranslationRequest) -> BatchOutcome:
        """Make at most one HTTP exchange; raises a ``ProviderError`` where the whole call failed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A detected language: a canonical tag or ``und``; ``confidence`` is None where the detector gives none."""

    language: str
    provider: str
    confidence: float | None = None


class LanguageDetector(Protocol):
    """Tells the language of a text; at most one HTTP exchange a text."""

    @property
    def name(self) -> str:
        """What is stored as ``provider`` of a detection."""
        ...

    def detect(self, text: str) -> Detection:
        """Detect the language of one normalised text; raises a ``ProviderError`` where the call failed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A provider together with the options that its output depends on.

    ``key`` is stored as ``translation_memory.provider``: ``papago``, ``papago:honorific``, …
    """

    key: str
    provider: TranslationProvider
    honorific: bool = False


class AlertSink(Protocol):
    """Takes alerts to people."""

    def send(self, alert: Mapping[str, object]) -> None:
        """Deliver one alert, a JSON object; raises ``AlertDeliveryError`` where it was not taken."""
        ...


class EngineCatalogue(Protocol):
    """Finds the engine of a domain."""

    def engine_for(self, resource_type: str) -> Engine:
        """The engine of that domain; raises ``ConfigurationError`` where its provider cannot be built."""
        ...

    def provider_names(self) -> Sequence[str]:
        """The names of the providers that the domains use, sorted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemIds:
    """Who acts: ``run_id`` is the root run id in Dagster, ``host:pid:uuid`` in the bare loop."""

    run_id: str
    actor: str = "pipeline"
    tags: Mapping[str, str] = field(default_factory=dict)
