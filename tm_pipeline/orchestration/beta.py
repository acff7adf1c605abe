"""Parts of Dagster's interface that it still calls beta and that this project uses, on a pinned version.

Dagster warns at each such use, also when it copies a definition later; an operator who starts the product
can do nothing about it.
"""

import warnings

import dagster as dg


def accept() -> None:
    """Take owners, the backfill policy and code references without a warning for each, in this process."""
    used = "Parameter `(owners|backfill_policy)`|Class `(LocalFile|Url)?CodeReference"
    warnings.filterwarnings("ignore", message=used, category=dg.BetaWarning)
