"""What a suite can show before it is run: the chance that a lift is seen, the least lift, the fewest cases.

Owns the simulation of the lift's own decision, that its interval (``bounded``) lies above zero, and the closed form of
the least that can be shown at all. Deterministic for a seed; knows no suite and no money. A repeat passes whole or not
at all, which spreads most: the base rate without the skill, and with it each case gains the same share of what it
lacked. A lift that sits in fewer cases needs more of them than are said here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from skillassay.statistics.bounded import lies_above_zero
from skillassay.statistics.interval import CONFIDENCE

STEPS = 100
"""Lifts are searched in steps of one hundredth."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What shall be shown: at which confidence, from which base rates, with how many repeats a case.

    The cases take the ``base_rates`` in turn; one rate is all cases alike.
    """

    confidence: float = CONFIDENCE
    base_rates: tuple[float, ...] = (0.5,)
    repeats: int = 1
    n_simulated: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        is_rate = bool(self.base_rates) and all(0 <= rate <= 1 for rate in self.base_rates)
        if not (0 < self.confidence < 1 and is_rate and self.repeats >= 1 and self.n_simulated >= 1):
            raise ValueError(f"{self} cannot be asked")


def power(question: Question, *, n_cases: int, lift: float) -> float:
    """The share of simulated suites of ``n_cases`` whose interval lies above zero, for a mean lift of ``lift``.

    Monte-Carlo error: √(power (1 - power) / n_simulated), 0.009 at 0.8 of 2,000. The draws of a case are the same for
    every lift and every number of cases (common random numbers), so that a larger lift is never shown less often. A
    lift that leaves [0, 1] with the base rate is refused.
    """
    rates = [question.base_rates[index % len(question.base_rates)] for index in range(n_cases)]
    missing = 1 - sum(rates) / n_cases if n_cases else 0.0
    if not -ROUNDING <= lift <= missing + ROUNDING and n_cases:
        raise ValueError(f"a lift of {lift} from {1 - missing} is impossible")
    gain = min(1.0, lift / missing) if missing > ROUNDING else 0.0
    seen: dict[tuple[int, ...], bool] = {}
    shown = 0
    for differences in _suites(question, rates, gain):
        # Neither the order of the cases matters to the interval's sign nor those without a difference, and most suites
        # repeat.
        key = tuple(sorted(filter(None, differences)))
        if key not in seen:
            shares = [difference / question.repeats for difference in key]
            seen[key] = lies_above_zero(shares, confidence=question.confidence)
        shown += seen[key]
    return shown / question.n_simulated


def _suites(question: Question, rates: list[float], gain: float) -> Iterator[tuple[int, ...]]:
    """The differences of each simulated suite, in repeats passed."""
    columns = [
        [
            progressive - none
            for progressive, none in zip(
                _passes(question, f"with/{index}", rate + gain * (1 - rate)),
                _passes(question, f"without/{index}", rate),
                strict=True,
            )
        ]
        for index, rate in enumerate(rates)
    ]
    return iter(zip(*columns, strict=True))


def _passes(question: Question, place: str, rate: float) -> list[int]:
    """How many repeats of one case pass in each simulated suite: binomial, by inversion, so monotone in the rate."""
    n, rate = question.repeats, min(1.0, rate)
    weights = list(accumulate(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)))
    draw = random.Random(f"{question.seed}/{place}")  # noqa: S311 - a reproducible sample, not a secret
    return draw.choices(range(n + 1), cum_weights=weights, k=question.n_simulated)


def least_lift(question: Question, *, n_cases: int, wanted: float = 0.8) -> float | None:
    """The least lift, in hundredths, that ``n_cases`` show with power ``wanted``; None when not even the largest would.

    The largest is what the base rates leave to gain. Found by halving, power growing with the lift.
    """
    if n_cases < fewest_cases(question.confidence):
        return None
    rates = [question.base_rates[index % len(question.base_rates)] for index in range(n_cases)]
    low, high = 0, math.floor((1 - sum(rates) / n_cases) * STEPS + ROUNDING)
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

    Found by doubling and halving. Power is not quite monotone in the number of cases, so that one or two fewer may do
    as well.
    """
    low, high = 0, min(most, fewest_cases(question.confidence))
    while power(question, n_cases=high, lift=lift) < wanted:
        if high == most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        if power(question, n_cases=middle, lift=lift) < wanted:
            low = middle
        else:
            high = middle
    return high


def least_alike(n_cases: int, *, confidence: float = CONFIDENCE) -> float | None:
    """The mean lift above which ``n_cases`` can show one at all, each gaining as much; None where 1 is too little.

    The lower end of n differences d lies above zero where (1 + d)^-n is below the tail α/2: with the gaps as n + 1
    exponential variables E over their sum, P(d (E_1 + ... + E_n) <= E_0) is the mean of exp(-d (E_1 + ... + E_n)).
    Unequal gains need a larger mean: (1 + d_1) ... (1 + d_n) is largest where they are equal.
    """
    if n_cases < fewest_cases(confidence):
        return None
    return float(((1 - confidence) / 2) ** (-1 / n_cases) - 1)


def fewest_cases(confidence: float = CONFIDENCE) -> int:
    """The fewest differences of 1 whose interval lies above zero: six at 95 %, the first n with 2^-n below α/2."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, {confidence} does not")
    return math.floor(-math.log2((1 - confidence) / 2)) + 1
