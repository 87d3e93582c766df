"""The figures beside a lift: identical arms, the noise floor, the placebo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import beta

from skillassay.models.base import asks_anew
from skillassay.runs.plan import ALL_MODES, NOISE_MODES, ORDER, Mode, Plan, PlannedTrial, build_plan
from skillassay.runs.record import TrialRecord
from skillassay.scoring.arms import check_arms
from skillassay.scoring.noise import BEYOND, REPEATS, UNKNOWN, WITHIN, Noise, build_noise
from skillassay.scoring.scores import Row, score_run
from tests.trials import arm_of, plan_of, planned_case, scored, unscored

WITH_NOISE = (*ALL_MODES, *NOISE_MODES)
TEN = tuple(f"c{n}" for n in range(10))


def plan_with(*names: str, modes: Sequence[Mode] = WITH_NOISE, repeats: int = 1, skill: str = "skills/s") -> Plan:
    """A plan of cases of five criteria whose skill has a placebo."""
    cases = [replace(planned_case(name, skill=skill), placebo_digest="placebo") for name in names]
    return build_plan(cases, chosen=frozenset(("q", name) for name in names), modes=modes, repeats=repeats)


def noise_of(plan: Plan, passed: Callable[[PlannedTrial], int | None]) -> tuple[Noise, ...]:
    """The figures when each trial passes so many of its five criteria, or has no score."""

    def record(trial: PlannedTrial) -> TrialRecord:
        k = passed(trial)
        return unscored(trial) if k is None else scored(trial, k)

    return build_noise(score_run(plan, map(record, plan.trials), slices={}), plan)


def test_the_differences_are_those_of_the_arms() -> None:
    """Progressive 5/5, again 4/5, placebo 2/5, none 1/5, in each of ten cases."""
    passed = {Mode.PROGRESSIVE: 5, Mode.NONE: 1, Mode.EAGER: 3, Mode.AGAIN: 4, Mode.PLACEBO: 2}
    (found,) = noise_of(plan_with(*TEN), lambda trial: passed[trial.mode])
    figures = (found.a_a, found.lift, found.placebo_effect, found.over_placebo)
    assert [figure and figure.difference.mean for figure in figures] == pytest.approx([0.2, 0.8, 0.2, 0.6])
    assert found.skill_path == "skills/s"


@pytest.mark.parametrize("n_first", [7, 3])
def test_the_floor_is_the_end_further_from_zero(n_first: int) -> None:
    """Differences of +1 in some cases and -1 in the rest: shares 0 or 1 of the range, so Clopper & Pearson."""

    def passed(trial: PlannedTrial) -> int:
        first = trial.case_id in TEN[:n_first]
        return 5 * {Mode.PROGRESSIVE: first, Mode.AGAIN: not first}.get(trial.mode, False)

    (found,) = noise_of(plan_with(*TEN), passed)
    high = 2 * beta.ppf(0.975, n_first + 1, 10 - n_first) - 1
    low = 2 * beta.ppf(0.025, n_first, 11 - n_first) - 1
    assert found.floor == pytest.approx(max(high, -low), abs=1e-5)


@pytest.mark.parametrize(
    ("n_helped", "word"), [(10, BEYOND), (0, WITHIN), (1, WITHIN)], ids=["all cases", "no case", "one case"]
)
def test_a_lift_is_held_against_the_floor(n_helped: int, word: str) -> None:
    """Ten A/A differences of 0 leave some room; one case in ten that gains all is within it, ten are not."""
    helped = TEN[:n_helped]

    def passed(trial: PlannedTrial) -> int:
        return 0 if trial.mode is Mode.NONE and trial.case_id in helped else 5

    (found,) = noise_of(plan_with(*TEN), passed)
    assert found.floor is not None
    assert found.lift is not None
    assert found.lift.difference.mean is not None
    assert 0.1 < found.floor < 1
    assert found.word == word


def test_a_harm_can_be_beyond_the_floor_too() -> None:
    """The distance from 0 counts, not its side."""
    (found,) = noise_of(plan_with(*TEN), lambda trial: 5 * (trial.mode is Mode.NONE))
    assert found.word == BEYOND


@pytest.mark.parametrize("mode", [Mode.PROGRESSIVE, Mode.AGAIN, Mode.NONE])
def test_a_trial_without_a_score_leaves_it_open(mode: Mode) -> None:
    """In either of the identical arms, and in the lift itself."""
    (found,) = noise_of(plan_with(*TEN), lambda t: None if (t.mode, t.case_id) == (mode, "c3") else 5)
    assert found.word == UNKNOWN
    assert (found.floor is None) == (mode is not Mode.NONE)


def test_a_placebo_without_a_score_leaves_the_floor() -> None:
    """It is no part of the A/A difference; its own figures say how many cases they are of."""
    (found,) = noise_of(plan_with(*TEN), lambda t: None if (t.mode, t.case_id) == (Mode.PLACEBO, "c3") else 5)
    assert found.word == WITHIN
    assert found.over_placebo is not None
    assert (found.over_placebo.n_cases, found.over_placebo.n_planned) == (9, 10)


@pytest.mark.parametrize(
    ("modes", "repeats", "there"),
    [
        (ALL_MODES, 1, None),
        ((Mode.NONE, Mode.AGAIN, Mode.PLACEBO), 2, None),
        ((Mode.PROGRESSIVE, Mode.AGAIN), 1, (True, False, False, False)),
        ((Mode.PROGRESSIVE, Mode.PLACEBO), 1, (False, False, False, True)),
        ((Mode.PROGRESSIVE, Mode.NONE, Mode.PLACEBO), 1, (False, True, True, True)),
        (ALL_MODES, 2, (True, True, False, False)),
    ],
    ids=["usual", "no progressive", "again", "placebo", "placebo and none", "repeats"],
)
def test_each_figure_needs_its_arms(
    modes: Sequence[Mode], repeats: int, there: tuple[bool, bool, bool, bool] | None
) -> None:
    """What was not planned is none, and a run without any of it says nothing at all."""
    found = noise_of(plan_with(*TEN, modes=modes, repeats=repeats), lambda _: 5)
    figures = [[one.a_a, one.lift, one.placebo_effect, one.over_placebo] for one in found]
    assert figures == [] if there is None else [[figure is not None for figure in figures[0]]] == [list(there)]


def test_repeats_are_halved_by_their_number() -> None:
    """Of three repeats with 5, 0 and 3 of 5 the odd ones have 4/5 in the mean, the even one 0."""
    plan = plan_with(*TEN, modes=ALL_MODES, repeats=3)
    (found,) = noise_of(plan, lambda trial: (5, 0, 3)[trial.repeat - 1])
    assert found.source == REPEATS
    assert found.a_a is not None
    assert found.a_a.difference.mean == pytest.approx(0.8)
    assert (found.a_a.k_of, found.a_a.n_of, found.a_a.k_against, found.a_a.n_against) == (80, 100, 0, 50)


def test_the_arm_counts_where_there_are_repeats_as_well() -> None:
    """It has as many answers as the lift; the halves have not."""
    (found,) = noise_of(plan_with(*TEN, repeats=2), lambda trial: 5 if trial.mode is Mode.AGAIN else 4)
    assert found.source == "again"
    assert found.a_a is not None
    assert found.a_a.difference.mean == pytest.approx(-0.2)


def test_a_skill_without_a_placebo_has_no_trial_for_it() -> None:
    """Nothing stands in for it."""
    assert {trial.mode for trial in plan_of(planned_case("a"), modes=WITH_NOISE).trials} == {*ALL_MODES, Mode.AGAIN}


def test_the_new_trials_are_others() -> None:
    """Each mode has ids of its own, and the placebo's hang on its bytes."""
    plan = plan_with("a", modes=ORDER)
    assert len({trial.trial_id for trial in plan.trials}) == len(plan.trials) == 5
    case = replace(planned_case("a"), placebo_digest="other")
    other = build_plan([case], chosen=frozenset({("q", "a")}), modes=ORDER, repeats=1)
    moved = {a.mode for a, b in zip(plan.trials, other.trials, strict=True) if a.trial_id != b.trial_id}
    assert moved == {Mode.PLACEBO}


