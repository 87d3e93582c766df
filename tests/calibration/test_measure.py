"""Agreement of a judge with people: counts, kappa against an independent definition, targets on both sides."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.calibration.measure import Agreement, Pair, agreement_of, shortfalls, verbosity_of
from skillassay.contract.terms import CalibrationTerms

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)
TERMS = CalibrationTerms()


def pairs(said: list[tuple[bool, bool]], n_chars: int = 5) -> list[Pair]:
    """One pair for each (people, judge)."""
    return [Pair(point=(str(i), "r"), human=h, judge=j, n_chars=n_chars) for i, (h, j) in enumerate(said)]


def counts(both_pass: int, human_alone: int, judge_alone: int, both_fail: int) -> Agreement:
    """An agreement by its counts."""
    return Agreement(both_pass=both_pass, human_alone=human_alone, judge_alone=judge_alone, both_fail=both_fail)


@given(verdicts)
def test_every_pair_is_counted_once(said: list[tuple[bool, bool]]) -> None:
    """The four counts make up the whole, and the two classes of people's verdicts do too."""
    found = agreement_of(pairs(said))
    assert found.n == found.n_passed + found.n_failed == len(said)
    assert found.agreed == sum(h == j for h, j in said)


@given(verdicts)
def test_kappa_by_its_definition(said: list[tuple[bool, bool]]) -> None:
    """(observed - by chance) / (1 - by chance), with chance as the product of the two sides' shares."""
    kappa = agreement_of(pairs(said)).kappa
    n = len(said)
    if n == 0:
        assert kappa is None
        return
    human, judge = (Fraction(sum(one), n) for one in zip(*said, strict=True))
    chance = human * judge + (1 - human) * (1 - judge)
    observed = Fraction(sum(h == j for h, j in said), n)
    assert kappa == (None if chance == 1 else (observed - chance) / (1 - chance))


@given(verdicts)
def test_kappa_does_not_depend_on_who_is_who(said: list[tuple[bool, bool]]) -> None:
    """It is symmetric in people and judge, and in passing and failing."""
    kappa = agreement_of(pairs(said)).kappa
    assert kappa == agreement_of(pairs([(j, h) for h, j in said])).kappa
    assert kappa == agreement_of(pairs([(not h, not j) for h, j in said])).kappa


def test_kappa_of_a_published_table() -> None:
    """J. Cohen (1960) by Fleiss's form for two classes: 20, 5, 10, 15 of 50 give 0.4."""
    assert counts(20, 5, 10, 15).kappa == Fraction(2, 5)


def test_a_good_judge_on_enough_labels_of_both_kinds_falls_short_of_nothing() -> None:
    """Agreement exactly at 0.85, kappa over 0.6."""
    assert shortfalls(counts(9, 1, 2, 8), TERMS) == ()


@pytest.mark.parametrize(
    ("agreement", "words"),
    [
        (counts(0, 0, 0, 0), "0 labels"),
        (counts(9, 0, 0, 10), "19 labels"),
        (counts(40, 0, 0, 0), "0 of them failed by people"),
        (counts(40, 0, 0, 4), "4 of them failed by people"),
        (counts(0, 0, 0, 40), "0 of them passed by people"),
        (counts(16, 2, 2, 5), "agrees on 21 of 25 (0.840 < 0.85)"),
        (counts(90, 3, 3, 4), "kappa is 0.539 < 0.6"),
        (counts(40, 0, 0, 0), "kappa is undefined"),
    ],
)
def test_each_target_is_told_by_itself(agreement: Agreement, words: str) -> None:
    """Too few, one kind alone, too little agreement, agreement that chance explains."""
    assert any(words in found for found in shortfalls(agreement, TERMS))


def test_a_judge_that_passes_everything_is_never_certified() -> None:
    """However well it agrees with people who pass nearly everything: kappa is 0."""
    lazy = counts(95, 0, 5, 0)
    assert Fraction(lazy.agreed, lazy.n) > TERMS.agreement_min
    assert lazy.kappa == 0
    assert shortfalls(lazy, TERMS) == ("kappa is 0.000 < 0.6",)


def test_verbosity_bias_is_what_length_earns() -> None:
    """Three long answers that people fail and the judge passes, short ones judged alike: a bias of 3 of 3."""
    short, long = pairs([(True, True), (False, False), (True, True)]), pairs([(False, True)] * 3, n_chars=500)
    found = verbosity_of([*short, *long])
    assert (found.n_short, found.surplus_short, found.n_long, found.surplus_long) == (3, 0, 3, 3)
    assert found.bias == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), max_size=40))
def test_verbosity_takes_in_every_pair(said: list[tuple[bool, bool, int]]) -> None:
    """The halves make up the whole, and a bias stands only where there are two."""
    given_ = [Pair(point=(str(i), "r"), human=h, judge=j, n_chars=n) for i, (h, j, n) in enumerate(said)]
    found = verbosity_of(given_)
    assert found.n_short + found.n_long == len(said)
    assert (found.bias is None) == (len({n for *_, n in said}) < 2)


@pytest.mark.parametrize(("n_left_out", "is_enough"), [(2, True), (3, False), (40, False)])
def test_points_that_are_left_out_cannot_hide_what_a_judge_cannot_do(n_left_out: int, is_enough: bool) -> None:
    """Of 20 pairs two more may lack a verdict: with three it is more than one in ten."""
    assert (shortfalls(counts(10, 0, 0, 10), TERMS, n_left_out=n_left_out) == ()) is is_enough
