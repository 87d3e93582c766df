"""What stored trials say of cases: which of them tell anything apart, and when there is too little to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from skillassay.errors import Reason, Stage
from skillassay.runs.plan import ALL_MODES, Mode, PlannedTrial
from skillassay.runs.record import TrialRecord
from skillassay.scoring.discrimination import (
    ALWAYS_FAILS,
    ALWAYS_PASSES,
    FLAKY,
    MIN_TRIALS,
    NEVER_PASSED,
    NO_DIFFERENCE,
    NONE_BETTER,
    OFTEN_UNJUDGED,
    SATURATED,
    StoredTrials,
    TrialLint,
    lint_trials,
)
from skillassay.scoring.scores import score_run
from skillassay.suites.case import Case
from skillassay.suites.lints.base import LintedCase
from tests.trials import plan_of, planned_case, scored, unscored

CASE = Case(id="a", skill="s", query="q", suite="q", digest="digest-a")
LINTED = LintedCase(case=CASE, checks=(), suite_path="evals/q.json", skill_path="skills/s")
N = 2
Give = Callable[[PlannedTrial], TrialRecord | None]


def stored(give: Give, *, repeats: int = 4, modes: Sequence[Mode] = ALL_MODES, **fields: Any) -> StoredTrials:
    """A run of the case with two criteria whose trials have the records that ``give`` gives; None for no record."""
    plan = plan_of(planned_case("a", n=N), modes=modes, repeats=repeats)
    records = [record for trial in plan.trials if (record := give(trial)) is not None]
    known: dict[str, Any] = {
        "run_id": "run",
        "cases": {"q/a": "digest-a"},
        "hidden_suite": None,
        "bytes_of": {"skills/s": ("bytes",)},
        "is_fixture": False,
    }
    return StoredTrials(rows=score_run(plan, records, slices={}).rows, **(known | fields))


def lint(*runs: StoredTrials) -> TrialLint:
    """The lint of the one case."""
    return lint_trials([LINTED], runs)


def kinds(*runs: StoredTrials) -> dict[str, list[str | None]]:
    """Kinds with the items that they name."""
    found: dict[str, list[str | None]] = {}
    for one in lint(*runs).doubts:
        found.setdefault(one.code, []).append(one.item)
    return found


def by_mode(**k: int) -> Give:
    """``k`` criteria passed in each named mode, none in the others."""
    return lambda trial: scored(trial, k.get(trial.mode.value, 0))


def test_a_case_that_always_passes_everywhere_is_saturated() -> None:
    """With its counts by mode and the interval of all of them; its items are not told one by one."""
    (found,) = lint(stored(lambda trial: scored(trial, N))).doubts
    assert (found.code, found.severity.value) == (SATURATED, "warning")
    low, _ = proportion_confint(12, 12, method="wilson")
    assert f"progressive 4 of 4; none 4 of 4; eager 4 of 4 (95 % {low:.0%} to 100%)" in found.message


@pytest.mark.parametrize(
    ("part", "severity"),
    [("representative", "warning"), ("challenge", "warning"), ("over_refusal", "note"), ("failure_corpus", "note")],
)
def test_a_guard_may_pass_everywhere(part: str, severity: str) -> None:
    """It is there so that something does not happen: of it nobody expects a lift."""
    guard = replace(LINTED, case=replace(CASE, part=part))
    saturated, equal = stored(lambda trial: scored(trial, N)), stored(by_mode(progressive=1, none=1, eager=2))
    for run, kind in ((saturated, SATURATED), (equal, NO_DIFFERENCE)):
        found = [one for one in lint_trials([guard], [run]).doubts if one.code == kind]
        assert [one.severity.value for one in found] == [severity]


def test_one_failure_without_the_skill_and_it_is_not() -> None:
    """The near miss: one trial of twelve tells the modes apart."""
    assert SATURATED not in kinds(
        stored(lambda trial: scored(trial, 0 if (trial.mode, trial.repeat) == (Mode.NONE, 1) else N))
    )


def test_passing_with_the_skill_alone_is_no_saturation() -> None:
    """Where nobody asked without it, nothing says that it would pass without."""
    assert kinds(stored(lambda trial: scored(trial, N), modes=(Mode.PROGRESSIVE,))) == {}


def test_a_case_that_never_passes_is_told_with_what_failed() -> None:
    """No trial met all of it; the criterion that never passed is named."""
    found = kinds(stored(lambda trial: scored(trial, 1)))
    assert found == {NEVER_PASSED: [None], ALWAYS_PASSES: ["r0"], ALWAYS_FAILS: ["r1"]}


def test_one_pass_in_any_mode_and_it_did_pass() -> None:
    """The near miss of it."""
    give: Give = lambda trial: scored(trial, N if (trial.mode, trial.repeat) == (Mode.EAGER, 2) else 0)  # noqa: E731
    assert NEVER_PASSED not in kinds(stored(give))


def test_equal_scores_repeat_by_repeat_are_no_difference() -> None:
    """Eager passes, so that the case is not hopeless: the skill offered gives what none gives."""
    assert NO_DIFFERENCE in kinds(stored(by_mode(progressive=1, none=1, eager=2)))
    assert NO_DIFFERENCE not in kinds(stored(by_mode(progressive=2, none=1, eager=2)))


def test_one_repeat_in_which_the_skill_helps_is_a_difference() -> None:
    """The pairs are those of one repeat, not the means."""

    def give(trial: PlannedTrial) -> TrialRecord:
        return scored(trial, 2 if trial.mode is Mode.EAGER or (trial.mode, trial.repeat) == ("progressive", 1) else 1)

    assert not {NO_DIFFERENCE, NONE_BETTER} & set(kinds(stored(give)))


def test_none_better_needs_one_pair_and_no_other_way() -> None:
    """Without the skill never lower and once higher."""

    def give(trial: PlannedTrial) -> TrialRecord:
        return scored(trial, 2 if (trial.mode, trial.repeat) == (Mode.NONE, 3) or trial.mode is Mode.EAGER else 1)

    found = [one for one in lint(stored(give)).doubts if one.code == NONE_BETTER]
    assert ["higher in 1 of 4 repeats" in one.message for one in found] == [True]


def test_repeats_that_differ_are_flaky_by_item() -> None:
    """From two repeats on: it is a fact, not an estimate. Modes that differ from each other are not flaky."""
    run = stored(lambda trial: scored(trial, 1 if (trial.mode, trial.repeat) == (Mode.EAGER, 2) else 2), repeats=2)
    (found,) = (one for one in lint(run).doubts if one.code == FLAKY)
    assert (found.item, found.severity.value) == ("r1", "warning")
    assert "eager 1 of 2" in found.message
    assert "one and the same answer" not in found.message
    assert FLAKY not in kinds(stored(by_mode(progressive=2, none=1, eager=0)))


def test_one_answer_with_two_verdicts_is_the_judges() -> None:
    """The hint then is about the wording of the criterion."""

    def give(trial: PlannedTrial) -> TrialRecord:
        return replace(scored(trial, 1 + trial.repeat % 2), answer="the same")

    (found,) = (one for one in lint(stored(give, repeats=2)).doubts if one.code == FLAKY)
    assert "one and the same answer" in found.message
    assert "judge" in found.hint


def test_other_bytes_are_no_repeats() -> None:
    """Two runs on two states of a skill may differ; two on one state may not."""
    good, bad = (stored(by_mode(progressive=k, none=k, eager=k), repeats=1) for k in (2, 1))
    other = replace(bad, run_id="second", bytes_of={"skills/s": ("other bytes",)})
    assert FLAKY not in kinds(good, other)
    assert FLAKY in kinds(good, replace(other, bytes_of=good.bytes_of))


def test_too_few_trials_say_nothing() -> None:
    """Three of three trials are not told; four are. At four the Wilson interval of all begins above one half."""
    assert MIN_TRIALS == 4
    lows = [proportion_confint(n, n, method="wilson")[0] for n in (MIN_TRIALS - 1, MIN_TRIALS)]
    assert lows[0] <= 0.5 < lows[1]
    three = lint(stored(lambda trial: scored(trial, N), repeats=1))
    assert (three.doubts, three.too_few, three.n_told) == ((), ("q/a",), 0)
    four = lint(stored(lambda trial: scored(trial, N), repeats=2, modes=(Mode.PROGRESSIVE, Mode.NONE)))
    assert ([one.code for one in four.doubts], four.too_few, four.n_told) == ([SATURATED], (), 1)


def test_runs_are_counted_together() -> None:
    """Two runs of three trials are six."""
    run = stored(lambda trial: scored(trial, N), repeats=1)
    assert list(kinds(run, replace(run, run_id="second"))) == [SATURATED]


@given(st.lists(st.sampled_from(["PASS", "UNSCORED", "missing"]), min_size=12, max_size=12))
def test_a_trial_without_a_score_is_never_a_failure(outcomes: list[str]) -> None:
    """Law: where every scored trial passed, nothing says that anything failed, was flaky or did worse."""

    def give(trial: PlannedTrial) -> TrialRecord | None:
        outcome = outcomes[ALL_MODES.index(trial.mode) * 4 + trial.repeat - 1]
        return None if outcome == "missing" else scored(trial, N) if outcome == "PASS" else unscored(trial, k=1)

    found = lint(stored(give))
    assert found.n_scored == outcomes.count("PASS")
    assert found.n_unscored == 12 - found.n_scored
    assert not {one.code for one in found.doubts} & {NEVER_PASSED, NONE_BETTER, FLAKY, ALWAYS_FAILS}


@pytest.mark.parametrize(("n_lost", "is_told"), [(2, False), (3, True)])
def test_a_case_that_the_judge_often_cannot_decide(n_lost: int, is_told: bool) -> None:
    """One in five of the trials that it was asked about: 3 of 12 are, 2 of 12 are not."""
    left = [n_lost]

    def give(trial: PlannedTrial) -> TrialRecord:
        left[0] -= 1
        lost = unscored(trial, Reason.UNGROUNDED, Stage.JUDGE, k=1)
        return lost if left[0] >= 0 else scored(trial, trial.repeat % 2 + 1)

    found = [one for one in lint(stored(give)).doubts if one.code == OFTEN_UNJUDGED]
    assert [f"{n_lost} of 12" in one.message and "ungrounded" in one.message for one in found] == [True] * is_told


def test_what_the_provider_lost_is_not_the_judges() -> None:
    """A trial without an answer never came to the judge."""
    give: Give = lambda trial: unscored(trial) if trial.repeat < 3 else scored(trial, 1)  # noqa: E731
    assert OFTEN_UNJUDGED not in kinds(stored(give))


def test_withheld_and_edited_cases_are_counted_and_set_aside() -> None:
    """Neither gives a finding: of the one nothing may be told, the other was another case."""
    passes: Give = lambda trial: scored(trial, N)  # noqa: E731
    hidden, edited = stored(passes, hidden_suite="q"), stored(passes, cases={"q/a": "older"})
    assert (lint(hidden).doubts, lint(hidden).n_hidden, lint(hidden).unseen) == ((), 12, ("q/a",))
    assert (lint(edited).doubts, lint(edited).edited, lint(edited).n_trials) == ((), ("q/a",), 0)
