"""A context over a real database and a real HTTP engine (the fake Papago with its billing ledger)."""

from collections.abc import Callable

import pytest

from tm_pipeline.domain.domains import DomainRegistry
from tm_pipeline.domain.registry import builtin_registry
from tm_pipeline.ports import Engine
from tm_pipeline.providers.papago import PapagoDetector, PapagoProvider
from tm_pipeline.services.context import Context, Policy
from tm_pipeline.store.engine import Database
from tm_pipeline_tests.fakes.papago import FakePapago

CALL_SECONDS = 2.0


class OneEngine:
    """Every domain is translated by the same provider."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def engine_for(self, resource_type: str) -> Engine:
        return self._engine

    def provider_names(self) -> list[str]:
        return [self._engine.provider.name]


@pytest.fixture
def make_context(database: Database, fake_papago: FakePapago) -> Callable[..., Context]:
    """Build a context over the test database; keyword arguments change the policy."""

    def build(*, registry: DomainRegistry | None = None, db: Database | None = None, **policy: object) -> Context:
        papago = {
            "base_url": fake_papago.base_url,
            "client_id": lambda: "id",
            "client_secret": lambda: "secret",
            "timeout_seconds": CALL_SECONDS,
        }
        provider = PapagoProvider(**papago)  # type: ignore[arg-type]
        numbers = {
            "lease_seconds": 30,
            "call_timeout_seconds": CALL_SECONDS,
            "backoff_base_seconds": 0,
            **policy,
        }
        return Context(
            db=db or database,
            registry=registry or builtin_registry(),
            engines=OneEngine(Engine(key="papago", provider=provider)),
            detector=PapagoDetector(**papago),  # type: ignore[arg-type]
            policy=Policy(**numbers),  # type: ignore[arg-type]
            random=lambda: 0.5,
        )

    return build


@pytest.fixture
def ctx(make_context: Callable[..., Context]) -> Context:
    return make_context()
