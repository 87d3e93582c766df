"""Rates and paired differences against independent definitions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from skillassay.statistics import paired as stats
from skillassay.statistics.interval import Interval
from skillassay.statistics.paired import MIN_PAIRS, PairedDifference
from skillassay.statistics.passes import pass_all_k, pass_at_k
from skillassay.statistics.rates import wilson

SAMPLES = [
    [0.2, 0.4, 0.0, 0.6, -0.2, 0.4],
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8],
    [-0.5, 0.25, 0.5, 0.75, 0.1, -0.1, 0.3, 0.9],
    [0.0] * 7,
    [0.2] * 6,
    [-1.0, -0.5, -0.25, -0.8, -0.1, -0.3],
]
DIFFERENCES = st.lists(st.integers(-10, 10).map(lambda tenths: tenths / 10), min_size=1, max_size=9)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 16, 39, 100, 1000])
def test_wilson_is_scipys(n: int) -> None:
    """The closed form agrees with scipy's Wilson interval for every count up to n (a grid for large n)."""
    for passed in sorted({*range(0, n + 1, max(1, n // 20)), 1, n - 1, n}):
        expected = binomtest(passed, n).proportion_ci(method="wilson")
        interval = wilson(passed, n)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_nothing_is_none() -> None:
    """Nothing was measured, so nothing is known: not 0, not [0, 1]."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_all_passed_is_no_certainty(n: int) -> None:
    """n of n reaches 1 exactly and has width, and so has 0 of n."""
    all_passed, none_passed = wilson(n, n), wilson(0, n)
    assert all_passed is not None
    assert none_passed is not None
    assert all_passed.high == 1.0 > all_passed.low
    assert none_passed.low == 0.0 < none_passed.high


@pytest.mark.parametrize(("passed", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_what_is_no_proportion_is_refused(passed: int, n: int) -> None:
    """A count outside 0…n is a bug of the caller."""
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(passed, n)


@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_holds_its_rate(passed: int, n: int) -> None:
    """Law: the observed rate lies inside, and the interval inside [0, 1]."""
    passed = min(passed, n)
    interval = wilson(passed, n)
    assert interval is not None
    assert 0 <= interval.low <= passed / n <= interval.high <= 1
    assert interval.low < interval.high


def fractions_of(differences: list[float]) -> list[Fraction]:
    """The differences as the decimals say them."""
    return [Fraction(str(value)) for value in differences]


def paired_difference(differences: list[float], **settings: Any) -> PairedDifference:
    """The figures of these differences."""
    return stats.paired_difference(fractions_of(differences), **settings)


def sign_flip_p(differences: list[float]) -> float | None:
    """The p-value beside the interval."""
    return paired_difference(differences, step=0.2).p_value


def scipy_p(differences: list[float]) -> float:
    """scipy's exact two-sided sign-flip p-value (permutation of signs)."""
    result = permutation_test((np.array(differences),), np.sum, permutation_type="samples", n_resamples=np.inf)
    return float(result.pvalue)


@pytest.mark.parametrize("differences", SAMPLES, ids=str)
def test_the_p_value_is_scipys(differences: list[float]) -> None:
    """Exact sign-flip test: the share of sign patterns at least as extreme, both sides."""
    assert sign_flip_p(differences) == pytest.approx(scipy_p(differences))


@given(DIFFERENCES)
@settings(max_examples=60, deadline=None)
def test_the_p_value_by_enumeration(differences: list[float]) -> None:
    """Law: counted over all sign patterns in exact fractions."""
    exact = [Fraction(round(value * 10), 10) for value in differences]
    observed = abs(sum(exact, Fraction(0)))
    signs = itertools.product((1, -1), repeat=len(exact))
    sums = [abs(sum((s * d for s, d in zip(pattern, exact, strict=True)), Fraction(0))) for pattern in signs]
    assert sign_flip_p(differences) == pytest.approx(sum(total >= observed for total in sums) / len(sums))


def accepted(differences: list[float], centre: float) -> bool:
    """Whether the two-sided sign-flip test at 5 % keeps ``centre``: twice the smaller tail is above 0.05."""
    moved = [value - centre for value in differences]
    sums = [
        sum(s * d for s, d in zip(signs, moved, strict=True)) for signs in itertools.product((1, -1), repeat=len(moved))
    ]
    observed = sum(moved)
    upper = sum(total >= observed - 1e-9 for total in sums) / len(sums)
    lower = sum(total <= observed + 1e-9 for total in sums) / len(sums)
    return 2 * min(upper, lower) > 0.05


@pytest.mark.parametrize("differences", [*SAMPLES[:3], SAMPLES[5]], ids=str)
def test_the_interval_inverts_the_sign_flip_test(differences: list[float]) -> None:
    """On a grid, the centres that the test keeps are those inside the interval (before the continuity correction)."""
    interval = paired_difference(differences, step=0.0, bound=2.0).interval
    assert interval is not None
    for centre in np.linspace(-1.5, 1.5, 601):
        if min(abs(centre - interval.low), abs(centre - interval.high)) > 1e-6:
            assert accepted(differences, float(centre)) == (interval.low < centre < interval.high)


@pytest.mark.parametrize("n", range(1, MIN_PAIRS))
def test_below_six_pairs_there_is_no_interval(n: int) -> None:
    """2^5 patterns cannot show 95 %: no interval, and the word is inconclusive, however large the difference."""
    result = paired_difference([1.0] * n, step=0.2)
    assert (result.n, result.mean, result.interval, result.word) == (n, 1.0, None, "inconclusive")
    assert result.p_value == 2 / 2**n


def test_six_pairs_are_the_fewest() -> None:
    """MIN_PAIRS is the smallest n at which the most extreme pattern and its mirror stay under 5 %."""
    assert 2 / 2**MIN_PAIRS < 0.05 <= 2 / 2 ** (MIN_PAIRS - 1)
    assert paired_difference([0.5] * MIN_PAIRS, step=0.2).interval is not None


def test_no_pairs_no_figures() -> None:
    """Nothing is known of an empty sample."""
    result = paired_difference([], step=0.2)
    assert (result.n, result.mean, result.interval, result.p_value, result.word) == (
        0,
        None,
        None,
        None,
        "inconclusive",
    )


@pytest.mark.parametrize("value", [0.0, 0.4, -0.4, 1.0, -1.0])
def test_equal_differences_have_an_interval_with_width(value: float) -> None:
    """Scores move in steps, so that six equal differences are known to half a step, inside the bounds."""
    interval = paired_difference([value] * 6, step=0.2).interval
    assert interval is not None
    assert interval.low == pytest.approx(max(-1.0, value - 0.1))
    assert interval.high == pytest.approx(min(1.0, value + 0.1))
    assert interval.low < interval.high


@pytest.mark.parametrize(
    ("differences", "word"),
    [([0.4] * 8, "helps"), ([-0.4] * 8, "hurts"), ([0.1] * 8, "inconclusive"), ([0.0] * 8, "inconclusive")],
)
def test_the_word_follows_the_interval(differences: list[float], word: str) -> None:
    """helps and hurts only where the interval excludes zero; an end at zero but for rounding does not."""
    assert paired_difference(differences, step=0.2).word == word


@given(st.lists(st.integers(-5, 5).map(lambda fifths: fifths / 5), min_size=6, max_size=10))
@settings(deadline=None)
def test_laws_of_the_interval(differences: list[float]) -> None:
    """Law: the mean lies inside, ends inside the bounds, and mirrored differences have the mirrored interval."""
    result, mirrored = (paired_difference(d, step=0.2) for d in (differences, [-v for v in differences]))
    assert result.interval is not None
    assert mirrored.interval is not None
    assert result.mean is not None
    assert -1 <= result.interval.low <= result.mean <= result.interval.high <= 1
    assert mirrored.interval.low == pytest.approx(-result.interval.high)
    assert mirrored.interval.high == pytest.approx(-result.interval.low)


def test_the_sampled_branch_agrees_with_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond EXACT_CASES a seeded sample of patterns stands for all, for the interval."""
    differences = [0.2, 0.4, 0.0, 0.6, -0.2, 0.4, -0.4, 0.3, 0.1, -0.1, 0.2, 0.5]
    exact = paired_difference(differences, step=0.2)
    monkeypatch.setattr(stats, "EXACT_CASES", 5)
    sampled = paired_difference(differences, step=0.2)
    assert sampled.p_value == exact.p_value  # the test counts, it does not draw
    assert exact.interval is not None
    assert sampled.interval is not None
    assert (sampled.interval.low, sampled.interval.high) == pytest.approx(
        (exact.interval.low, exact.interval.high), abs=0.03
    )
    assert sampled.mean == exact.mean


def test_the_sampled_branch_is_reproducible() -> None:
    """The same seed gives the same figures; another one a different sample."""
    differences = [((7 * i) % 11 - 5) / 10 for i in range(20)]
    assert paired_difference(differences, step=0.1) == paired_difference(differences, step=0.1)
    assert paired_difference(differences, step=0.1, seed=1) != paired_difference(differences, step=0.1)


@pytest.mark.parametrize(
    ("low", "high", "outside"), [(0.1, 0.2, True), (-0.2, -0.1, True), (0.0, 0.1, False), (-1, 1, False)]
)
def test_zero_at_an_end_is_inside(low: float, high: float, outside: bool) -> None:
    """An interval that touches zero does not exclude it."""
    assert Interval(low=low, high=high).excludes_zero() is outside


@given(st.integers(1, 8), st.data())
def test_pass_at_k_and_pass_all_k_are_shares_of_subsets(n: int, data: st.DataObject) -> None:
    """Counted one by one: of all k-subsets of the attempts, those with a pass, and those without a failure."""
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(c, n, k) == Fraction(sum(any(s) for s in subsets), len(subsets))
    assert pass_all_k(c, n, k) == Fraction(sum(all(s) for s in subsets), len(subsets))


def test_too_few_attempts_have_no_estimate() -> None:
    """Three attempts say nothing unbiased about four; one attempt says the rate itself about one."""
    assert pass_at_k(3, 3, 4) is None
    assert pass_all_k(3, 3, 4) is None
    assert pass_at_k(1, 1, 1) == pass_all_k(1, 1, 1) == 1
    assert pass_at_k(0, 1, 1) == pass_all_k(0, 1, 1) == 0


@pytest.mark.parametrize(("passed", "n", "k"), [(4, 3, 1), (-1, 3, 1), (1, 3, 0)])
def test_impossible_attempts_are_refused(passed: int, n: int, k: int) -> None:
    """A count beyond its total is a bug of the caller, not a probability."""
    for formula in (pass_at_k, pass_all_k):
        with pytest.raises(ValueError, match="attempts"):
            formula(passed, n, k)
