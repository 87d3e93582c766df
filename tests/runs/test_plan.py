"""The plan: its trials, their ids, and which skills it covers whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.runs.plan import ALL_MODES, Mode, PlannedCase, build_plan, highest_cost
from skillassay.suites.case import Behavior
from tests.trials import plan_of, planned_case

SUBSETS = st.sets(st.sampled_from(["a", "b", "c", "d"]))


def only_id(case: PlannedCase, mode: Mode = Mode.NONE, repeat: int = 1) -> str:
    """The trial id of one case in one mode at one repeat."""
    trials = plan_of(case, modes=(mode,), repeats=repeat).trials
    return trials[-1].trial_id


def test_an_id_is_the_same_in_every_plan() -> None:
    """Neither other cases, their order, modes nor the number of repeats change a trial's id."""
    a, b = planned_case("a"), planned_case("b")
    small = {trial.trial_id for trial in plan_of(a).trials}
    large = {trial.trial_id for trial in plan_of(b, a, repeats=3).trials}
    assert small < large


@pytest.mark.parametrize("field", ["id", "suite", "digest"])
def test_an_id_hangs_on_the_case(field: str) -> None:
    """Another case, suite or wording is another trial."""
    case, change = planned_case("a"), cast("dict[str, Any]", {field: "other"})
    assert only_id(replace(case, case=replace(case.case, **change))) != only_id(case)


@pytest.mark.parametrize("field", ["skill_path", "skill_digest"])
def test_an_id_hangs_on_the_skill(field: str) -> None:
    """Other bytes, or another skill, is another trial."""
    case, change = planned_case("a"), cast("dict[str, Any]", {field: "other"})
    assert only_id(replace(case, **change)) != only_id(case)


def test_an_id_hangs_on_mode_and_repeat() -> None:
    """Every trial of a plan has an id of its own."""
    plan = plan_of(planned_case("a"), planned_case("b"), repeats=4)
    assert len({trial.trial_id for trial in plan.trials}) == len(plan.trials) == 2 * 3 * 4


def test_trials_come_by_case_then_mode_then_repeat() -> None:
    """The order of modes is fixed, whatever order was asked for; a mode asked for twice is planned once."""
    plan = plan_of(planned_case("b"), planned_case("a"), modes=(Mode.EAGER, Mode.NONE, Mode.EAGER), repeats=2)
    told = [(trial.case_id, trial.mode.value, trial.repeat) for trial in plan.trials]
    assert told == [(case, mode, repeat) for case in "ba" for mode in ("none", "eager") for repeat in (1, 2)]
    assert plan.modes == (Mode.NONE, Mode.EAGER)


@given(SUBSETS, st.sets(st.sampled_from(ALL_MODES), min_size=1))
def test_whole_means_every_case_in_every_mode(chosen: set[str], modes: set[Mode]) -> None:
    """Law: a planned skill is whole or partial, and whole only with all of its cases in all three modes."""
    skills = {"skills/x": {"a", "b"}, "skills/y": {"c", "d"}}
    cases = [planned_case(name, skill=skill) for skill, names in skills.items() for name in sorted(names)]
    plan = plan_of(*cases, modes=tuple(modes), chosen=tuple(chosen))
    planned = {skill for skill, names in skills.items() if names & chosen}
    whole = {skill for skill in planned if skills[skill] <= chosen and modes == set(ALL_MODES)}
    assert set(plan.whole_skills) == whole
    assert set(plan.partial_skills) == planned - whole
    assert set(plan.skills) == planned


def test_nothing_chosen_is_nothing_planned() -> None:
    """An empty choice gives no trial and covers no skill."""
    plan = build_plan([planned_case("a")], chosen=frozenset(), modes=ALL_MODES, repeats=1)
    assert (plan.trials, plan.skills, plan.whole_skills, plan.partial_skills) == ((), (), (), ())


def test_a_case_of_the_same_id_in_another_suite_is_another_case() -> None:
    """Cases are chosen by suite and id."""
    cases = [planned_case("a", suite="q"), planned_case("a", suite="r")]
    plan = build_plan(cases, chosen=frozenset({("r", "a")}), modes=ALL_MODES, repeats=1)
    assert {trial.suite for trial in plan.trials} == {"r"}
    assert plan.partial_skills == ("skills/s",)


def test_the_highest_cost() -> None:
    """``none`` has no tools and takes one call, the other modes up to the turn limit; the judge one for a rubric."""
    plan = plan_of(planned_case("a"), repeats=2)
    assert highest_cost(plan, turn_limit=5, max_output_tokens={"candidate": 10, "judge": 3}) == {
        "candidate_calls": 2 * (5 + 1 + 5),
        "judge_calls": 6,
        "candidate_output_tokens": 220,
        "judge_output_tokens": 18,
    }


@pytest.mark.parametrize(
    ("rubric", "behavior", "n"), [(False, False, 0), (True, False, 1), (False, True, 1), (True, True, 2)]
)
def test_the_judge_is_asked_for_rubric_and_prose(rubric: bool, behavior: bool, n: int) -> None:
    """Checks alone cost no judge, a behaviour with a rubric costs two calls."""
    planned = planned_case("a")
    prose = Behavior(action="refuse", refused=True, required="r", forbidden="f") if behavior else None
    case = replace(planned.case, rubric=planned.case.rubric if rubric else (), behavior=prose)
    cost = highest_cost(
        plan_of(replace(planned, case=case), modes=(Mode.NONE,)),
        turn_limit=5,
        max_output_tokens={"candidate": 10, "judge": 3},
    )
    assert cost["judge_calls"] == n
