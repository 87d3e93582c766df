"""Trigger rates: what the runs of a request come to, and what is counted by skill."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from skillassay.suites.trigger_rates import FAIL, PASS, UNSCORED, Ran, TriggerRate, build_rate, by_skill

HALF = Fraction(1, 2)
LOADED, LEFT, ERROR = Ran(loaded=("greeter",)), Ran(), Ran(unscored="provider_error", why="provider_error: down")


def rate(*runs: Ran, should: bool = True, case_id: str = "c") -> TriggerRate:
    """The rate of one request about the greeter."""
    return build_rate(case_id, skill="greeter", should_trigger=should, runs=runs)


@pytest.mark.parametrize(
    ("runs", "should", "status"),
    [
        ([LOADED, LOADED, LOADED], True, PASS),
        ([LOADED, LEFT], True, PASS),  # at the threshold: reached
        ([LOADED, LEFT], False, FAIL),
        ([LOADED, LEFT, LEFT], True, FAIL),
        ([LOADED, LEFT, LEFT], False, PASS),
        ([LEFT], False, PASS),
        ([ERROR], False, UNSCORED),  # an error is never "not loaded"
        ([ERROR, ERROR, ERROR], True, UNSCORED),
        ([LEFT, ERROR], False, UNSCORED),  # one of two would reach the threshold
        ([LEFT, LEFT, ERROR], False, PASS),  # one of three would not
        ([LOADED, LOADED, ERROR], True, PASS),  # two of three at the least
        ([LOADED, LEFT, ERROR], True, UNSCORED),
        ([LEFT, LEFT, ERROR], True, FAIL),
    ],
)
def test_a_request_passes_where_its_rate_decides_it(runs: list[Ran], *, should: bool, status: str) -> None:
    """At or above the threshold, or below it; open where unscored runs could still change that."""
    assert rate(*runs, should=should).status(HALF) == status


def test_a_threshold_is_compared_exactly() -> None:
    """Seven of ten reach 0.7, which no binary float is."""
    runs = [LOADED] * 7 + [LEFT] * 3
    assert rate(*runs).status(Fraction(7, 10)) == PASS
    assert rate(*runs).status(Fraction(71, 100)) == FAIL


OUTCOMES = st.lists(st.sampled_from([LOADED, LEFT, ERROR]), min_size=1, max_size=8)
RUNS = st.builds(lambda runs, should: rate(*runs, should=should), OUTCOMES, st.booleans())


@given(RUNS, st.fractions(min_value="1/100", max_value=1))
def test_what_is_decided_stays_so_whatever_the_errors_hide(one: TriggerRate, threshold: Fraction) -> None:
    """Every way of filling in the unscored runs gives the status, or two ways differ and it is open."""
    n_open = one.planned - one.scored
    shares = [Fraction(one.triggered + more, one.planned) for more in range(n_open + 1)]
    statuses = {PASS if (share >= threshold) == one.should_trigger else FAIL for share in shares}
    assert one.status(threshold) == (statuses.pop() if len(statuses) == 1 else UNSCORED)


@given(st.lists(RUNS, min_size=1, max_size=12))
def test_every_run_and_every_request_is_in_one_cell(rates: list[TriggerRate]) -> None:
    """Loaded, not loaded and open of both kinds are all that was planned."""
    (skill,) = by_skill(rates, HALF)
    cells = [
        (t.true_loaded, t.missed, t.open_should, t.false_loaded, t.true_left, t.open_should_not)
        for t in (skill.requests, skill.runs)
    ]
    assert [sum(row) for row in cells] == [len(rates), sum(one.planned for one in rates)]
    should = [sum(row[:3]) for row in cells]
    assert should[0] == sum(one.should_trigger for one in rates)


def test_other_skills_and_reasons_are_counted() -> None:
    """Beside the request's own skill; what an error's run had loaded says nothing."""
    both = Ran(loaded=("greeter", "other"))
    lost = Ran(loaded=("third",), unscored="blocked", why="blocked: SAFETY")
    one = rate(both, Ran(loaded=("other",)), lost, ERROR)
    assert (one.triggered, one.scored, one.planned) == (1, 2, 4)
    assert dict(one.others) == {"other": 2}
    assert dict(one.unscored) == {"blocked": 1, "provider_error": 1}
    assert one.why == "blocked: SAFETY"


def test_a_name_is_compared_whole() -> None:
    """A longer or differently cased name is another skill."""
    assert rate(Ran(loaded=("greeter-2", "Greeter"))).triggered == 0


@pytest.mark.parametrize(("k", "n"), [(0, 3), (2, 3), (3, 3), (1, 10)])
def test_the_interval_is_wilsons(k: int, n: int) -> None:
    """As another library computes it."""
    low, high = proportion_confint(k, n, method="wilson")
    interval = rate(*[LOADED] * k, *[LEFT] * (n - k), ERROR).interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_requests_are_counted_once_each_by_skill() -> None:
    """Four requests about one skill and one about another: precision 1 of 2, recall 1 of 2, names in their places."""
    rates = [
        rate(LOADED, LOADED, case_id="hit"),
        rate(LEFT, LEFT, case_id="miss"),
        rate(LOADED, LOADED, should=False, case_id="false"),
        rate(LEFT, ERROR, should=False, case_id="open"),
        build_rate("else", skill="other", should_trigger=False, runs=[LOADED]),
    ]
    first, second = by_skill(rates, HALF)
    assert (first.skill, second.skill) == ("greeter", "other")
    assert (first.requests.precision, first.requests.recall) == ((1, 2), (1, 2))
    assert (first.runs.precision, first.runs.recall) == ((2, 4), (2, 4))
    assert (first.missed, first.false, first.open) == (("miss",), ("false",), ("open",))
    assert (second.requests.true_left, second.requests.precision) == (1, (0, 0))
