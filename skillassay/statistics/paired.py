"""The mean of paired differences with its sign-flip p-value and interval: the figures behind the lift in use.

Owns the inversion of the sign-flip test. Exact only for differences that are symmetric about their centre;
``bounded`` has the interval that needs no symmetry, ``signflip`` the test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from skillassay.statistics.interval import CONFIDENCE, Interval
from skillassay.statistics.signflip import sign_flip_test

EXACT_CASES = 14
"""Up to this many cases all 2^n sign patterns are enumerated; beyond it a seeded sample of patterns is drawn."""
SAMPLED_PATTERNS = 20_000
ROUNDING = 1e-12
MIN_PAIRS = 6
"""Fewer pairs have no two-sided 95 % interval: of 2^5 sign patterns even the most extreme two are 6.25 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The mean of paired differences with the pair as the unit.

    ``interval`` is None when the sample is too small for any interval at this confidence; ``p_value`` is two-sided.
    """

    n: int
    mean: float | None
    interval: Interval | None
    p_value: float | None

    @property
    def word(self) -> str:
        """``helps``, ``hurts`` or ``inconclusive``: what the interval allows to say."""
        if self.mean is None or self.interval is None or not self.interval.excludes_zero():
            return "inconclusive"
        return "helps" if self.interval.low > 0 else "hurts"


def paired_difference(
    differences: Sequence[Fraction], *, step: float, bound: float = 1.0, confidence: float = CONFIDENCE, seed: int = 0
) -> PairedDifference:
    """Mean paired difference, its sign-flip p-value and the interval that inverts the sign-flip test.

    The interval consists of the order statistics of all subset means ("typical values"), so it is exact for
    differences that are symmetric about their centre, whatever their distribution: J. A. Hartigan, "Using subsample
    values as typical values", JASA 64 (1969). Below 6 pairs no 95 % interval exists (2^5 patterns are too few) and
    none is given. Scores move in steps of ``step`` (1 / number of criteria), so both ends are widened by half a step,
    a continuity correction: equal differences then have an interval with width. Ends are clipped to ``bound``.
    """
    n = len(differences)
    if n == 0:
        return PairedDifference(n=0, mean=None, interval=None, p_value=None)
    test = sign_flip_test(differences, seed=seed)
    values = [float(difference) for difference in differences]
    mean = fmean(values)
    means = _subset_means(values, seed)
    # Of all 2^n patterns (the empty subset included) a tail of k on each side leaves the k-th smallest and the k-th
    # largest subset mean as ends.
    n_patterns = 2**n if n <= EXACT_CASES else SAMPLED_PATTERNS
    tail = math.floor(n_patterns * (1 - confidence) / 2)
    interval = None
    if tail >= 1:
        low, high = (_settled(end) for end in (means[tail - 1] - step / 2, means[-tail] + step / 2))
        interval = Interval(low=max(-bound, low), high=min(bound, high))
    return PairedDifference(n=n, mean=mean, interval=interval, p_value=None if test is None else float(test.two_sided))


def _settled(end: float) -> float:
    """Zero for what is zero but for rounding: whether an interval excludes zero must not hang on the last bit."""
    return 0.0 if abs(end) < ROUNDING else end


def _subset_means(differences: Sequence[float], seed: int) -> list[float]:
    n = len(differences)
    if n <= EXACT_CASES:
        sums, sizes = [0.0], [0]
        for value in differences:
            sums += [total + value for total in sums]
            sizes += [size + 1 for size in sizes]
        return sorted(total / size for total, size in zip(sums[1:], sizes[1:], strict=True))
    draw = random.Random(seed)  # noqa: S311 - a reproducible sample, not a secret
    means: list[float] = []
    while len(means) < SAMPLED_PATTERNS:
        chosen = [value for value in differences if draw.getrandbits(1)]
        if chosen:
            means.append(fmean(chosen))
    return sorted(means)
