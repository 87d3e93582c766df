"""The Markdown report under a byte budget, at the size of the worst run."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from skillassay.contract.contract import GateTerms
from skillassay.report.base import RunView
from skillassay.report.document import SUMMARY_BYTES, render_markdown
from skillassay.runs.plan import Mode, Plan, PlannedTrial
from skillassay.runs.record import Mark, Outcome, TrialRecord
from skillassay.scoring.assessment import RunFacts, assess

MAKE = json.loads(
    (Path(__file__).parents[1] / "data/public/ci/reportgenerator-31/make.json").read_text("utf-8"),
)
N_PASSED = 20


def planned(number: int) -> PlannedTrial:
    """One planned trial."""
    return PlannedTrial(
        trial_id=f"{number:016}",
        suite="quality",
        case_id=f"case-{number:04}",
        skill_path="skills/x",
        mode=Mode.PROGRESSIVE,
        repeat=1,
        n_criteria=1,
    )


def recorded(number: int) -> TrialRecord:
    """Its record: the first ones passed, all others failed with a long and hostile reason."""
    trial, passed = planned(number), number < N_PASSED
    evidence = ("| <b>é</b>\n" * MAKE["answer_chars"])[: MAKE["answer_chars"]]
    verdict = "PASS" if passed else "FAIL"
    return TrialRecord(
        trial_id=trial.trial_id,
        suite=trial.suite,
        case_id=trial.case_id,
        skill_path=trial.skill_path,
        mode=trial.mode.value,
        repeat=1,
        n_criteria=1,
        outcome=Outcome(status=verdict),
        marks=(Mark(id="c", by="judge", verdict=verdict, evidence=evidence, text=evidence),),
    )


@pytest.fixture(scope="module")
def view() -> RunView:
    """A run of 3,000 trials of which nearly all failed."""
    numbers = range(MAKE["cases"])
    plan = Plan(
        trials=tuple(map(planned, numbers)),
        modes=(Mode.PROGRESSIVE,),
        repeats=1,
        whole_skills=(),
        partial_skills=("skills/x",),
    )
    facts = RunFacts(
        expected={},
        plan=plan,
        gate=GateTerms(quality_min=Fraction(4, 5)),
        is_fixture=True,
        estimated_tokens=True,
        critical_cases=frozenset(),
        critical_criteria=frozenset(),
        graded_cases={"skills/x": MAKE["cases"]},
        skill_names={},
        slices={},
    )
    model = {"label": "fixture", "is_fixture": True}
    return RunView(
        facts=facts,
        assessment=assess(facts, map(recorded, numbers), moved=()),
        header={"id": "x", "subject": "loop", "models": {"candidate": model, "judge": model, "independent": False}},
        place=".skillassay/runs/x",
        evidence={},
        occurred_at="2026-11-30T00:00:00Z",
    )


@pytest.mark.parametrize("budget", [SUMMARY_BYTES, 100_000, 8_192, 2_000, 900])
def test_the_budget_holds(view: RunView, budget: int) -> None:
    """In bytes of UTF-8, whatever the cells hold."""
    assert len(render_markdown(view, max_bytes=budget).encode()) <= budget


def test_failures_come_first_and_totals_always(view: RunView) -> None:
    """What was left out is counted, what passed is left out first, and totals and decision stand above."""
    text = render_markdown(view, max_bytes=SUMMARY_BYTES)
    rows = [line for line in text.splitlines() if line.startswith("| case&#45;")]
    assert 100 < len(rows) < MAKE["cases"]
    assert all("| FAIL 0/1 |" in row for row in rows)
    assert f"Left out for size: {MAKE['cases'] - len(rows)} of {MAKE['cases']} trials" in text
    assert f"| progressive | {N_PASSED}/{MAKE['cases']} |" in text
    assert text.startswith("## skillassay: fixture_gate failed\n")
    assert text.index("| FAIL") > text.index("quality&#95;min")


def test_without_a_budget_everything_is_there(view: RunView) -> None:
    """Every trial has a row, failures before the rest."""
    text = render_markdown(view)
    rows = [line for line in text.splitlines() if line.startswith("| case&#45;")]
    assert len(rows) == MAKE["cases"]
    assert all("| PASS 1/1 |" in row for row in rows[-N_PASSED:])
    assert "Left out" not in text
