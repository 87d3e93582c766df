"""The exact sign-flip test on paired differences in whole steps, and McNemar's test on pass or fail.

Owns p-values of paired comparisons with the case as unit; an interval is not made here. If the two conditions are
alike, the difference of a case is as likely to have the one sign as the other, whatever its size, which is all that is
assumed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

EXACT_PAIRS = 200
"""Up to this many cases the test is exact (if the differences are not absurdly fine, see EXACT_BITS)."""
EXACT_BITS = 2**24
"""The most memory for the exact count: (sum of the differences in steps) x (cases + 1) bits, 2 MB."""
SAMPLED_FLIPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """What the sign-flip test says. The p-values are exact fractions, or estimates where ``n_sampled`` is above 0."""

    n: int
    two_sided: Fraction
    greater: Fraction
    n_sampled: int


def sign_flip_test(differences: Sequence[Fraction | int], *, seed: int = 0) -> SignFlip | None:
    """Test that paired differences are centred at zero; None for no cases.

    ``two_sided`` is the share of all 2^n sign patterns whose absolute sum is at least the observed one, ``greater`` of
    those whose sum is. Source: R. A. Fisher, "The Design of Experiments" (1935), section 21. Exact by counting subsets
    (Pagano & Tritchler, JASA 78, 1983) up to EXACT_PAIRS cases; beyond, ``n_sampled`` seeded patterns, and the estimate
    is (b + 1) / (m + 1) (Phipson & Smyth 2010), which is never zero and keeps the level. Zeros count as cases and move
    no p-value: n differences of 0 give 1. With n equal differences the p-values are 2/2^n and 1/2^n, the least there
    are.
    """
    n = len(differences)
    if n == 0:
        return None
    steps = _whole_steps(differences)
    observed, span = sum(steps), sum(map(abs, steps))
    if n > EXACT_PAIRS or span * (n + 1) > EXACT_BITS:
        return _sampled(steps, observed, seed)
    greater = Fraction(_count_at_least(steps, observed), 2**n)
    extreme = Fraction(_count_at_least(steps, abs(observed)), 2**n)
    return SignFlip(n=n, two_sided=min(Fraction(1), 2 * extreme), greater=greater, n_sampled=0)


def _whole_steps(differences: Sequence[Fraction | int]) -> list[int]:
    """The differences in the largest step of which all are multiples; a sign pattern's rank does not depend on it."""
    exact = [Fraction(value) for value in differences]
    scale = math.lcm(*(value.denominator for value in exact))
    whole = [int(value * scale) for value in exact]
    step = math.gcd(*whole) or 1
    return [value // step for value in whole]


def _count_at_least(steps: Sequence[int], bound: int) -> int:
    """How many of the 2^n sign patterns have a sum of at least ``bound``.

    The sum of a pattern is 2S - span, S being the sum of the sizes that stand with a plus, so that subsets of each sum
    S are counted. All counts lie in one integer, n + 1 bits each, and a shift by S slots adds S to every sum.
    """
    width = len(steps) + 1
    counts = 1
    for size in map(abs, steps):
        counts += counts << (size * width)
    least = max(0, -(-(bound + sum(map(abs, steps))) // 2))
    # 2^width = 1 modulo 2^width - 1: the remainder is the sum of the slots, which is at most 2^n.
    return (counts >> (least * width)) % ((1 << width) - 1)


def _sampled(steps: Sequence[int], observed: int, seed: int) -> SignFlip:
    draw = random.Random(seed)  # noqa: S311 - a reproducible sample, not a secret
    n, span = len(steps), sum(steps)
    two_sided = greater = 1
    for _ in range(SAMPLED_FLIPS):
        flipped = draw.getrandbits(n)
        total = span - 2 * sum(step for i, step in enumerate(steps) if flipped >> i & 1)
        greater += total >= observed
        two_sided += abs(total) >= abs(observed)
    m = SAMPLED_FLIPS + 1
    return SignFlip(n=n, two_sided=Fraction(two_sided, m), greater=Fraction(greater, m), n_sampled=SAMPLED_FLIPS)


def mcnemar(first_only: int, second_only: int) -> Fraction:
    """McNemar's exact two-sided p-value: the discordant pairs as tosses of a fair coin, 2 P(X <= the fewer), at most 1.

    Source: Q. McNemar, Psychometrika 12 (1947); exact: F. Mosteller, Biometrics 8 (1952). Without a discordant pair 1.
    """
    n = _discordant(first_only, second_only)
    tail = sum(math.comb(n, k) for k in range(min(first_only, second_only) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def mcnemar_mid_p(first_only: int, second_only: int) -> Fraction:
    """McNemar's mid-p-value: the exact one less half of the chance of what was seen (and of its mirror).

    Less conservative, and not guaranteed to keep the level. Source: M. W. Fagerland, S. Lydersen & P. Laake, BMC
    Medical Research Methodology 13:91 (2013). Without a discordant pair 1: nothing was seen that could be halved.
    """
    n = _discordant(first_only, second_only)
    if n == 0:
        return Fraction(1)
    seen = Fraction(math.comb(n, first_only), 2**n)
    return mcnemar(first_only, second_only) - (seen / 2 if first_only == second_only else seen)


def _discordant(first_only: int, second_only: int) -> int:
    if min(first_only, second_only) < 0:
        raise ValueError(f"{first_only} and {second_only} are no counts")
    return first_only + second_only


def least_p(n_cases: int, *, two_sided: bool = True) -> Fraction:
    """The least p-value that any data of n cases can have: 2/2^n, one-sided 1/2^n; 1 for no cases."""
    return min(Fraction(1), Fraction(2 if two_sided else 1, 2**n_cases))


def least_cases(alpha: float, *, two_sided: bool = True) -> int:
    """The fewest cases that can show anything at level ``alpha``: at 5 % six two-sided and five one-sided."""
    if not 0 < alpha < 1:
        raise ValueError(f"a level lies between 0 and 1, {alpha} does not")
    n = 1
    while least_p(n, two_sided=two_sided) > Fraction(alpha):
        n += 1
    return n
