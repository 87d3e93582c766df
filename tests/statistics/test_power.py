"""What a suite can show before it is run: the simulation against closed forms of the same model."""

from __future__ import annotations

from itertools import product
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, multinomial

from skillassay.statistics.bounded import bounded_mean, lies_above_zero
from skillassay.statistics.power import Question, cases_needed, fewest_cases, least_alike, least_lift, power

SUITES = 4_000
TAIL = 0.025


def about(expected: float) -> object:
    """An expected share, within four Monte-Carlo errors."""
    return pytest.approx(expected, abs=4 * sqrt(expected * (1 - expected) / SUITES) + 1e-9)


@pytest.mark.parametrize(("n_cases", "lift"), [(6, 0.9), (8, 0.7), (12, 0.5), (20, 0.4), (30, 0.15)])
def test_from_nothing_it_is_a_binomial_tail(n_cases: int, lift: float) -> None:
    """Nothing passes without the skill: six gains of n show a lift, since the others lost nothing (2^-6 < 2.5 %)."""
    question = Question(base_rates=(0.0,), n_simulated=SUITES)
    assert power(question, n_cases=n_cases, lift=lift) == about(binom.sf(5, n_cases, lift))


@pytest.mark.parametrize(("n_cases", "base_rate"), [(8, 0.2), (12, 0.5), (21, 0.7)])
def test_where_all_pass_with_the_skill_it_is_one_too(n_cases: int, base_rate: float) -> None:
    """At lift = 1 - base rate no case can lose, and a case gains where it failed before."""
    question = Question(base_rates=(base_rate,), n_simulated=SUITES)
    assert power(question, n_cases=n_cases, lift=1 - base_rate) == about(binom.sf(5, n_cases, 1 - base_rate))


@pytest.mark.parametrize(("n_cases", "base_rate", "lift"), [(8, 0.1, 0.8), (12, 0.3, 0.5), (40, 0.5, 0.3)])
def test_of_single_repeats_it_is_the_sign_tests_power(n_cases: int, base_rate: float, lift: float) -> None:
    """Wins, losses and ties are multinomial, and of each the one-sided exact sign test decides."""
    rate = base_rate + lift
    win, loss = rate * (1 - base_rate), base_rate * (1 - rate)
    expected = sum(
        multinomial.pmf([a, b, n_cases - a - b], n_cases, [win, loss, 1 - win - loss])
        for a in range(1, n_cases + 1)
        for b in range(n_cases - a + 1)
        if binomtest(a, a + b, alternative="greater").pvalue < TAIL
    )
    question = Question(base_rates=(base_rate,), n_simulated=SUITES)
    assert power(question, n_cases=n_cases, lift=lift) == about(float(expected))


def test_repeats_are_averaged_in_their_case() -> None:
    """Two repeats from nothing: halves and wholes, counted one by one; they show where 1.5^a 2^b is above 40."""
    chances = binom.pmf([0, 1, 2], 2, 0.7)
    expected = sum(
        multinomial.pmf([7 - a - b, a, b], 7, chances)
        for a, b in product(range(8), repeat=2)
        if a + b <= 7 and 1.5**a * 2**b > 1 / TAIL
    )
    question = Question(base_rates=(0.0,), repeats=2, n_simulated=SUITES)
    assert power(question, n_cases=7, lift=0.7) == about(float(expected))


def test_cases_of_differing_difficulty_gain_what_they_lack() -> None:
    """Of cases that pass always and never in turn, half gain everything: six of twelve show it, five of ten cannot."""
    question = Question(base_rates=(0.0, 1.0), n_simulated=50)
    assert power(question, n_cases=12, lift=0.5) == 1
    assert power(question, n_cases=10, lift=0.5) == 0


