"""The closed forms against independent libraries: statsmodels, scipy, scikit-learn."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.inter_rater import cohens_kappa as kappa_of_statsmodels
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from skillassay.statistics.agreement import cohens_kappa, phi
from skillassay.statistics.bounded import bounded_mean
from skillassay.statistics.clustered import clustered_mean
from skillassay.statistics.multiple import holm
from skillassay.statistics.passes import pass_all_k, pass_at_k
from skillassay.statistics.rates import newcombe, wilson
from skillassay.statistics.signflip import mcnemar, mcnemar_mid_p, sign_flip_test

CELLS = st.integers(0, 25)
TABLES = st.tuples(st.tuples(CELLS, CELLS), st.tuples(CELLS, CELLS))
SAMPLES = st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)
@given(SAMPLES)
def test_wilson_is_statsmodels(sample: tuple[int, int]) -> None:
    """Every count of up to 120."""
    found = wilson(*sample)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(proportion_confint(*sample, method="wilson"), abs=1e-9)


@settings(deadline=None)
@given(SAMPLES, SAMPLES)
def test_newcombe_is_statsmodels(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Method 10, two samples of different size."""
    found = newcombe(first, second)
    assert found is not None
    expected = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_statsmodels(first: int, second: int) -> None:
    """The exact test, two-sided; what is concordant changes nothing."""
    expected = mcnemar_of_statsmodels([[7, first], [second, 3]], exact=True).pvalue
    assert float(mcnemar(first, second)) == pytest.approx(expected if first + second else 1.0, abs=1e-12)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(0, 30))
def test_mid_p_is_half_way_between_two_tails(first: int, second: int) -> None:
    """Fagerland et al. (2013), by scipy: twice the tail less its last step; in the middle 1 less half of that step."""
    n, fewer = first + second, min(first, second)
    coin = scipy_stats.binom(n, 0.5)
    expected = 2 * coin.cdf(fewer) - coin.pmf(fewer) if first != second else 1 - coin.pmf(fewer) / 2
    assert float(mcnemar_mid_p(first, second)) == pytest.approx(expected if n else 1.0, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=10))
def test_the_sign_flip_test_is_scipys_permutation_test(differences: list[int]) -> None:
    """All sign patterns, two-sided and one-sided."""
    found = sign_flip_test(differences)
    assert found is not None
    for alternative, ours in (("two-sided", found.two_sided), ("greater", found.greater)):
        expected = scipy_stats.permutation_test(
            (np.array(differences),),
            lambda x: float(np.sum(x)),
            permutation_type="samples",
            alternative=alternative,
            n_resamples=math.inf,
        ).pvalue
        assert float(ours) == pytest.approx(min(1.0, expected), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_the_sign_flip_test_by_its_definition(sizes: list[int]) -> None:
    """The share of the 2^n patterns that reach what was seen, counted one by one, in tenths too."""
    found = sign_flip_test([Fraction(size, 10) for size in sizes])
    assert found is not None
    sums = [
        sum(s * x for s, x in zip(signs, sizes, strict=True)) for signs in itertools.product((1, -1), repeat=len(sizes))
    ]
    assert found.greater == Fraction(sum(total >= sum(sizes) for total in sums), len(sums))
    assert found.two_sided == Fraction(sum(abs(total) >= sum(sizes) for total in sums), len(sums))


@settings(deadline=None)
@given(TABLES)
def test_kappa_and_its_error_are_those_of_two_libraries(table: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Value by scikit-learn, standard error by statsmodels; undefined where chance agrees on everything."""
    n = sum(map(sum, table))
    assume(n > 0)
    found = cohens_kappa(table)
    pairs = [(i, j) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    margins = [sum(table[0]), sum(row[0] for row in table)]
    if set(margins) <= {0, n}:
        assert found.value in {None, 0.0}
        return
    expected = cohen_kappa_score(*zip(*pairs, strict=True), labels=[0, 1])
    assert found.value == pytest.approx(expected, abs=1e-9)
    if found.standard_error is not None:
        assert found.standard_error == pytest.approx(kappa_of_statsmodels(np.array(table)).std_kappa, abs=1e-9)


@settings(deadline=None)
@given(TABLES)
def test_phi_is_matthews_correlation(table: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Of two raters of two words; None where one is constant."""
    pairs = [(i, j) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    assume(pairs)
    found = phi(table).value
    if found is None:
        assert any(len(set(side)) == 1 for side in zip(*pairs, strict=True))
    else:
        assert found == pytest.approx(matthews_corrcoef(*zip(*pairs, strict=True)), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=2, max_size=12))
def test_clustered_errors_are_those_of_a_regression_on_a_constant(clusters: list[list[int]]) -> None:
    """statsmodels' OLS with cluster covariance, without and with its correction for few clusters."""
    values = np.array([float(v) for cluster in clusters for v in cluster])
    groups = np.array([i for i, cluster in enumerate(clusters) for _ in cluster])
    found = clustered_mean([[float(v) for v in cluster] for cluster in clusters])
    fit = sm.OLS(values, np.ones_like(values))
    plain = fit.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}, use_t=False)
    assert found.mean == pytest.approx(float(np.mean(values)))
    assert found.cr0 == pytest.approx(float(plain.bse[0]), abs=1e-9)
    assert found.cr1 == pytest.approx(float(plain.bse[0]) * math.sqrt(len(clusters) / (len(clusters) - 1)), abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 1000).map(lambda n: n / 1000), min_size=1, max_size=12))
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    """Adjusted p-values in the order given."""
    assert list(holm(p_values)) == pytest.approx(list(multipletests(p_values, method="holm")[1]), abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_passes_are_hypergeometric(counts: tuple[int, int, int]) -> None:
    """scipy: of k drawn, none passed or all did."""
    c, n, k = counts
    drawn = scipy_stats.hypergeom(n, c, k)
    at_least_one, all_of_them = pass_at_k(c, n, k), pass_all_k(c, n, k)
    assert at_least_one is not None
    assert all_of_them is not None
    assert float(at_least_one) == pytest.approx(1 - drawn.pmf(0), abs=1e-9)
    assert float(all_of_them) == pytest.approx(drawn.pmf(k), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(SAMPLES.filter(lambda sample: sample[1] <= 40))
def test_the_bounded_mean_of_zeros_and_ones_is_clopper_pearsons(sample: tuple[int, int]) -> None:
    """Its definition for two-valued data; scipy's exact interval."""
    passed, n = sample
    found = bounded_mean([1.0] * passed + [0.0] * (n - passed), low=0.0, high=1.0)
    expected = scipy_stats.binomtest(passed, n).proportion_ci(method="exact")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-5)
