"""What a judge's pass rate says of the true one, given how often the judge was wrong on labelled items.

Owns the Rogan-Gladen correction and an interval that carries the calibration's own uncertainty. Refuses to correct by a
judge that is no better than a coin. Unit: shares; PASS is the positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from skillassay.statistics.interval import CONFIDENCE, Interval, two_sided_z


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A corrected rate, kept inside [0, 1]. ``truncated`` says that it lay outside; None comes with its ``reason``."""

    value: float | None
    interval: Interval | None
    truncated: bool = False
    reason: str | None = None


def rogan_gladen(apparent: float, sensitivity: float, specificity: float) -> Corrected:
    """The true rate behind an apparent one, (AP + Sp - 1) / (Se + Sp - 1), with sensitivity and specificity known.

    Source: W. J. Rogan & B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of
    Epidemiology 107 (1978). Se + Sp <= 1: the judge tells nothing, no value. What falls outside [0, 1] is cut, and
    told.
    """
    for rate in (apparent, sensitivity, specificity):
        if not 0 <= rate <= 1:
            raise ValueError(f"{rate} is not a share")
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return _undefined(sensitivity, specificity)
    value = (apparent + specificity - 1) / youden
    inside = min(1.0, max(0.0, value))
    return Corrected(value=inside, interval=None, truncated=inside != value)


def corrected_rate(
    passed: tuple[int, int],
    *,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    confidence: float = CONFIDENCE,
) -> Corrected:
    """The corrected rate of (passed, n), with (count, n) of sensitivity and specificity as calibration found them.

    Interval: Z. Lang & J. Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity", Preventive Veterinary Medicine 113 (2014), 13-22. With AP' = (x + z²/2) / (n + z²), Se' and Sp'
    after one success and one failure more, P' corrected from these: P' + dP ± z √V / (Se' + Sp' - 1), where
    V = AP'(1-AP')/(n+z²) + P'² Se'(1-Se')/(n_Se+2) + (1-P')² Sp'(1-Sp')/(n_Sp+2) and
    dP = 2z² (P' Se'(1-Se')/(n_Se+2) - (1-P') Sp'(1-Sp')/(n_Sp+2)), cut to [0, 1].
    The value is Rogan & Gladen's from the counts as they are. An empty sample leaves all undefined. The interval is
    approximate: docs/design/statistics.md has its measured coverage.
    """
    for count, n in (passed, sensitivity, specificity):
        if not 0 <= count <= n:
            raise ValueError(f"{count} of {n} is not a proportion")
        if n == 0:
            return Corrected(
                value=None, interval=None, reason="rate, sensitivity or specificity was measured on nothing"
            )
    rates = [count / n for count, n in (passed, sensitivity, specificity)]
    # In whole numbers: whether the judge is no better than a coin must not hang on the last bit.
    if sensitivity[0] * specificity[1] + specificity[0] * sensitivity[1] <= sensitivity[1] * specificity[1]:
        return _undefined(rates[1], rates[2])
    point = rogan_gladen(*rates)
    if point.value is None:
        return point
    interval = _lang_reiczigel(passed, sensitivity, specificity, two_sided_z(confidence))
    # Both ends are shrunk towards the middle, the value is not: a small sample may leave it just outside.
    held = Interval(low=min(interval.low, point.value), high=max(interval.high, point.value))
    return Corrected(value=point.value, interval=held, truncated=point.truncated)


def _undefined(sensitivity: float, specificity: float) -> Corrected:
    reason = f"sensitivity {sensitivity:.3g} and specificity {specificity:.3g} do not add up to more than 1"
    return Corrected(value=None, interval=None, reason=reason)


def _lang_reiczigel(
    passed: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int], z: float
) -> Interval:
    n, n_se, n_sp = passed[1] + z * z, sensitivity[1] + 2, specificity[1] + 2
    apparent, se, sp = (passed[0] + z * z / 2) / n, (sensitivity[0] + 1) / n_se, (specificity[0] + 1) / n_sp
    youden = se + sp - 1
    rate = (apparent + sp - 1) / youden
    var_se, var_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    centre = rate + 2 * z * z * (rate * var_se - (1 - rate) * var_sp)
    variance = apparent * (1 - apparent) / n + rate**2 * var_se + (1 - rate) ** 2 * var_sp
    reach = z * math.sqrt(variance) / youden
    return Interval(low=min(1.0, max(0.0, centre - reach)), high=max(0.0, min(1.0, centre + reach)))
