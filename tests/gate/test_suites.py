"""The gate's line on a whole suite, trials without a score among it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.gate.lines import GateLine, Status
from skillassay.gate.suites import suite_lines
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import score_run
from skillassay.suites.terms import SuiteTerms, all_terms_json, terms_from_json
from tests.trials import plan_of, planned_case, scored, unscored

FEW = st.integers(0, 4)
SHARES = st.fractions(min_value=0, max_value=1)


def line(n_passed: int, n_failed: int, n_open: int, limit: Fraction) -> GateLine:
    """The line of a suite with so many trials of each kind in progressive."""
    plan = plan_of(*(planned_case(f"c{i}") for i in range(n_passed + n_failed + n_open)), modes=(Mode.PROGRESSIVE,))
    records = [
        scored(trial, 5) if i < n_passed else scored(trial, 0) if i < n_passed + n_failed else unscored(trial)
        for i, trial in enumerate(plan.trials)
    ]
    rows = score_run(plan, records, slices={}).rows
    (found,) = suite_lines(rows, {"q": SuiteTerms(pass_threshold=limit), "other": SuiteTerms(pass_threshold=limit)})
    return found


@given(n_passed=FEW, n_failed=FEW, n_open=st.integers(1, 4), limit=SHARES)
def test_a_trial_without_a_score_is_neither_passed_nor_failed(
    n_passed: int, n_failed: int, n_open: int, limit: Fraction
) -> None:
    """Failed only where all open ones together could not reach the share; else open."""
    found = line(n_passed, n_failed, n_open, limit)
    lost = Fraction(n_passed + n_open, n_passed + n_failed + n_open) < limit
    assert found.status is (Status.FAILED if lost else Status.UNDECIDED)
    assert sum(found.counts[name] for name in ("passed", "failed", "unscored")) == found.counts["planned"]


@given(n_passed=st.integers(1, 6), n_failed=FEW, limit=SHARES)
def test_whole_it_is_decided(n_passed: int, n_failed: int, limit: Fraction) -> None:
    """By k/n against the share alone; the interval decides nothing."""
    reached = Fraction(n_passed, n_passed + n_failed) >= limit
    assert line(n_passed, n_failed, 0, limit).status is (Status.PASSED if reached else Status.FAILED)


@pytest.mark.parametrize("mode", [Mode.NONE, Mode.EAGER])
def test_a_suite_without_a_progressive_trial_is_open(mode: Mode) -> None:
    """Nothing was seen of the skill as it is offered, not even under a share of 0."""
    plan = plan_of(planned_case("a"), modes=(mode,))
    rows = score_run(plan, [scored(plan.trials[0], 5)], slices={}).rows
    (found,) = suite_lines(rows, {"q": SuiteTerms(pass_threshold=Fraction(0))})
    assert found.status is Status.UNDECIDED


@given(share=SHARES)
def test_the_terms_read_back_exactly(share: Fraction) -> None:
    """And a suite without any is not kept at all."""
    kept = all_terms_json([("q", SuiteTerms(pass_threshold=share)), ("plain", SuiteTerms())])
    assert terms_from_json(kept["suites"]) == {"q": SuiteTerms(pass_threshold=share)}
