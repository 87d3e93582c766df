"""The gate: its lines, their precedence, and what each compares."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from skillassay.contract.contract import GateTerms
from skillassay.errors import Exit, Reason
from skillassay.gate.decide import Decision, GateInput, GateLine, Status, decide, decimal_text
from skillassay.runs.plan import ALL_MODES, Mode, Plan, PlannedTrial
from skillassay.runs.record import TrialRecord
from skillassay.scoring.breakdown import About, build_breakdown
from skillassay.scoring.scores import score_run
from tests.trials import arm_of, plan_of, planned_case, scored, turn_limit, unscored

CASES = [planned_case(name) for name in "abc"]
KEY = ("q", "a")
Say = Callable[[PlannedTrial], TrialRecord]


def good(trial: PlannedTrial) -> TrialRecord:
    """All with the skill, two of five without."""
    return scored(trial, 2 if trial.mode is Mode.NONE else trial.n_criteria)


def except_for(case: str, mode: Mode, say: Say) -> Say:
    """As ``good``, but one case in one mode."""
    return lambda trial: say(trial) if (trial.case_id, trial.mode) == (case, mode) else good(trial)


def decided(
    say: Say = good, plan: Plan | None = None, terms: Mapping[str, Any] | None = None, **given: Any
) -> Decision:
    """The decision on a run in which each trial says ``say(trial)``."""
    plan = plan if plan is not None else plan_of(*CASES)
    scores = score_run(plan, [say(trial) for trial in plan.trials], slices={})
    about = given.pop("about", About())
    facts: dict[str, Any] = {
        "is_fixture": True,
        "critical_cases": frozenset(),
        "critical_criteria": frozenset(),
        "graded_cases": dict.fromkeys(plan.skills, 3),
        "moved_skills": (),
        "skill_names": {"skills/s": "s"},
        "about": about,
        "breakdown": build_breakdown(scores.rows, about, n_repeats=plan.repeats),
    }
    return decide(scores, GateInput(plan=plan, terms=GateTerms(**(terms or {})), **(facts | given)))


def line(decision: Decision, name: str) -> GateLine:
    """One line of a decision."""
    (found,) = [item for item in decision.lines if item.name == name]
    return found


def statuses(decision: Decision) -> dict[str, Status]:
    """The status of each line."""
    return {item.name: item.status for item in decision.lines}


@pytest.mark.parametrize("some", [c for n in range(1, 4) for c in itertools.combinations_with_replacement(Status, n)])
def test_the_decision_is_an_and(some: tuple[Status, ...]) -> None:
    """Failed before undecided before passed, in any order; not applicable decides nothing."""
    want = next((s for s in (Status.FAILED, Status.UNDECIDED) if s in some), Status.PASSED)
    for order in itertools.permutations(some):
        lines = tuple(GateLine(name="x", status=status, number="", limit="") for status in order)
        decision = Decision(gate="fixture_gate", lines=lines)
        assert decision.status is want
        assert decision.exit_code == {Status.FAILED: Exit.FAILED, Status.UNDECIDED: Exit.UNDECIDED}.get(
            want, Exit.PASSED
        )


def test_a_good_fixture_run_passes() -> None:
    """Every line passes, or has nothing to look at."""
    decision = decided()
    assert (decision.gate, decision.status, decision.exit_code) == ("fixture_gate", Status.PASSED, 0)
    assert statuses(decision) == {
        "complete": Status.PASSED,
        "quality_min": Status.PASSED,
        "beats_none": Status.PASSED,
        "graded_cases": Status.PASSED,
        "critical_failures": Status.NOT_APPLICABLE,
        "clean_arms": Status.PASSED,
        "digests_match": Status.PASSED,
        "contract_complete": Status.PASSED,
        "nothing_held": Status.PASSED,
    }


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_error_leaves_the_decision_open(mode: Mode) -> None:
    """An unscored trial in any mode is exit 3, named with reason and stage, and never a failure."""
    decision = decided(except_for("b", mode, unscored))
    assert decision.exit_code == Exit.UNDECIDED
    assert "b [" in line(decision, "complete").detail[0]
    assert "provider_error (candidate)" in line(decision, "complete").detail[0]


def test_a_failure_outweighs_an_error() -> None:
    """A line that failed on scored trials decides, whatever else is missing: exit 1."""
    say: Say = lambda t: unscored(t) if t.case_id == "b" else scored(t, 1) if t.mode is Mode.PROGRESSIVE else good(t)  # noqa: E731
    assert decided(say).exit_code == Exit.FAILED


def test_an_empty_run_is_not_passed() -> None:
    """A run in which nothing was planned, or nothing ran, exits 3."""
    assert decided(plan=plan_of()).exit_code == Exit.UNDECIDED
    assert decided(unscored).exit_code == Exit.UNDECIDED


def test_contract_errors_are_counted() -> None:
    """The complete line says how many of the errors were breaches of an output contract."""
    decision = decided(except_for("a", Mode.NONE, lambda t: unscored(t, Reason.CONTRACT_ERROR)))
    assert line(decision, "complete").number == "8 of 9 trials scored, 1 contract errors"


@pytest.mark.parametrize(
    ("k", "n", "limit", "passes"),
    [
        (4, 5, Fraction(4, 5), True),
        (7966, 10000, Fraction(4, 5), False),
        (7, 10, Fraction(7, 10), True),
        (29, 100, Fraction(29, 100), True),
        (1, 10, Fraction(1, 10), True),
        (2, 3, Fraction(2, 3), True),
        (1, 3, Fraction(2, 3), False),
        (0, 5, Fraction(0), True),
        (4, 5, Fraction(1), False),
    ],
)
def test_quality_is_compared_in_integers(k: int, n: int, limit: Fraction, passes: bool) -> None:
    """camunda/camunda#50019: no float stands between k/n and the limit, and both are shown exactly."""
    plan = plan_of(planned_case("a", n=n), modes=(Mode.PROGRESSIVE,))
    quality = line(decided(lambda t: scored(t, k), plan, {"quality_min": limit}), "quality_min")
    assert quality.status is (Status.PASSED if passes else Status.FAILED)
    assert f"worst {k}/{n}" in quality.number
    assert decimal_text(limit) in quality.limit


