"""Several skills tested at once: p-values that keep the chance of any false alarm.

Owns Holm's step-down. Refuses what is not a p-value; gives nothing for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def holm(p_values: Sequence[float | Fraction]) -> tuple[float | Fraction, ...]:
    """Adjusted p-values in the order given: reject those at most α, and any false alarm at all has chance at most α.

    The i-th smallest of m becomes the largest of (m - j + 1) p_(j) over j <= i, at most 1. Holds under any dependence.
    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979).
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"{p} is not a p-value")
    adjusted = list(p_values)
    least: float | Fraction = 0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        least = min(1, max(least, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return tuple(adjusted)
