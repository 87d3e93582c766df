"""What an estimate looks like: a two-sided interval, and a figure that may be undefined for a stated reason.

Owns the two shapes and the normal quantile that the rest of the room shares; computes nothing of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A two-sided interval in the unit of the estimate."""

    low: float
    high: float

    def excludes_zero(self) -> bool:
        """Whether zero lies outside the interval."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its standard error and interval. What is None is unknown, and ``reason`` says why."""

    value: float | None
    standard_error: float | None = None
    interval: Interval | None = None
    reason: str | None = None


def two_sided_z(confidence: float) -> float:
    """The standard normal quantile that leaves half of 1 - confidence on each side (1.96 for 0.95)."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, {confidence} does not")
    return NormalDist().inv_cdf(0.5 + confidence / 2)
