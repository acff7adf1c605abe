"""What every use case needs, gathered once by ``wiring``."""

from collections.abc import Callable
from dataclasses import dataclass

from tm_pipeline.domain.backoff import backoff_seconds
from tm_pipeline.domain.domains import Domain, DomainRegistry
from tm_pipeline.domain.errors import UsageError
from tm_pipeline.ports import EngineCatalogue, LanguageDetector
from tm_pipeline.store.engine import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers that govern retries, leases and parallel calls (S71); seconds where named so."""

    max_retries: int = 5
    backoff_base_seconds: int = 30
    backoff_max_seconds: int = 3_600
    lease_seconds: int = 120
    call_timeout_seconds: float = 10.0
    max_in_flight: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Database, domains, engines and policy; ``random`` returns numbers in [0, 1) for jitter."""

    db: Database
    registry: DomainRegistry
    engines: EngineCatalogue
    detector: LanguageDetector | None
    policy: Policy
    random: Callable[[], float]

    def backoff(self, attempt: int) -> int:
        """Seconds to wait after attempt ``attempt``, by the policy's base and cap, with jitter."""
        policy = self.policy
        return backoff_seconds(
            attempt, base=policy.backoff_base_seconds, cap=policy.backoff_max_seconds, jitter=self.random()
        )

    def domain(self, resource_type: str) -> Domain:
        """The domain of ``resource_type``; raises ``UsageError`` listing the known ones."""
        found = self.registry.get(resource_type)
        if found is None:
            known = ", ".join(self.registry.domains)
            raise UsageError(f"There is no domain {resource_type!r}. Known domains: {known}.")
        return found
