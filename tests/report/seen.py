"""A run of three cases made up for the reports: one passed, one failed with hostile words, one without a score."""

from __future__ import annotations

from dataclasses import replace

from skillassay.contract.contract import GateTerms
from skillassay.errors import Reason, Stage
from skillassay.report.base import RunView
from skillassay.runs.plan import Mode, Plan, PlannedTrial
from skillassay.runs.record import Mark, Outcome, Spent, TrialRecord
from skillassay.scoring.assessment import RunFacts, assess
from skillassay.transcript import Usage

NASTY = "=1+1 <b>&\"'\x00\x1b[31m\u202e]]>\n::error::no\U0001f600"
PASSED, FAILED, OPEN = "alpha", "=beta", "gamma"


def _planned(case: str, mode: Mode) -> PlannedTrial:
    return PlannedTrial(
        trial_id=f"{case.strip('=')}-{mode.value}",
        suite="quality",
        case_id=case,
        skill_path="skills/x",
        mode=mode,
        repeat=1,
        n_criteria=2,
    )


def _record(planned: PlannedTrial) -> TrialRecord:
    base = TrialRecord(
        trial_id=planned.trial_id,
        suite=planned.suite,
        case_id=planned.case_id,
        skill_path=planned.skill_path,
        mode=planned.mode.value,
        repeat=1,
        n_criteria=2,
        outcome=Outcome(status="PASS"),
        marks=(
            Mark(id="sum", by="code", verdict="PASS", evidence="found 12"),
            Mark(id="tone", by="judge", verdict="PASS", evidence="kind", text="It is kind."),
        ),
        answer="12, kindly",
        candidate=Spent(n_calls=1, n_attempts=1, usage=Usage(input_tokens=100, output_tokens=10, n_calls=1)),
        duration_s=1.25,
    )
    if planned.case_id == OPEN:
        why = Outcome(status="UNSCORED", reason=Reason.TIMEOUT, stage=Stage.JUDGE, detail="no reply in 120 s")
        return replace(base, outcome=why, marks=base.marks[:1])
    if planned.case_id == FAILED or planned.mode is Mode.NONE:
        failed = Mark(id="tone", by="judge", verdict="FAIL", evidence=NASTY, text="It is kind.")
        return replace(base, outcome=Outcome(status="FAIL"), marks=(base.marks[0], failed), answer=NASTY)
    return base


def build_seen() -> RunView:
    """The view of it."""
    trials = tuple(_planned(case, mode) for case in (PASSED, FAILED, OPEN) for mode in (Mode.PROGRESSIVE, Mode.NONE))
    plan = Plan(
        trials=trials, modes=(Mode.PROGRESSIVE, Mode.NONE), repeats=1, whole_skills=("skills/x",), partial_skills=()
    )
    facts = RunFacts(
        expected={},
        plan=plan,
        gate=GateTerms(),
        is_fixture=True,
        estimated_tokens=False,
        critical_cases=frozenset(),
        critical_criteria=frozenset(),
        graded_cases={"skills/x": 3},
        skill_names={"skills/x": "x"},
        slices={},
    )
    model = {"label": "fixture", "is_fixture": True}
    return RunView(
        facts=facts,
        assessment=assess(facts, map(_record, trials), moved=()),
        header={
            "id": "20261130T000000.000Z-abcdef",
            "subject": "loop",
            "models": {"candidate": model, "judge": model, "independent": False},
        },
        place=".skillassay/runs/20261130T000000.000Z-abcdef",
        evidence={},
        occurred_at="2026-11-30T00:00:00Z",
    )
