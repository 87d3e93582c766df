"""The mean of paired differences with its interval and its sign-flip p-value: the figures behind every lift.

Owns the word that an interval allows. The two figures answer two questions: ``bounded`` where the mean lies, whatever
the differences are distributed like, ``signflip`` how often chance alone would do as much if both arms were alike. The
second is more easily answered, so that a p-value can be small where the interval still holds zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from skillassay.statistics.bounded import bounded_mean
from skillassay.statistics.interval import CONFIDENCE, Interval
from skillassay.statistics.signflip import sign_flip_test


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The mean of paired differences with the pair as the unit; all None for no pair. ``p_value`` is two-sided."""

    n: int
    mean: float | None
    interval: Interval | None
    p_value: float | None

    @property
    def word(self) -> str:
        """``helps``, ``hurts`` or ``inconclusive``: what the interval allows to say, whatever the p-value."""
        if self.interval is None or not self.interval.excludes_zero():
            return "inconclusive"
        return "helps" if self.interval.low > 0 else "hurts"


def paired_difference(
    differences: Sequence[Fraction], *, confidence: float = CONFIDENCE, seed: int = 0
) -> PairedDifference:
    """Mean paired difference of shares, each within [-1, 1], its interval and its sign-flip p-value.

    The interval assumes nothing of the differences but their range, so that a lift which sits in a few cases is held
    too. One pair has an interval already, a wide one: [-0.95, 1] at most. ``seed`` is the test's, where it draws.
    """
    test = sign_flip_test(differences, seed=seed)
    if test is None:
        return PairedDifference(n=0, mean=None, interval=None, p_value=None)
    values = [float(difference) for difference in differences]
    return PairedDifference(
        n=len(values),
        mean=fmean(values),
        interval=bounded_mean(values, confidence=confidence),
        p_value=float(test.two_sided),
    )
