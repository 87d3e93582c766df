"""Intervals of proportions and of their differences: one sample, two independent ones, and the same cases twice.

Owns Wilson's and Newcombe's closed forms. All are score intervals: none has zero width for a sample, not even for 0 of
n or n of n. Unit: a share between 0 and 1, a difference between -1 and 1. What counts as passed is the caller's matter,
but for repeats: ``PairedCounts.of_cases`` says how the repeats of a case become one outcome.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from skillassay.statistics.interval import CONFIDENCE, Interval


def wilson(passed: int, n: int, *, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson score interval of a proportion, without continuity correction; None for n = 0 (nothing was measured).

    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} is not a proportion")
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = passed / n
    centre = rate + z * z / (2 * n)
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Rounding may leave 0 and 1 by one ulp; the closed form meets them exactly at 0 of n and n of n.
    low = 0.0 if passed == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if passed == n else min(1.0, (centre + spread) / scale)
    return Interval(low=low, high=high)


def newcombe(first: tuple[int, int], second: tuple[int, int], *, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of p1 - p2 for two independent samples, each (passed, n); None when either is empty.

    The hybrid score interval: with Wilson limits l, u of each rate, d - √((p1-l1)² + (u2-p2)²) to
    d + √((u1-p1)² + (p2-l2)²). Source: R. G. Newcombe, "Interval estimation for the difference between independent
    proportions: comparison of eleven methods", Statistics in Medicine 17 (1998), 873-890, method 10. Not for the same
    cases in two arms: those are paired, see ``newcombe_paired``.
    """
    limits_1, limits_2 = wilson(*first, confidence=confidence), wilson(*second, confidence=confidence)
    if limits_1 is None or limits_2 is None:
        return None
    return _square_and_add((first[0] / first[1], limits_1), (second[0] / second[1], limits_2), phi=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCounts:
    """The same cases under two conditions: how many passed under both, under one alone, under neither."""

    both: int
    first_only: int
    second_only: int
    neither: int

    def __post_init__(self) -> None:
        if min(self.both, self.first_only, self.second_only, self.neither) < 0:
            raise ValueError(f"{self} holds a negative count")

    @property
    def n(self) -> int:
        """The number of cases."""
        return self.both + self.first_only + self.second_only + self.neither

    @staticmethod
    def of_cases(cases: Iterable[tuple[Sequence[bool], Sequence[bool]]]) -> PairedCounts:
        """One outcome a case: a case passes under a condition when every one of its repeats did.

        Repeats of a case hang together, so that they are collapsed before anything is counted. A case without repeats
        under either condition says nothing and is refused.
        """
        counts = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0)
        for first, second in cases:
            if not first or not second:
                raise ValueError("a case without repeats is no pair")
            counts[all(first), all(second)] += 1
        return PairedCounts(
            both=counts[True, True],
            first_only=counts[True, False],
            second_only=counts[False, True],
            neither=counts[False, False],
        )


def newcombe_paired(counts: PairedCounts, *, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of p1 - p2 for the same cases under two conditions; None for no cases.

    As for independent samples, less the covariance: d - √(δ² - 2φδε + ε²) with δ = p1 - l1 and ε = u2 - p2 below,
    u1 - p1 and p2 - l2 above. φ is the correlation of the two outcomes, its numerator ad - bc lessened by n/2 (to 0 at
    the least) where it is positive, and 0 where a margin is empty. Source: R. G. Newcombe, "Improved confidence
    intervals for the difference between binomial proportions based on paired data", Statistics in Medicine 17 (1998),
    2635-2650, method 10. All cases alike leaves φ = 0 and an interval with width.
    """
    n = counts.n
    if n == 0:
        return None
    first, second = counts.both + counts.first_only, counts.both + counts.second_only
    limits = wilson(first, n, confidence=confidence), wilson(second, n, confidence=confidence)
    assert limits[0] is not None
    assert limits[1] is not None
    return _square_and_add((first / n, limits[0]), (second / n, limits[1]), phi=_corrected_phi(counts))


def _corrected_phi(counts: PairedCounts) -> float:
    first, second, n = counts.both + counts.first_only, counts.both + counts.second_only, counts.n
    margins = first * (n - first) * second * (n - second)
    if margins == 0:
        return 0.0
    covariance: float = counts.both * counts.neither - counts.first_only * counts.second_only
    if covariance > 0:
        covariance = max(0.0, covariance - n / 2)
    return covariance / math.sqrt(margins)


def _square_and_add(first: tuple[float, Interval], second: tuple[float, Interval], *, phi: float) -> Interval:
    (rate_1, limits_1), (rate_2, limits_2) = first, second
    difference = rate_1 - rate_2
    below = _distance(rate_1 - limits_1.low, limits_2.high - rate_2, phi)
    above = _distance(limits_1.high - rate_1, rate_2 - limits_2.low, phi)
    return Interval(low=max(-1.0, difference - below), high=min(1.0, difference + above))


def _distance(delta: float, epsilon: float, phi: float) -> float:
    # φ = 1 makes this a square of a difference, which rounding may leave just below zero.
    return math.sqrt(max(0.0, delta * delta - 2 * phi * delta * epsilon + epsilon * epsilon))