@pytest.mark.parametrize(
    ("limit", "text"),
    [("4/5", "0.8"), ("2/3", "2/3"), ("1", "1"), ("0", "0"), ("7966/10000", "0.7966"), ("1/8", "0.125")],
)
def test_a_limit_is_shown_exactly(limit: str, text: str) -> None:
    """As a decimal where one is exact, else as the fraction."""
    assert decimal_text(Fraction(limit)) == text


def test_one_low_case_fails_whatever_the_mean() -> None:
    """An average never overrides: 3 of 5 in one case of twenty fails, and case and criteria are named."""
    plan = plan_of(*(planned_case(f"c{i}") for i in range(20)))
    decision = decided(except_for("c7", Mode.PROGRESSIVE, lambda t: scored(t, 3)), plan)
    assert decision.exit_code == Exit.FAILED
    assert line(decision, "quality_min").detail == ("c7 [progressive #1]: 3/5, failed: r3, r4",)


@pytest.mark.parametrize("mode", [Mode.NONE, Mode.EAGER])
def test_quality_looks_at_progressive_alone(mode: Mode) -> None:
    """A low score without the skill, or with it whole in the prompt, is no failure of it."""
    assert decided(except_for("a", mode, lambda t: scored(t, 0))).exit_code == Exit.PASSED


def test_a_turn_limit_is_nothing_of_n() -> None:
    """A candidate without an answer in its turns fails the gate."""
    decision = decided(except_for("a", Mode.PROGRESSIVE, turn_limit))
    assert decision.exit_code == Exit.FAILED
    assert "0/5" in line(decision, "quality_min").detail[0]
    assert "turn_limit" in line(decision, "quality_min").detail[0]


@pytest.mark.parametrize(
    ("with_skill", "without", "status"),
    [(5, 2, Status.PASSED), (5, 4, Status.PASSED), (5, 5, Status.FAILED), (4, 5, Status.FAILED)],
)
def test_a_skill_must_beat_its_absence(with_skill: int, without: int, status: Status) -> None:
    """Strictly: a tie has no place in the catalog, and the skill is named."""
    beats = line(decided(lambda t: scored(t, without if t.mode is Mode.NONE else with_skill)), "beats_none")
    assert beats.status is status
    assert (status is Status.PASSED) == (beats.detail == ())
    assert status is Status.PASSED or "skills/s: " in beats.detail[0]


