"""Rates and paired differences against independent definitions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from skillassay.statistics import paired as stats
from skillassay.statistics.bounded import lies_above_zero
from skillassay.statistics.interval import Interval
from skillassay.statistics.paired import PairedDifference
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


def paired_difference(differences: list[float]) -> PairedDifference:
    """The figures of these differences."""
    return stats.paired_difference([Fraction(str(value)) for value in differences])


def interval_of(differences: list[float]) -> Interval:
    """Their interval."""
    interval = paired_difference(differences).interval
    assert interval is not None
    return interval


def sign_flip_p(differences: list[float]) -> float | None:
    """The p-value beside the interval."""
    return paired_difference(differences).p_value


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


@pytest.mark.parametrize("differences", [*SAMPLES, [0.4], [0.5, -0.5, 1.0]], ids=str)
def test_the_interval_is_the_quantiles_of_gaps(differences: list[float]) -> None:
    """The definition, drawn by numpy: 2.5 % of the mean by random gaps with -1 as one value more, 97.5 % with 1."""
    gaps = np.random.default_rng(0).dirichlet(np.ones(len(differences) + 1), size=400_000)
    low, high = (
        np.quantile(gaps @ np.array([*differences, end]), share) for end, share in ((-1.0, 0.025), (1.0, 0.975))
    )
    found = interval_of(differences)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.006)


@pytest.mark.parametrize(("gains", "n"), [(0, 1), (1, 1), (3, 3), (5, 8), (8, 8), (20, 21), (0, 40)])
def test_of_all_or_nothing_it_is_clopper_pearsons(gains: int, n: int) -> None:
    """Differences of 1 and -1 are a proportion on another scale, and scipy has its exact interval."""
    expected = binomtest(gains, n).proportion_ci(method="exact")
    found = interval_of([1.0] * gains + [-1.0] * (n - gains))
    assert (found.low, found.high) == pytest.approx((2 * expected.low - 1, 2 * expected.high - 1), abs=1e-6)


def test_one_pair_has_a_wide_interval() -> None:
    """One gap is uniform on [0, 1]: a difference of 1 against -1 lies above 2 x 0.025 - 1 with 97.5 %."""
    found = paired_difference([1.0])
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.95, 1.0), abs=1e-6)
    assert found.word == "inconclusive"


@pytest.mark.parametrize("n", range(1, 12))
def test_six_whole_gains_are_the_fewest_that_show_anything(n: int) -> None:
    """n heads of a fair coin have chance 2^-n, which is below 2.5 % from six on."""
    assert (paired_difference([1.0] * n).word == "helps") == (binomtest(n, n, alternative="greater").pvalue < 0.025)


def test_no_pairs_no_figures() -> None:
    """Nothing is known of an empty sample."""
    result = paired_difference([])
    assert (result.n, result.mean, result.interval, result.p_value) == (0, None, None, None)
    assert result.word == "inconclusive"


@pytest.mark.parametrize(
    ("differences", "word"),
    [
        ([0.6] * 8, "helps"),  # 1.6^8 = 42.9 > 40
        ([0.5] * 8, "inconclusive"),  # 1.5^8 = 25.6
        ([-0.6] * 8, "hurts"),
        ([0.0] * 8, "inconclusive"),
        ([1.0] * 6 + [0.0] * 20, "helps"),  # a lift in a few cases, and none that lost
        ([1.0] * 6 + [-0.1] * 20, "inconclusive"),
    ],
    ids=str,
)
def test_the_word_follows_the_interval(differences: list[float], word: str) -> None:
    """Differences d >= 0 lie above zero where the product of 1 / (1 + d) is below 2.5 %: the mean of exp(-Σ d E)."""
    assert paired_difference(differences).word == word


def test_a_small_p_value_makes_no_word() -> None:
    """Six gains of one half are as rare as 2/64 between equal arms, and their interval still holds zero."""
    found = paired_difference([0.5] * 6)
    assert found.p_value == 2 / 64
    assert found.word == "inconclusive"


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0)), max_size=30))
@settings(deadline=None)
def test_of_wins_and_losses_it_is_the_sign_test(differences: list[float]) -> None:
    """The interval lies above zero where scipy's one-sided exact binomial test of wins among both is below 2.5 %."""
    wins, losses = differences.count(1.0), differences.count(-1.0)
    p = binomtest(wins, wins + losses, alternative="greater").pvalue if wins + losses else 1.0
    assert lies_above_zero(differences) == (p < 0.025)


@given(st.lists(st.integers(-5, 5).map(lambda fifths: fifths / 5), min_size=1, max_size=14))
@settings(deadline=None)
def test_laws_of_the_interval(differences: list[float]) -> None:
    """Law: the mean lies inside, ends inside the bounds, mirrored data mirror it, and its sign needs no search."""
    result, mirrored = paired_difference(differences), interval_of([-value for value in differences])
    assert result.interval is not None
    assert result.mean is not None
    assert -1 <= result.interval.low <= result.mean + 1e-6
    assert result.mean - 1e-6 <= result.interval.high <= 1
    assert mirrored.low == pytest.approx(-result.interval.high, abs=1e-6)
    assert mirrored.high == pytest.approx(-result.interval.low, abs=1e-6)
    assert lies_above_zero(differences) == (result.word == "helps")


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
