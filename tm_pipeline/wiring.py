"""The composition root: settings → database, domains, engines and the context of the services."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.errors import ConfigurationError, DomainsFileError
from tm_pipeline.domain.registry import builtin_registry, parse_domains
from tm_pipeline.ports import AlertSink, Engine, LanguageDetector, TranslationProvider
from tm_pipeline.providers.papago import PapagoDetector, PapagoProvider
from tm_pipeline.providers.pseudo import PseudoDetector, PseudoProvider
from tm_pipeline.providers.webhook import WebhookSink
from tm_pipeline.services import failpoints
from tm_pipeline.services.context import Context, Policy
from tm_pipeline.settings import Settings
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.tables import metadata

P = TypeVar("P", PapagoProvider, PapagoDetector)

PROVIDERS = ("papago", "pseudo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything a command, op or page needs."""

    settings: Settings
    context: Context
    alert_sink: AlertSink | None = None


class Engines:
    """The engines of the domains, each provider built once at its first use."""

    def __init__(self, settings: Settings, registry: DomainRegistry) -> None:
        self._settings = settings
        self._registry = registry
        self._providers: dict[str, TranslationProvider] = {}

    def engine_for(self, resource_type: str) -> Engine:
        """The engine of that domain; its key tells apart what its output depends on (design §6)."""
        domain = self._registry.get(resource_type)
        name = (domain.provider if domain else None) or self._settings.provider
        chosen = domain.honorific if domain else None
        honorific = name == "papago" and (self._settings.papago_honorific if chosen is None else chosen)
        provider = self._providers.get(name)
        if provider is None:
            provider = self._providers.setdefault(name, _build_provider(self._settings, name))
        return Engine(key=f"{name}:honorific" if honorific else name, provider=provider, honorific=honorific)

    def provider_names(self) -> list[str]:
        """The providers that the domains use, sorted."""
        return sorted({domain.provider or self._settings.provider for domain in self._registry})


def load_registry(settings: Settings) -> DomainRegistry:
    """The built-in domains, replaced or extended by the domains file; raises ``DomainsFileError``."""
    if settings.domains_file is None:
        return builtin_registry()
    try:
        text = settings.domains_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DomainsFileError(
            f"{settings.domains_file}: cannot be read ({error}). Set TM_DOMAINS_FILE to a UTF-8 YAML file."
        ) from error
    registry = parse_domains(text, file_name=str(settings.domains_file), base=BUILTIN)
    for domain in registry:
        for table in (domain.source.table, domain.read_model.table):
            if table in metadata.tables:
                raise DomainsFileError(
                    f"{settings.domains_file}: domains.{domain.resource_type}: {table} is a table of the pipeline "
                    "itself; name a table of the product."
                )
    return registry


def application(env: Mapping[str, str]) -> Application:
    """Build everything from an environment; opens no connection. Raises ``ConfigurationError``."""
    settings = Settings.from_env(env)
    failpoints.arm(settings.failpoints)
    registry = load_registry(settings)
    _check_providers(settings, registry)
    if settings.database_url.reveal().startswith("sqlite"):
        settings.home.mkdir(parents=True, exist_ok=True)
    context = Context(
        db=_open(settings),
        registry=registry,
        engines=Engines(settings, registry),
        detector=_detector(settings),
        policy=Policy(
            max_retries=settings.max_retries,
            backoff_base_seconds=settings.backoff_base_seconds,
            backoff_max_seconds=settings.backoff_max_seconds,
            lease_seconds=settings.lease_seconds,
            call_timeout_seconds=settings.provider_timeout_seconds,
            max_in_flight=settings.provider_max_in_flight,
        ),
        random=random.Random().random,  # noqa: S311 - jitter, not a secret
    )
    return Application(settings=settings, context=context, alert_sink=_alert_sink(settings))


@cache
def current_application() -> Application:
    """The application of this process, built from its environment at the first use."""
    return application(os.environ)


def _open(settings: Settings) -> Database:
    # Each worker thread may hold one connection beside its lease keeper's; one more for the caller.
    return open_database(settings.database_url.reveal(), pool_size=2 * settings.provider_max_in_flight + 1)


def _alert_sink(settings: Settings) -> AlertSink | None:
    """The webhook, where one is set; alerts are in the log in any case."""
    return WebhookSink(url=settings.alert_webhook_url.reveal) if settings.alert_webhook_url else None


def _check_providers(settings: Settings, registry: DomainRegistry) -> None:
    for name, where in [
        (settings.provider, "TM_PROVIDER"),
        *((domain.provider, f"provider of domain {domain.resource_type}") for domain in registry if domain.provider),
    ]:
        if name not in PROVIDERS:
            raise ConfigurationError(f"{where} is {name!r}; use one of {', '.join(PROVIDERS)}.")


def _build_provider(settings: Settings, name: str) -> TranslationProvider:
    if name == "papago":
        if not settings.papago_client_id or not settings.papago_client_secret:
            raise ConfigurationError(
                "The papago provider needs TM_PAPAGO_CLIENT_ID and TM_PAPAGO_CLIENT_SECRET; set both."
            )
        return _papago(settings, PapagoProvider)
    return PseudoProvider()


def _papago(settings: Settings, kind: type[P]) -> P:
    return kind(
        base_url=settings.papago_base_url,
        client_id=settings.papago_client_id.reveal,
        client_secret=settings.papago_client_secret.reveal,
        timeout_seconds=settings.provider_timeout_seconds,
    )


def _detector(settings: Settings) -> LanguageDetector | None:
    if settings.provider == "papago" and settings.papago_client_id and settings.papago_client_secret:
        return _papago(settings, PapagoDetector)
    return PseudoDetector() if settings.provider == "pseudo" else None
