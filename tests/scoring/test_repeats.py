"""Repeats: spread, flaky cases, pass^k and pass@k, each from its definition."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.runs.plan import Mode
from skillassay.scoring.repeats import CaseRepeats, build_repeats, pass_k, repeats_of
from skillassay.scoring.scores import score_run
from tests.trials import plan_of, planned_case, scored, unscored


def case(*outcomes: int, planned: int | None = None, case_id: str = "a") -> CaseRepeats:
    """A case of which each repeat met all criteria (1) or none (0)."""
    return CaseRepeats(
        suite="q",
        case_id=case_id,
        skill_path="skills/s",
        mode=Mode.PROGRESSIVE,
        shares=tuple(map(Fraction, outcomes)),
        passed=sum(outcomes),
        planned=len(outcomes) if planned is None else planned,
    )


@given(st.lists(st.fractions(min_value=0, max_value=1), max_size=8))
def test_the_variance_is_the_sample_variance(shares: list[Fraction]) -> None:
    """That of the standard library, exact; none under two scores."""
    one = CaseRepeats(
        suite="q", case_id="a", skill_path="s", mode=Mode.NONE, shares=tuple(shares), passed=0, planned=len(shares)
    )
    assert one.variance == (statistics.variance(shares) if len(shares) > 1 else None)


@pytest.mark.parametrize(
    ("outcomes", "flaky"), [((), False), ((1,), False), ((0, 0), False), ((1, 1), False), ((1, 0), True)], ids=str
)
def test_a_case_is_flaky_when_it_passed_and_failed(outcomes: Sequence[int], flaky: bool) -> None:
    """One that always fails is not."""
    assert case(*outcomes).is_flaky is flaky


@given(st.lists(st.integers(0, 1), min_size=1, max_size=6), st.integers(1, 6))
def test_pass_k_is_the_share_of_all_draws(outcomes: list[int], k: int) -> None:
    """Of all ways to draw k repeats: how many hold passes alone, and how many hold one."""
    rate = pass_k([case(*outcomes)], k)
    draws = list(itertools.combinations(outcomes, k))
    if not draws:
        assert (rate.all_k, rate.any_k, rate.n_cases, rate.n_planned) == (None, None, 0, 1)
        return
    assert rate.all_k == Fraction(sum(all(draw) for draw in draws), len(draws))
    assert rate.any_k == Fraction(sum(any(draw) for draw in draws), len(draws))


def test_the_case_is_the_unit() -> None:
    """A case with many repeats weighs no more than one with few; one with too few is left out and counted."""
    rate = pass_k([case(1, 1), case(1, 0, 0, 0, case_id="b"), case(1, planned=2, case_id="c")], 2)
    assert (rate.all_k, rate.any_k) == (Fraction(1, 2), (1 + Fraction(1, 2)) / 2)
    assert (rate.n_cases, rate.n_planned) == (2, 3)


def test_a_run_is_taken_by_skill_and_mode() -> None:
    """Rates for all skills and for each, by mode and k; a repeat without a score is planned and not scored."""
    plan = plan_of(
        planned_case("a", skill="skills/x"),
        planned_case("b", skill="skills/y"),
        modes=(Mode.PROGRESSIVE, Mode.NONE),
        repeats=2,
    )
    records = [unscored(t) if (t.case_id, t.repeat) == ("b", 2) else scored(t, 5) for t in plan.trials]
    rows = score_run(plan, records, slices={}).rows
    report = build_repeats(rows, plan.repeats)
    assert [(skill, mode, rate.k) for skill, mode, rate in report.rates] == [
        (skill, mode, k)
        for skill in (None, "skills/x", "skills/y")
        for mode in (Mode.PROGRESSIVE, Mode.NONE)
        for k in (1, 2)
    ]
    assert {(c.case_id, c.mode.value): (c.scored, c.planned) for c in repeats_of(rows)} == {
        ("a", "progressive"): (2, 2),
        ("a", "none"): (2, 2),
        ("b", "progressive"): (1, 2),
        ("b", "none"): (1, 2),
    }


def test_one_score_has_no_rates() -> None:
    """A run without repeats reports none."""
    plan = plan_of(planned_case("a"))
    rows = score_run(plan, [scored(t, 5) for t in plan.trials], slices={}).rows
    assert build_repeats(rows, 1).rates == ()
