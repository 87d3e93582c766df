"""What a suite can show before it is run: the chance that a lift is seen, the least lift, the fewest cases.

Owns the simulation of the exact sign-flip test. Deterministic for a seed; knows no suite and no money. Its cases are
all alike: each repeat passes with the base rate without the skill, with base rate plus lift with it. Real cases differ,
and a lift that sits in a few of them needs more cases than are said here: the figures are the least that is needed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from skillassay.statistics.signflip import least_p, sign_flip_test

STEPS = 100
"""Lifts are searched in steps of one hundredth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What shall be shown: at which level, on one side or both, from which base rate, with how many repeats a case."""

    alpha: float = 0.05
    two_sided: bool = True
    base_rate: float = 0.5
    repeats: int = 1
    n_simulated: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.alpha < 1 and 0 <= self.base_rate <= 1 and self.repeats >= 1 and self.n_simulated >= 1):
            raise ValueError(f"{self} cannot be asked")


def power(question: Question, *, n_cases: int, lift: float) -> float:
    """The share of simulated suites of ``n_cases`` whose sign-flip p-value is at most alpha, for a lift above zero.

    Monte-Carlo error: √(power (1 - power) / n_simulated), 0.009 at 0.8 of 2,000. The draws of a case are the same for
    every lift (common random numbers). A lift that leaves [0, 1] with the base rate is refused. Two-sided, a suite
    counts only when the difference points the right way.
    """
    rate = question.base_rate + lift
    if not (lift >= 0 and rate <= 1 + 1e-9):
        raise ValueError(f"a lift of {lift} from {question.base_rate} is impossible")
    if least_p(n_cases, two_sided=question.two_sided) > Fraction(question.alpha):
        return 0.0
    seen: dict[tuple[int, ...], bool] = {}
    shown = 0
    for differences in _suites(question, n_cases, rate):
        # Only which sizes occur with which sign matters to the test, and most suites repeat.
        key = tuple(sorted(differences))
        if key not in seen:
            seen[key] = _shows(question, key)
        shown += seen[key]
    return shown / question.n_simulated


def _suites(question: Question, n_cases: int, rate: float) -> Iterator[list[int]]:
    draw = random.Random(question.seed).random  # noqa: S311 - a reproducible sample, not a secret
    repeats = range(question.repeats)
    for _ in range(question.n_simulated):
        yield [
            sum(draw() < rate for _ in repeats) - sum(draw() < question.base_rate for _ in repeats)
            for _ in range(n_cases)
        ]


def _shows(question: Question, differences: tuple[int, ...]) -> bool:
    result = sign_flip_test(differences)
    if result is None or sum(differences) <= 0:
        return False
    return (result.two_sided if question.two_sided else result.greater) <= Fraction(question.alpha)


def least_lift(question: Question, *, n_cases: int, wanted: float = 0.8) -> float | None:
    """The least lift, in hundredths, that ``n_cases`` show with power ``wanted``; None when not even the largest would.

    The largest is 1 - base rate. Found by halving, power growing with the lift.
    """
    low, high = 0, int((1 - question.base_rate) * STEPS + 1e-9)
    if power(question, n_cases=n_cases, lift=high / STEPS) < wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if power(question, n_cases=n_cases, lift=middle / STEPS) < wanted:
            low = middle
        else:
            high = middle
    return high / STEPS


def cases_needed(question: Question, *, lift: float, wanted: float = 0.8, most: int = 200) -> int | None:
    """The fewest cases, up to ``most``, that show ``lift`` with power ``wanted``; None when ``most`` do not.

    Found by halving. Power is not quite monotone in the number of cases (the test moves in steps of 1/2^n), so that one
    or two fewer may do as well.
    """
    low, high = 0, most
    if power(question, n_cases=most, lift=lift) < wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if power(question, n_cases=middle, lift=lift) < wanted:
            low = middle
        else:
            high = middle
    return high
