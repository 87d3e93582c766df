"""How far two raters agree: Cohen's kappa and phi.

Owns the closed forms on a table of counts. What is undefined is None with its reason, never 0 or 1: a judge that always
says the same has no kappa to speak of. Unit: shares; kappa and phi between -1 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from skillassay.statistics.interval import CONFIDENCE, Estimate, Interval, two_sided_z
from skillassay.statistics.rates import wilson

NOTHING = "no item was judged by both"


def exact_kappa(table: Sequence[Sequence[int]]) -> Fraction | None:
    """Cohen's kappa as an exact fraction, to be compared with a target; None of nothing, and where chance gives 1."""
    rows, columns, n = _margins(table)
    observed = sum(table[i][i] for i in range(len(table)))
    expected = sum(row * column for row, column in zip(rows, columns, strict=True))
    return None if n == 0 or expected == n * n else Fraction(observed * n - expected, n * n - expected)


def cohens_kappa(table: Sequence[Sequence[int]], *, confidence: float = CONFIDENCE) -> Estimate:
    """Cohen's kappa of a square table of counts (rows one rater, columns the other), (p_o - p_e) / (1 - p_e).

    Source: J. Cohen, Educational and Psychological Measurement 20 (1960). Standard error for large samples: J. L.
    Fleiss, J. Cohen & B. S. Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin
    72 (1969), eq. 13; the interval is kappa ± z standard errors inside [-1, 1]. Edges: no items, or both raters
    constant with the same word (p_e = 1): no value. One rater constant: the value is 0 whatever the other said, and
    neither error nor interval is given. A standard error of 0 (no disagreement, or nothing else) would claim certainty:
    the interval is then Wilson's of the raw agreement with p_e held, and ``reason`` says so.
    """
    rows, columns, n = _margins(table)
    if n == 0:
        return Estimate(value=None, reason=NOTHING)
    observed = sum(table[i][i] for i in range(len(table)))
    expected = sum(row * column for row, column in zip(rows, columns, strict=True))
    if expected == n * n:
        return Estimate(value=None, reason="both raters always said the same word: agreement by chance is 1")
    if n in rows or n in columns:
        return Estimate(value=0.0, reason="one rater always said the same word: agreement is what chance gives")
    chance = expected / (n * n)
    exact = exact_kappa(table)
    assert exact is not None
    kappa = float(exact)
    error = _kappa_error(table, kappa=kappa, chance=chance)
    if observed in {0, n} or error == 0:
        raw = wilson(observed, n, confidence=confidence)
        assert raw is not None
        held = Interval(low=max(-1.0, (raw.low - chance) / (1 - chance)), high=(raw.high - chance) / (1 - chance))
        reason = "no variation in agreement: the interval is that of the raw agreement, chance agreement held"
        return Estimate(value=kappa, standard_error=error, interval=held, reason=reason)
    reach = two_sided_z(confidence) * error
    interval = Interval(low=max(-1.0, kappa - reach), high=min(1.0, kappa + reach))
    return Estimate(value=kappa, standard_error=error, interval=interval)


def _margins(table: Sequence[Sequence[int]]) -> tuple[list[int], list[int], int]:
    if len(table) < 2 or any(len(row) != len(table) or min(row) < 0 for row in table):
        raise ValueError("kappa needs a square table of counts, two words or more")
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    return rows, columns, sum(rows)


def _kappa_error(table: Sequence[Sequence[int]], *, kappa: float, chance: float) -> float:
    rows, columns, n = _margins(table)
    spread = 0.0
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            # Row and column margin swap for cells off the diagonal: eq. 13 pairs p_.i with p_j.
            margin = (columns[i] + rows[j]) / n
            spread += count / n * ((1 - margin * (1 - kappa)) if i == j else (1 - kappa) * margin) ** 2
    spread -= (kappa - chance * (1 - kappa)) ** 2
    return math.sqrt(max(0.0, spread) / n) / (1 - chance)


def phi(table: Sequence[Sequence[int]]) -> Estimate:
    """Correlation of two judges' PASS and FAIL, (ad - bc) / √(the product of the four margins).

    Source: K. Pearson's coefficient on two-valued data; G. U. Yule, JRSS 75 (1912). None where a judge is constant: a
    correlation with a constant does not exist. How far two judges err together is seen in it, not in kappa.
    """
    rows, columns, n = _margins(table)
    if len(rows) != 2:
        raise ValueError("phi needs a table of two words")
    if n == 0:
        return Estimate(value=None, reason=NOTHING)
    product = math.prod(rows) * math.prod(columns)
    if product == 0:
        return Estimate(value=None, reason="one judge always said the same word")
    (a, b), (c, d) = table
    return Estimate(value=(a * d - b * c) / math.sqrt(product))
