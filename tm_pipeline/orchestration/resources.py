"""The one Dagster resource: the pipeline's application.

It is a handle only. The application is built at the first use and cached for the process, because a
Dagster resource lives for one run or one sensor evaluation and a connection pool must outlive both.
"""

import dagster as dg

from tm_pipeline.services.context import Context
from tm_pipeline.settings import Settings
from tm_pipeline.wiring import current_application


class Pipeline(dg.ConfigurableResource[None]):
    """Gives ops, assets and sensors the services' context and the settings."""

    @property
    def context(self) -> Context:
        """What the services need."""
        return current_application().context

    @property
    def settings(self) -> Settings:
        """The ``TM_*`` settings of this process."""
        return current_application().settings