@given(st.integers(1, 15), st.integers(1, 3), st.integers(0, 9), st.data())
@settings(max_examples=30, deadline=None)
def test_a_larger_lift_is_never_shown_less_often(n_cases: int, repeats: int, tenths: int, data: st.DataObject) -> None:
    """Law: the draws are the same for every lift, so that the searches may halve."""
    question = Question(base_rates=(tenths / 10,), repeats=repeats, n_simulated=40)
    small, large = sorted(data.draw(st.tuples(*[st.integers(0, 10 - tenths)] * 2)))
    shown = [power(question, n_cases=n_cases, lift=lift / 10) for lift in (small, large)]
    assert shown == sorted(shown)


def test_the_same_question_has_the_same_answer() -> None:
    """Seeded; another seed is another sample."""
    shown = [power(Question(seed=seed, n_simulated=300), n_cases=30, lift=0.3) for seed in (1, 1, 2)]
    assert shown[0] == shown[1] != shown[2]


@pytest.mark.parametrize("n_cases", [6, 8, 12, 21, 60])
def test_the_least_lift_of_all_is_where_equal_gains_touch_zero(n_cases: int) -> None:
    """The gap before the first of n uniform points is Beta(1, n), and must be below d / (1 + d) with 97.5 %."""
    least = least_alike(n_cases)
    assert least is not None
    assert beta.sf(least / (1 + least), 1, n_cases) == pytest.approx(TAIL)
    for factor, above in ((0.999, False), (1.001, True)):
        interval = bounded_mean([least * factor] * n_cases)
        assert interval is not None
        assert (interval.low > 0) is above


@given(st.lists(st.integers(-10, 10).map(lambda tenths: tenths / 10), min_size=1, max_size=20))
@settings(max_examples=300, deadline=None)
def test_no_smaller_mean_lies_above_zero(differences: list[float]) -> None:
    """Law: whatever the differences, those whose interval lies above zero have at least that mean."""
    if lies_above_zero(differences):
        least = least_alike(len(differences))
        assert least is not None
        assert sum(differences) / len(differences) >= least - 1e-12


@pytest.mark.parametrize("n_cases", range(1, 6))
def test_fewer_than_six_cases_show_nothing(n_cases: int) -> None:
    """Not even where every case gains everything."""
    question = Question(base_rates=(0.0,), n_simulated=50)
    assert power(question, n_cases=n_cases, lift=1.0) == 0
    assert least_alike(n_cases) is None
    assert least_lift(question, n_cases=n_cases) is None
    assert fewest_cases() == 6


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_least_lift_is_shown_and_one_hundredth_less_is_not(repeats: int) -> None:
    """As often as was wanted; more cases show a smaller one."""
    question = Question(base_rates=(0.1,), repeats=repeats, n_simulated=400)
    few, many = (least_lift(question, n_cases=n) for n in (8, 24))
    assert few is not None
    assert many is not None
    assert many < few
    assert power(question, n_cases=24, lift=many) >= 0.8 > power(question, n_cases=24, lift=many - 0.01)


def test_the_cases_needed_show_the_lift() -> None:
    """With the power that was wanted, which half of them have not; and where too many would be needed, None."""
    question = Question(base_rates=(0.1,), n_simulated=400)
    n = cases_needed(question, lift=0.5)
    assert n is not None
    assert power(question, n_cases=n, lift=0.5) >= 0.8 > power(question, n_cases=n // 2, lift=0.5)
    assert cases_needed(question, lift=0.5, most=n // 2) is None


@pytest.mark.parametrize(
    "fields", [{"base_rates": ()}, {"base_rates": (1.2,)}, {"repeats": 0}, {"confidence": 1.0}, {"n_simulated": 0}]
)
def test_what_cannot_be_asked_is_refused(fields: dict[str, object]) -> None:
    """A rate outside [0, 1], no repeat, a certainty."""
    with pytest.raises(ValueError, match="cannot be asked"):
        Question(**fields)  # type: ignore[arg-type]  # that is the point


def test_an_impossible_lift_is_refused() -> None:
    """Nothing passes more often than always."""
    with pytest.raises(ValueError, match="impossible"):
        power(Question(base_rates=(0.9,)), n_cases=8, lift=0.2)
