"""What a lift is made of and what it costs: sums that must hold, and the edges."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.runs.plan import Mode
from skillassay.scoring.effects import adjusted_p, build_effects, normalized_gain, prices
from skillassay.scoring.scores import Scores, score_run
from skillassay.transcript import Usage
from tests.trials import plan_of, planned_case, scored

marks = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))


def run(cases: list[tuple[int, int, int]]) -> tuple[Scores, object]:
    """Cases by their k of 5 in progressive, none and eager."""
    plan = plan_of(*(planned_case(f"c{i}") for i in range(len(cases))))
    by_mode = {Mode.PROGRESSIVE: 0, Mode.NONE: 1, Mode.EAGER: 2}
    records = [scored(t, cases[int(t.case_id[1:])][by_mode[t.mode]]) for t in plan.trials]
    return score_run(plan, records, slices={}), plan


@given(st.lists(marks, min_size=1, max_size=12))
def test_the_two_effects_make_up_the_lift(cases: list[tuple[int, int, int]]) -> None:
    """(progressive - eager) + (eager - none) = progressive - none, over the same cases."""
    scores, plan = run(cases)
    (effects,) = build_effects(scores, plan)  # type: ignore[arg-type]  # the plan that it was made of
    assert scores.overall_lift is not None
    parts = [effects.activation.difference.mean, effects.body.difference.mean]
    assert sum(part or 0 for part in parts) == pytest.approx(scores.overall_lift.difference.mean, abs=1e-12)


@given(st.lists(marks, min_size=1, max_size=12))
def test_the_gain_is_the_lift_by_what_was_missing(cases: list[tuple[int, int, int]]) -> None:
    """Hake's definition, on the means over cases; undefined where none left nothing to gain."""
    scores, _ = run(cases)
    p, b = (Fraction(sum(case[side] for case in cases), 5 * len(cases)) for side in (0, 1))
    assert normalized_gain(scores.counted, None) == (None if b == 1 else (p - b) / (1 - b))


def test_a_skill_that_is_never_loaded_has_a_body_and_no_activation() -> None:
    """5/5 in the prompt, and as without it by the catalog: a bad description, not a bad skill."""
    scores, plan = run([(1, 1, 5)] * 8)
    (effects,) = build_effects(scores, plan)  # type: ignore[arg-type]  # as above
    assert effects.body.difference.word == "helps"
    assert effects.activation.difference.word == "hurts"
    assert scores.overall_lift is not None
    assert scores.overall_lift.difference.mean == 0


def test_what_one_more_criterion_costs() -> None:
    """Four criteria more for 400 tokens more: 100 each."""
    plan = plan_of(planned_case("a"))
    tokens = {Mode.PROGRESSIVE: 500, Mode.NONE: 100, Mode.EAGER: 300}
    records = [
        replace(record, candidate=replace(record.candidate, usage=usage(tokens[trial.mode]), n_calls=1))
        for trial in plan.trials
        for record in (scored(trial, {Mode.PROGRESSIVE: 5, Mode.NONE: 1, Mode.EAGER: 1}[trial.mode]),)
    ]
    found = {price.mode: price for price in prices(score_run(plan, records, slices={}).totals)}
    assert found[Mode.PROGRESSIVE].each == 100
    assert (found[Mode.EAGER].tokens, found[Mode.EAGER].criteria, found[Mode.EAGER].each) == (200, 0, None)


def usage(total: int) -> Usage:
    """One call of so many tokens."""
    return Usage(input_tokens=total - 10, output_tokens=10, total_tokens=total, n_calls=1)


def test_tokens_that_are_not_known_cost_nobody_knows_what() -> None:
    """No provider told them: None, not zero."""
    scores, _ = run([(5, 1, 5)])
    scores = replace(scores, totals=tuple(replace(total, usage=Usage(n_calls=1)) for total in scores.totals))
    assert [price.tokens for price in prices(scores.totals)] == [None, None]


def test_p_values_are_adjusted_over_the_skills() -> None:
    """Skills of six, four and no scored gains: 2/64 and 2/16, the smaller twice, and none where none was measured."""
    skills = {"skills/a": 6, "skills/b": 4, "skills/c": 1}
    plan = plan_of(*(planned_case(f"{path}{i}", skill=path) for path, n in skills.items() for i in range(n)))
    records = [scored(t, 5 if t.mode is not Mode.NONE else 0) for t in plan.trials if t.skill_path != "skills/c"]
    adjusted = adjusted_p(score_run(plan, records, slices={}).lifts)
    assert adjusted == {"skills/a": 2 * 2 / 64, "skills/b": 2 / 16}


def test_what_was_not_scored_whole_has_no_price() -> None:
    """Nothing scored is no zero for zero, and two modes that each lost a trial scored others."""
    scores, _ = run([(5, 1, 5)])
    nothing = tuple(replace(total, k=0, n=0) for total in scores.totals)
    one_less = tuple(replace(total, n=total.n - 1) for total in scores.totals)
    assert prices(nothing) == prices(one_less) == ()
    assert len(prices(scores.totals)) == 2
