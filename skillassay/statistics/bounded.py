"""An interval of the mean of bounded values that assumes nothing of their distribution but the bounds.

Owns the bound of Gaffke, computed exactly. For the lift the values are the per-case differences in [-1, 1], repeats
averaged inside their case, so that the case is the unit. Refuses values outside their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from skillassay.statistics.interval import CONFIDENCE, Interval

TOLERANCE = 1e-7
"""Each end is found to this much of the range, and the outer end of the last bracket is given."""


def bounded_mean(
    values: Sequence[float], *, low: float = -1.0, high: float = 1.0, confidence: float = CONFIDENCE
) -> Interval | None:
    """Two-sided interval of the mean of n independent values within [low, high]; None for n = 0.

    Upper end: the 1 - α/2 quantile of Σ D_i x_i over the sorted values and ``high`` itself as one value more, where
    (D_0 .. D_n) are the gaps that n uniform points leave in [0, 1]; lower end alike with ``low``. For values that are 0
    or 1 this is Clopper & Pearson's interval (1934), and for other values its generalization: N. Gaffke, "Three test
    statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", Mathematical Methods of
    Statistics 14 (2005); as a confidence bound E. Learned-Miller & P. Thomas, arXiv:1905.06208 (2019). That it covers
    at its level for every distribution and every n is shown by wide simulation and not proven in general; proven bounds
    of the same kind are wider (M. Phan, P. Thomas & E. Learned-Miller, ICML 2021).

    n equal values leave width: eight differences of 0 in [-1, 1] give about [-0.37, 0.37], one difference of 1 gives
    [-0.95, 1]. The lower end of n differences of 1 passes zero at n = 6, where the exact sign-flip test does too.
    """
    if not low < high:
        raise ValueError(f"[{low}, {high}] is no range")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, {confidence} does not")
    if not values:
        return None
    if min(values) < low or max(values) > high:
        raise ValueError(f"values from {min(values)} to {max(values)} leave [{low}, {high}]")
    tail = (1 - confidence) / 2
    shares = [(value - low) / (high - low) for value in values]
    upper = _upper(shares, tail)
    lower = 1 - _upper([1 - share for share in shares], tail)
    return Interval(low=low + (high - low) * lower, high=low + (high - low) * upper)


def lies_above_zero(differences: Sequence[float], *, confidence: float = CONFIDENCE) -> bool:
    """Whether the interval of differences within [-1, 1] lies above zero, without searching for its ends.

    With E_0, E_1 ... exponential, it does where P(Σ E_i x_i <= E_0) is below the tail: the mean of min(1, e^-S) over
    S = Σ E_i x_i. That is at most the mean of e^-S, the product of 1 / (1 + x_i), and equal to it where no x_i is
    negative. Differences of 0 change nothing. Where all are 0, 1 or -1, this is the one-sided exact sign test.
    """
    tail = (1 - confidence) / 2
    if math.prod(1 + difference for difference in differences) * tail > 1:
        return True
    if min(differences, default=0) >= 0:
        return False
    return gap_mean_cdf([*filter(None, differences), -1.0], 0.0) < tail


def _upper(shares: Sequence[float], tail: float) -> float:
    """The 1 - tail quantile for shares of the range, from above."""
    knots = [*shares, 1.0]
    inside, outside = sum(shares) / len(shares), 1.0
    while outside - inside > TOLERANCE:
        middle = (inside + outside) / 2
        if gap_mean_cdf(knots, middle) < 1 - tail:
            inside = middle
        else:
            outside = middle
    return outside


def gap_mean_cdf(knots: Sequence[float], bound: float) -> float:
    """P(Σ D_i x_i <= bound) for the gaps D of uniform points (Dirichlet with all weights 1), one for each knot.

    The volume of a simplex that a half-space cuts off, by the recursion of G. Varsi, "The multidimensional content of
    the frustum of the simplex", Pacific Journal of Mathematics 46 (1973): every step is a mean with weights from 0 to
    1, so that it is stable, also with ties, in the order of n² steps.
    """
    below = [knot - bound for knot in knots if knot <= bound]
    above = [knot - bound for knot in knots if knot > bound]
    if not above:
        return 1.0
    if not below:
        return 0.0
    # In the end content[j] is the share of the simplex in which the knots above outweigh the first j below.
    content = [1.0] + [0.0] * len(below)
    for knot in above:
        for j, under in enumerate(below, 1):
            content[j] = (knot * content[j - 1] - under * content[j]) / (knot - under)
    return 1 - content[-1]
