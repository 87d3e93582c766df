"""What the canonical result and the reports say of a trial without a score."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from skillassay.contract.contract import GateTerms
from skillassay.errors import Reason, Stage
from skillassay.report.base import failed_lines
from skillassay.runs.record import Mark, Outcome, TrialRecord
from skillassay.runs.results import trial_json
from skillassay.scoring.assessment import RunFacts
from skillassay.scoring.scores import Row
from tests.trials import plan_of, planned_case, scored

PLAN = plan_of(planned_case("a", n=2))
FACTS = RunFacts(
    plan=PLAN,
    gate=GateTerms(quality_min=Fraction(4, 5)),
    is_fixture=True,
    estimated_tokens=True,
    critical_cases=frozenset(),
    critical_criteria=frozenset(),
    graded_cases={},
    skill_names={},
    slices={},
    expected={},
)
MARKS = (
    Mark(id="total", by="code", verdict="PASS", evidence="e"),
    Mark(id="cap", by="judge", verdict="FAIL", evidence="No cap.", text="Says the cap.", explains="total"),
)
ABSTAINED = Outcome(status="UNSCORED", reason=Reason.JUDGE_ABSTAINED, stage=Stage.JUDGE, detail="d")


@pytest.mark.parametrize(
    ("outcome", "word", "is_lucky"), [(Outcome(status="FAIL"), "FAIL", True), (ABSTAINED, "saw FAIL", False)]
)
def test_only_a_scored_trial_has_verdicts(outcome: Outcome, word: str, *, is_lucky: bool) -> None:
    """A mark of an unscored trial was seen and decides nothing: another word, and no lucky pass."""
    trial = PLAN.trials[0]
    record: TrialRecord = replace(scored(trial, 1), outcome=outcome, marks=MARKS)
    row = Row(planned=trial, record=record)
    words = [line[0] for line in failed_lines(row, FACTS)]
    assert words[:2] == [word, "why"]
    assert ("LUCKY" in words) == is_lucky
    assert bool(trial_json(row)["lucky"]) == is_lucky