def test_each_skill_beats_none_for_itself() -> None:
    """A skill that helps a lot does not carry one that ties."""
    plan = plan_of(planned_case("a", skill="skills/x"), planned_case("b", skill="skills/y"))
    beats = line(decided(except_for("b", Mode.NONE, lambda t: scored(t, 5)), plan), "beats_none")
    assert (beats.status, beats.number) == (Status.FAILED, "1 of 2 skills")
    assert beats.detail[0].startswith("skills/y: 5/5 against 5/5")


def test_an_error_in_one_arm_leaves_the_comparison_open() -> None:
    """Never decided on half a pair."""
    beats = line(decided(except_for("a", Mode.NONE, unscored)), "beats_none")
    assert beats.status is Status.UNDECIDED
    assert "2 of 3 cases scored in both modes" in beats.detail[0]


@pytest.mark.parametrize(
    ("n_cases", "without", "status"),
    [
        (5, 0, Status.UNDECIDED),  # gains of d show a lift where (1 + d)^n is above 40: 2^5 = 32
        (6, 0, Status.PASSED),  # 64
        (20, 4, Status.UNDECIDED),  # 1.2^20 = 38.3
        (21, 4, Status.PASSED),  # 46.0
        (6, 5, Status.FAILED),
    ],
)
def test_under_bound_the_interval_must_exclude_zero(n_cases: int, without: int, status: Status) -> None:
    """A lift that is positive and inconclusive is exit 3; one that is not positive fails; a clear one passes."""
    plan = plan_of(*(planned_case(f"c{i}") for i in range(n_cases)))
    say: Say = lambda t: scored(t, without if t.mode is Mode.NONE else 5)  # noqa: E731
    assert line(decided(say, plan, {"lift_rule": "bound"}), "beats_none").status is status


@pytest.mark.parametrize(("graded", "status"), [(2, Status.FAILED), (3, Status.PASSED)])
def test_a_skill_needs_its_cases(graded: int, status: Status) -> None:
    """Counted over the suites, planned now or not."""
    assert line(decided(graded_cases={"skills/s": graded}), "graded_cases").status is status


@pytest.mark.parametrize(
    ("say", "status"),
    [
        (good, Status.PASSED),
        (except_for("a", Mode.PROGRESSIVE, lambda t: scored(t, 4)), Status.FAILED),
        (except_for("a", Mode.PROGRESSIVE, turn_limit), Status.FAILED),
        (except_for("a", Mode.PROGRESSIVE, unscored), Status.UNDECIDED),
        (except_for("a", Mode.NONE, lambda t: scored(t, 0)), Status.PASSED),
        (except_for("b", Mode.PROGRESSIVE, lambda t: scored(t, 4)), Status.PASSED),
    ],
    ids=["good", "one criterion", "turn limit", "error", "other mode", "other case"],
)
def test_a_critical_case_fails_by_one_criterion(say: Say, status: Status) -> None:
    """4 of 5 reaches the limit and still fails where the case is critical."""
    assert line(decided(say, critical_cases=frozenset({KEY})), "critical_failures").status is status


@pytest.mark.parametrize(
    ("say", "status"),
    [
        (good, Status.PASSED),
        (except_for("a", Mode.PROGRESSIVE, lambda t: scored(t, 4, critical=True)), Status.FAILED),
        (except_for("a", Mode.PROGRESSIVE, lambda t: scored(t, 4)), Status.PASSED),
        (except_for("a", Mode.PROGRESSIVE, turn_limit), Status.FAILED),
        (except_for("a", Mode.PROGRESSIVE, unscored), Status.UNDECIDED),
    ],
    ids=["good", "critical criterion", "other criterion", "turn limit", "error"],
)
def test_a_critical_criterion_fails_by_itself(say: Say, status: Status) -> None:
    """Of a critical criterion's case only that criterion counts; no answer at all fails it too."""
    assert line(decided(say, critical_criteria=frozenset({KEY})), "critical_failures").status is status


@pytest.mark.parametrize(("with_skill", "without", "status"), [(4, 5, Status.FAILED), (4, 4, Status.PASSED)])
def test_no_critical_case_does_worse_than_without_the_skill(with_skill: int, without: int, status: Status) -> None:
    """A case with a critical criterion that holds still fails where the skill made the rest of it worse."""
    say: Say = lambda t: scored(t, {Mode.NONE: without, Mode.PROGRESSIVE: with_skill}.get(t.mode, 5))  # noqa: E731
    critical = line(decided(say, critical_criteria=frozenset({KEY})), "critical_failures")
    assert critical.status is status
    assert critical.detail == (
        ("a: 0.8 of its criteria in progressive, 1 in none: worse than without the skill",)
        if status is Status.FAILED
        else ()
    )


