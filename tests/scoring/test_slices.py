"""Slices: what the report counts, and what the gate makes of a slice that is missing, declared away, or half scored."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.contract.contract import SliceTerms
from skillassay.errors import Reason
from skillassay.gate.decide import Decision, Status
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.scoring.breakdown import About
from skillassay.scoring.scores import score_run
from skillassay.scoring.slices import SliceReport, build_slices
from skillassay.suites.traits import Traits
from tests.gate.test_decide import Say, decided, good, line
from tests.trials import plan_of, planned_case, scored, unscored

KEYS = {name: ("q", name) for name in "abc"}


def decision_on(terms: dict[str, SliceTerms], slices: dict[str, str], say: Say = good, **more: Any) -> Decision:
    """The decision on three cases, of which some are in a slice."""
    about = About(slices={KEYS[case]: name for case, name in slices.items()}, slice_terms=terms)
    return decided(say, plan_of(*(planned_case(name) for name in "abc"), **more), about=about)


def lacking(trial: Any) -> Any:
    """Case `a` in progressive cannot be run on this machine; all else is good."""
    is_it = (trial.case_id, trial.mode) == ("a", Mode.PROGRESSIVE)
    return unscored(trial, Reason.MISSING_CAPABILITY) if is_it else good(trial)


@pytest.mark.parametrize(
    ("terms", "slices", "say", "status"),
    [
        (SliceTerms(), {"a": "s"}, good, Status.PASSED),
        (SliceTerms(), {}, good, Status.FAILED),
        (SliceTerms(), {"a": "s"}, lacking, Status.UNDECIDED),
        (SliceTerms(required=False), {}, good, Status.NOT_APPLICABLE),
        (SliceTerms(required=False, not_applicable="no"), {}, good, Status.PASSED),
        (SliceTerms(required=False, not_applicable="no"), {"a": "s"}, good, Status.FAILED),
    ],
    ids=["there", "missing", "unscored", "optional", "declared away", "declared away and there"],
)
def test_a_required_slice(terms: SliceTerms, slices: dict[str, str], say: Say, status: Status) -> None:
    """Missing fails, unscored is open, declared not applicable passes where no case contradicts it."""
    required = line(decision_on({"s": terms}, slices, say), "required_slices")
    assert required.status is status
    assert status in {Status.PASSED, Status.NOT_APPLICABLE} or "s: " in required.detail[0]


def test_a_slice_in_the_suites_and_not_in_the_run_is_open() -> None:
    """It has cases, so it is not missing; nothing of it was looked at, so it is not passed."""
    decision = decision_on({"s": SliceTerms()}, {"a": "s"}, chosen=["b", "c"])
    assert line(decision, "required_slices").status is Status.UNDECIDED
    assert decision.slices == (("s", Status.UNDECIDED),)


def test_a_case_without_a_skill_at_hand_fills_no_slice() -> None:
    """A slice that was run in `none` alone was not looked at."""
    decision = decision_on({"s": SliceTerms()}, {"a": "s"}, modes=(Mode.NONE,))
    assert line(decision, "required_slices").status is Status.UNDECIDED


@pytest.mark.parametrize(
    ("say", "wanted"),
    [
        (good, Status.PASSED),
        (lambda t: scored(t, 3) if (t.case_id, t.mode) == ("a", Mode.PROGRESSIVE) else good(t), Status.FAILED),
        (lambda t: scored(t, 3) if (t.case_id, t.mode) == ("b", Mode.PROGRESSIVE) else good(t), Status.PASSED),
        (lambda t: scored(t, 0) if (t.case_id, t.mode) == ("a", Mode.EAGER) else good(t), Status.PASSED),
        (lacking, Status.UNDECIDED),
    ],
    ids=["good", "low", "low elsewhere", "low in eager", "unscored"],
)
def test_a_slice_is_decided_by_its_own_progressive_trials(say: Say, wanted: Status) -> None:
    """Neither another slice nor another mode decides it, and a slice without terms has a decision too."""
    assert decision_on({}, {"a": "s", "b": "rest"}, say).slices[1] == ("s", wanted)


def report(say: Say, traits: dict[tuple[str, str], Traits]) -> SliceReport:
    """The report on a slice of two cases, each asked twice in every mode."""
    plan = plan_of(planned_case("a"), planned_case("b", n=4), planned_case("c"), repeats=2)
    rows = score_run(plan, [say(trial) for trial in plan.trials], slices={}).rows
    slices = {KEYS["a"]: "s", KEYS["b"]: "s"}
    (found,) = build_slices(rows, slices=slices, terms={}, traits=traits)
    return found


def test_the_report_counts_its_own_trials() -> None:
    """Cases, severities and oracles once a case; trials, distribution and failures by mode, with attempts."""
    traits = {KEYS["a"]: Traits(oracle_type="code", severity="high"), KEYS["b"]: Traits(oracle_type="rubric")}
    found = report(lambda t: scored(t, 3, attempt=2) if t.repeat == 2 else scored(t, t.n_criteria), traits)
    group = found.group
    assert (group.n_cases, group.severities, group.oracles) == (
        2,
        (("high", 1), ("unrated", 1)),
        (("code", 1), ("rubric", 1)),
    )
    assert [mode.mode for mode in group.modes] == list(ALL_MODES)
    for mode in group.modes:
        assert (mode.trials.planned, mode.trials.scored, mode.trials.failed, mode.n_attempts) == (4, 4, 2, 6)
        assert mode.histogram == ((3, 5, 1), (3, 4, 1), (4, 4, 1), (5, 5, 1))
        assert mode.failures == (("high", 1), ("unrated", 1))
        assert mode.judge_disagreement is None


def test_what_a_machine_cannot_do_is_counted_apart() -> None:
    """It is planned and has no score; other errors are not among it."""
    reasons = {"a": Reason.MISSING_CAPABILITY, "b": Reason.TIMEOUT}
    found = report(lambda t: unscored(t, reasons.get(t.case_id, Reason.TIMEOUT)), {})
    assert [(m.trials.planned, m.trials.scored, m.n_missing_capability) for m in found.group.modes] == [(4, 0, 2)] * 3