def test_only_the_slot_of_again_asks_anew() -> None:
    """Also where a suite or a case has that name."""
    plan = plan_with("again", "again/again", modes=WITH_NOISE)
    assert {trial.mode for trial in plan.trials if asks_anew(trial.slot)} == {Mode.AGAIN}
    assert not asks_anew("")


@pytest.mark.parametrize(
    ("mode", "seen", "words"),
    [
        (Mode.AGAIN, {"skills": ("s", "t")}, "a #1: again saw other skills than progressive"),
        (Mode.PLACEBO, {"skills": ("s", "t")}, "a #1: placebo saw other skills than progressive"),
        (
            Mode.PLACEBO,
            {"tools": ("load_skill", "x"), "skill_tools": ("load_skill", "x")},
            "a #1: placebo saw other skill tools than progressive",
        ),
        (Mode.AGAIN, {"prompt": "q"}, "a #1: again saw another prompt than progressive"),
        (Mode.PLACEBO, {"skills": ("t",)}, "a, placebo #1: it could not see the skill s"),
    ],
)
def test_these_arms_must_see_what_progressive_sees(mode: Mode, seen: dict[str, Any], words: str) -> None:
    """Skills and skill tools too, which other modes may differ in."""
    rows = []
    for trial in plan_with("a").trials:
        arm = arm_of(trial, **(seen if trial.mode is mode else {}))
        rows.append(Row(planned=trial, record=replace(scored(trial, 5), arm=arm)))
    assert words in check_arms(rows, {"skills/s": "s"}).differences


def test_arms_that_saw_the_same_are_clean() -> None:
    """Five modes and no difference."""
    rows = [Row(planned=trial, record=scored(trial, 5)) for trial in plan_with("a").trials]
    assert check_arms(rows, {"skills/s": "s"}).differences == ()
