"""Arms of a case differ in the skill alone, or every difference is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import Arm
from skillassay.scoring.arms import ArmCheck, check_arms
from skillassay.scoring.scores import Row
from tests.trials import arm_of, plan_of, planned_case, scored, unscored

PLAN = plan_of(planned_case("a"), planned_case("b"))
NAMES = {"skills/s": "s"}


def check(case: str, mode: Mode, **seen: Any) -> ArmCheck:
    """The comparison when one trial saw something else; ``arm=None`` for one that does not tell."""
    rows = []
    for trial in PLAN.trials:
        record = scored(trial, 5)
        if (trial.case_id, trial.mode) == (case, mode):
            record = replace(record, arm=_arm(trial, seen))
        rows.append(Row(planned=trial, record=record))
    return check_arms(rows, NAMES)


def _arm(trial: PlannedTrial, seen: dict[str, Any]) -> Arm | None:
    return None if seen == {"arm": None} else arm_of(trial, **seen)


def test_clean_arms_have_no_difference() -> None:
    """Six trials told what they saw, none of them more than it may."""
    assert check("a", Mode.NONE) == ArmCheck(n_told=6, n_untold=0, differences=())


@pytest.mark.parametrize(
    ("mode", "seen", "words"),
    [
        (Mode.NONE, {"skills": ("s",)}, "a, none #1: it could see the skill s"),
        (Mode.NONE, {"tools": ("x",), "skill_tools": ("x",)}, "a, none #1: it could see the tool x"),
        (Mode.PROGRESSIVE, {"skills": ("t",)}, "a, progressive #1: it could not see the skill s"),
        (Mode.EAGER, {"skills": ()}, "a, eager #1: it could not see the skill s"),
        (Mode.NONE, {"prompt": "q"}, "a #1: none saw another prompt than progressive"),
        (Mode.EAGER, {"files": (("f", "0"),)}, "a #1: eager saw other files than progressive"),
        (Mode.NONE, {"tools": ("shell",)}, "a #1: none saw other tools than progressive"),
    ],
)
def test_each_difference_is_named(mode: Mode, seen: dict[str, Any], words: str) -> None:
    """With case, mode and repeat; the other case stays clean."""
    assert check("a", mode, **seen).differences == (words,)


def test_a_tool_in_every_arm_is_no_difference() -> None:
    """An agent's own tools are the same everywhere; those of skills do not count."""
    rows = [
        Row(planned=trial, record=replace(record, arm=replace(record.arm, tools=("shell", *record.arm.tools))))
        for trial in PLAN.trials
        if (record := scored(trial, 5)).arm is not None
    ]
    assert check_arms(rows, NAMES).differences == ()


def test_repeats_are_compared_each_with_its_own() -> None:
    """The second repeat may not borrow the first one's arms."""
    plan = plan_of(planned_case("a"), repeats=2)
    rows = [Row(planned=t, record=replace(scored(t, 5), arm=arm_of(t, prompt=f"p{t.repeat}"))) for t in plan.trials]
    assert check_arms(rows, NAMES).differences == ()


def test_a_scored_trial_that_does_not_tell_is_counted() -> None:
    """Nothing is known of it, and that is no cleanness."""
    assert check("a", Mode.NONE, arm=None) == ArmCheck(n_told=5, n_untold=1, differences=())


def test_a_trial_that_never_began_says_nothing() -> None:
    """An error before the arm was known is counted where errors are."""
    rows = [Row(planned=t, record=replace(unscored(t), arm=None)) for t in PLAN.trials]
    assert check_arms(rows, NAMES) == ArmCheck(n_told=0, n_untold=0, differences=())


def test_an_older_skill_may_have_had_another_name() -> None:
    """The arm `previous` must have seen some skill; which name it had then is its own affair."""
    trial = replace(PLAN.trials[0], mode=Mode.PREVIOUS)
    for skills, differences in ((("old-name",), ()), ((), ("a, previous #1: it could see no skill",))):
        row = Row(planned=trial, record=replace(scored(trial, 5), arm=arm_of(trial, skills=skills)))
        assert check_arms([row], NAMES).differences == differences
