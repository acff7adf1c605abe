"""How a check fared, before and after it becomes Dagster's."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import dagster as dg

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a claim fared: the numbers that it was judged by, and one line for a person."""

    passed: bool
    words: str
    numbers: Mapping[str, int | float | str] = field(default_factory=dict)


def check_result(name: str, asset: str, severity: dg.AssetCheckSeverity, verdict: Verdict) -> dg.AssetCheckResult:
    """A verdict as Dagster's result."""
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=asset,
        passed=verdict.passed,
        severity=severity,
        description=verdict.words,
        metadata=dict(verdict.numbers),
    )