def test_a_manual_block_fails() -> None:
    """Whatever the figures, with its reason."""
    decision = decided(terms={"manual_block": "legal has not seen it"})
    assert decision.exit_code == Exit.FAILED
    assert line(decision, "no_manual_block").detail == ("legal has not seen it",)


def test_a_skill_that_moved_leaves_the_decision_open() -> None:
    """Which bytes answered cannot be said."""
    decision = decided(moved_skills=("skills/s",))
    assert decision.exit_code == Exit.UNDECIDED
    assert "skills/s" in line(decision, "digests_match").detail[0]


@pytest.mark.parametrize("modes", [ALL_MODES[:1], ALL_MODES[:2], ALL_MODES[::2]], ids=str)
def test_a_partial_plan_is_decided_on_what_it_planned(modes: tuple[Mode, ...]) -> None:
    """With progressive and none there is something to decide; without ``none`` whether it is beaten stays open."""
    decision = decided(plan=plan_of(*CASES, modes=modes))
    wanted = Status.PASSED if Mode.NONE in modes else Status.UNDECIDED
    assert (decision.status, line(decision, "beats_none").status) == (wanted, wanted)
    assert line(decision, "quality_min").status is Status.PASSED


@pytest.mark.parametrize("modes", [(Mode.NONE,), (Mode.EAGER,), (Mode.NONE, Mode.EAGER)], ids=str)
def test_without_a_progressive_trial_nothing_is_passed(modes: tuple[Mode, ...]) -> None:
    """A run that never offered the skill says nothing about it: exit 3."""
    assert decided(plan=plan_of(*CASES, modes=modes)).exit_code == Exit.UNDECIDED


def test_a_live_run_passes_another_gate() -> None:
    """Uncalibrated and unapproved, the model gate fails; everything else passed makes it declared."""
    decision = decided(is_fixture=False)
    assert (decision.gate, decision.exit_code, decision.declared) == ("model_gate", Exit.FAILED, True)
    assert [item.name for item in decision.lines if item.live_only] == ["judge_calibrated", "approved"]
    assert not any(item.live_only for item in decided().lines)


@pytest.mark.parametrize(
    "say",
    [except_for("a", Mode.PROGRESSIVE, lambda t: scored(t, 1)), except_for("a", Mode.NONE, unscored)],
    ids=["low", "error"],
)
def test_declared_means_that_all_else_passed(say: Say) -> None:
    """A failure or an open line elsewhere is no declared run."""
    assert not decided(say, is_fixture=False).declared


def test_a_live_run_that_could_not_score_is_undecided() -> None:
    """A lack of certification is no failure of the candidate: an error in a live run exits 3, a low score still 1."""
    assert decided(except_for("a", Mode.NONE, unscored), is_fixture=False).exit_code == Exit.UNDECIDED
    assert decided(unscored, is_fixture=False).exit_code == Exit.UNDECIDED
    low = except_for("a", Mode.PROGRESSIVE, lambda trial: scored(trial, 1))
    assert decided(low, is_fixture=False).exit_code == Exit.FAILED


def test_every_line_has_its_number_and_limit() -> None:
    """Each line of a decision says what was compared with what."""
    decision = decided(is_fixture=False, terms={"manual_block": "x"}, critical_cases=frozenset({KEY}))
    assert all(item.number and item.limit for item in decision.lines)


def seeing(mode: Mode, **seen: Any) -> Say:
    """Good trials, of which those in one mode saw something else."""
    return lambda t: replace(good(t), arm=arm_of(t, **(seen if t.mode is mode else {})))


def test_a_baseline_that_saw_the_skill_fails() -> None:
    """The lift would measure nothing: exit 1 though every score is good, each difference in the detail."""
    decision = decided(seeing(Mode.NONE, skills=("s",)))
    assert line(decision, "clean_arms").status is Status.FAILED
    assert line(decision, "clean_arms").number == "3 differences in 9 trials"
    assert decision.exit_code == Exit.FAILED


def test_arms_that_nobody_told_leave_the_decision_open() -> None:
    """A record without its arm proves no clean baseline."""
    decision = decided(lambda t: replace(good(t), arm=None))
    assert line(decision, "clean_arms").status is Status.UNDECIDED
    assert decision.exit_code == Exit.UNDECIDED
