"""Where samples are small, alike or empty: no certainty that they cannot give. And what must hold of any data."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillassay.statistics.agreement import cohens_kappa, phi
from skillassay.statistics.bounded import bounded_mean
from skillassay.statistics.clustered import clustered_mean
from skillassay.statistics.correction import corrected_rate, rogan_gladen
from skillassay.statistics.multiple import holm
from skillassay.statistics.rates import PairedCounts, newcombe, newcombe_paired
from skillassay.statistics.signflip import least_cases, least_p, mcnemar, sign_flip_test

COUNTS = st.integers(0, 30)


@pytest.mark.parametrize("n", [1, 2, 6, 40])
def test_equal_differences_are_no_certainty(n: int) -> None:
    """n times 0 and n times 1 leave an interval with width, narrower with more cases."""
    for value in (0.0, 1.0):
        found, more = bounded_mean([value] * n), bounded_mean([value] * (n + 1))
        assert found is not None
        assert more is not None
        assert found.low < value + 1e-6
        assert found.high - found.low > more.high - more.low > 0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
@settings(deadline=None)
def test_the_bounded_mean_holds_the_mean_and_mirrors(steps: list[int]) -> None:
    """It contains the sample's mean, and the mirrored data give the mirrored interval."""
    values = [step / 5 for step in steps]
    found, mirrored = bounded_mean(values), bounded_mean([-value for value in values])
    assert found is not None
    assert mirrored is not None
    assert found.low - 1e-6 <= sum(values) / len(values) <= found.high + 1e-6
    assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-5)


def test_nothing_is_known_of_nothing() -> None:
    """None, with the reason where a figure has one."""
    assert bounded_mean([]) is None
    assert newcombe((0, 0), (1, 2)) is None
    assert sign_flip_test([]) is None
    assert holm([]) == ()
    assert newcombe_paired(PairedCounts(both=0, first_only=0, second_only=0, neither=0)) is None
    assert (cohens_kappa([[0, 0], [0, 0]]).value, phi([[0, 0], [0, 0]]).value) == (None, None)
    assert clustered_mean([]).reason == "nothing was measured"
    assert corrected_rate((0, 0), sensitivity=(1, 1), specificity=(1, 1)).reason is not None


def test_kappa_is_undefined_where_both_always_say_the_same() -> None:
    """Not 1 and not 0: chance alone gives it."""
    found = cohens_kappa([[9, 0], [0, 0]])
    assert found.value is None
    assert "chance is 1" in (found.reason or "")


def test_full_agreement_keeps_an_interval_with_width() -> None:
    """Ten of ten: kappa 1, and no certainty."""
    found = cohens_kappa([[5, 0], [0, 5]])
    assert found.value == 1
    assert found.interval is not None
    assert found.interval.low < 1 == found.interval.high


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_paired_interval_holds_its_difference_and_mirrors(a: int, b: int, c: int, d: int) -> None:
    """And has width whatever the counts."""
    n = a + b + c + d
    if n == 0:
        return
    found = newcombe_paired(PairedCounts(both=a, first_only=b, second_only=c, neither=d))
    other = newcombe_paired(PairedCounts(both=a, first_only=c, second_only=b, neither=d))
    assert found is not None
    assert other is not None
    assert found.low <= (b - c) / n <= found.high
    assert found.low < found.high
    assert (found.low, found.high) == pytest.approx((-other.high, -other.low), abs=1e-9)


def test_newcombes_paired_example() -> None:
    """Newcombe (1998b), table II (a): 36, 12, 2, 0 of 50 give 0.0569 to 0.3404 by method 10."""
    found = newcombe_paired(PairedCounts(both=36, first_only=12, second_only=2, neither=0))
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.0569, 0.3404)


def test_repeats_of_a_case_are_one_outcome() -> None:
    """A case passes when all of its repeats do."""
    counts = PairedCounts.of_cases([([True, True], [True, False]), ([True], [True]), ([False], [True])])
    assert counts == PairedCounts(both=1, first_only=1, second_only=1, neither=0)


@pytest.mark.parametrize(("sensitivity", "specificity"), [((5, 10), (5, 10)), ((1, 10), (2, 10))])
def test_a_judge_no_better_than_a_coin_corrects_nothing(
    sensitivity: tuple[int, int], specificity: tuple[int, int]
) -> None:
    """Sensitivity and specificity that add up to 1 or less: None, and why."""
    found = corrected_rate((5, 10), sensitivity=sensitivity, specificity=specificity)
    assert (found.value, found.interval) == (None, None)
    assert "do not add up to more than 1" in (found.reason or "")


@given(st.integers(0, 100), st.integers(51, 100), st.integers(51, 100))
def test_rogan_and_gladen_undo_what_the_judge_does(true: int, se: int, sp: int) -> None:
    """The apparent rate of a true one is Se p + (1 - Sp)(1 - p); corrected it is the true one again."""
    p, sensitivity, specificity = true / 100, se / 100, sp / 100
    apparent = sensitivity * p + (1 - specificity) * (1 - p)
    assert rogan_gladen(apparent, sensitivity, specificity).value == pytest.approx(p, abs=1e-9)


def test_the_corrected_interval_covers_the_truth_of_a_simulated_judge() -> None:
    """Sensitivity 0.99, specificity 0.8, a true rate of 0.7: of 2,000 seeded calibrations and runs at least 94 %."""
    draw = random.Random(20270101)

    def count(n: int, rate: float) -> int:
        return sum(draw.random() < rate for _ in range(n))

    held = 0
    for _ in range(2_000):
        apparent = 0.99 * 0.7 + 0.2 * 0.3
        sample = (count(120, apparent), 120)
        found = corrected_rate(sample, sensitivity=(count(60, 0.99), 60), specificity=(count(60, 0.8), 60))
        assert found.interval is not None
        held += found.interval.low <= 0.7 <= found.interval.high
    assert held >= 0.94 * 2_000


def test_fewer_than_six_cases_show_nothing_on_two_sides() -> None:
    """2/2^5 is 6.25 %; six cases two-sided, five one-sided."""
    assert [least_cases(0.05), least_cases(0.05, two_sided=False)] == [6, 5]
    assert least_p(5) == Fraction(2, 32)


def test_the_sign_flip_test_keeps_its_level_on_equal_arms() -> None:
    """2,000 seeded suites of 12 cases without any difference: no more than 5 % are called one, up to chance."""
    draw, alarms = random.Random(7), 0
    for _ in range(2_000):
        found = sign_flip_test([draw.randint(0, 5) - draw.randint(0, 5) for _ in range(12)])
        assert found is not None
        alarms += found.two_sided <= Fraction(1, 20)
    assert alarms <= 0.05 * 2_000 + 2 * (2_000 * 0.05 * 0.95) ** 0.5


@given(st.lists(st.integers(-9, 9), max_size=10), st.integers(1, 5))
def test_a_sign_flip_p_value_depends_on_no_unit_and_no_order(differences: list[int], scale: int) -> None:
    """Thirds or whole numbers, forwards or backwards."""
    one = sign_flip_test(differences)
    assert one == sign_flip_test([Fraction(value * scale, 3) for value in reversed(differences)])


def test_the_sampled_test_never_says_zero() -> None:
    """Beyond 200 cases patterns are drawn: (b + 1) / (m + 1), and it says how many."""
    found = sign_flip_test([1] * 250)
    assert found is not None
    assert found.n_sampled > 0
    assert found.two_sided == Fraction(1, found.n_sampled + 1)


@given(COUNTS, COUNTS)
def test_mcnemar_is_the_sign_flip_test_of_pass_and_fail(first: int, second: int) -> None:
    """Differences of 1 and -1 are tosses of a coin."""
    found = sign_flip_test([1] * first + [-1] * second + [0] * 3)
    assert found is not None
    assert found.two_sided == mcnemar(first, second)


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=8))
def test_holm_adjusts_upwards_and_keeps_the_order(p_values: list[Fraction]) -> None:
    """Never below the p-value, never above 1, and no smaller one overtakes."""
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    ranked = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)
