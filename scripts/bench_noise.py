"""How often the gate sees a difference where there is none: whole decisions on simulated runs of identical arms.

    python scripts/bench_noise.py [--suites N] [--json FILE]

Of each simulated suite `progressive`, `none` and the baseline are drawn from the same chances, case by case; the run is
scored, and the whole gate decides. Counted is how often `beats_none` passes, under the rules `bound` and `point`, how
often `no_regression` fails, and how often one or both of the first and the last do. Seeded. Exit 1 where `bound` or
`no_regression` exceeds 5 % by more than two Monte-Carlo errors. `point` promises nothing: what it does is shown.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skillassay.contract.contract import GateTerms
from skillassay.gate.decide import Decision, GateInput, Status, decide
from skillassay.runs.plan import Mode, Plan, PlannedCase, PlannedTrial, build_plan
from skillassay.runs.record import Arm, Mark, Outcome, TrialRecord
from skillassay.scoring.breakdown import About, build_breakdown
from skillassay.scoring.regression import Baseline, Regression, build_regression, case_states
from skillassay.scoring.scores import Scores, missing_record, score_run
from skillassay.suites.case import Case, Criterion

LEVEL = 0.05
CRITERIA = 5
SKILL = "skills/s"
KINDS: dict[str, Callable[[random.Random], float]] = {
    "even": lambda draw: draw.random(),
    "skewed": lambda draw: 0.97,  # noqa: ARG005 - one of several
}
"""The chance that a criterion of a case passes, in every arm: cases of all difficulties, or nearly all passes."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Of so many suites of a kind, how many raised which false alarm."""

    kind: str
    cases: int
    repeats: int
    suites: int = 0
    bound: int = 0
    point: int = 0
    regression: int = 0
    either: int = 0
    both: int = 0


def plan_of(cases: int, repeats: int) -> Plan:
    """One skill, its cases, and the two arms that are compared."""
    rubric = tuple(Criterion(id=f"r{n}", text=f"says {n}") for n in range(CRITERIA))
    planned = [
        PlannedCase(
            case=Case(id=f"c{n}", skill="s", query="q", rubric=rubric, suite="q", digest=f"{n}"),
            skill_path=SKILL,
            skill_digest="bytes",
        )
        for n in range(cases)
    ]
    chosen = frozenset((item.case.suite, item.case.id) for item in planned)
    return build_plan(planned, chosen=chosen, modes=(Mode.PROGRESSIVE, Mode.NONE), repeats=repeats)


def decide_on(plan: Plan, scores: Scores, rule: str, regression: Regression) -> Decision:
    """What the gate says of a run under one rule."""
    given = GateInput(
        plan=plan,
        terms=replace(GateTerms(), lift_rule=rule),
        is_fixture=True,
        critical_cases=frozenset(),
        critical_criteria=frozenset(),
        graded_cases={SKILL: len({trial.case_id for trial in plan.trials})},
        moved_skills=(),
        skill_names={SKILL: "s"},
        about=About(),
        breakdown=build_breakdown(scores.rows, About(), n_repeats=plan.repeats),
        regression=regression,
    )
    return decide(scores, given)


def drawn(plan: Plan, chances: dict[str, float], draw: random.Random) -> Iterator[TrialRecord]:
    """A record of every trial: each criterion passes with the chance of its case, whatever the arm."""
    for trial in plan.trials:
        marks = tuple(
            Mark(
                id=f"r{n}", by="code", verdict="PASS" if draw.random() < chances[trial.case_id] else "FAIL", evidence=""
            )
            for n in range(trial.n_criteria)
        )
        status = "PASS" if all(mark.passed for mark in marks) else "FAIL"
        yield replace(missing_record(trial), outcome=Outcome(status=status), marks=marks, arm=_arm(trial))


def _arm(trial: PlannedTrial) -> Arm:
    names = () if trial.mode is Mode.NONE else ("s",)
    return Arm(skills=names, files=(), tools=names, skill_tools=names, prompt="p")


def simulate(kind: str, *, cases: int, repeats: int, suites: int) -> Tally:
    """Many suites of one kind; seeded by what they are."""
    draw, tally = random.Random(f"{kind}/{cases}/{repeats}"), Tally(kind=kind, cases=cases, repeats=repeats)
    plan = plan_of(cases, repeats)
    names = sorted({trial.case_id for trial in plan.trials})
    digests = {f"q/{name}": "same" for name in names}
    for _ in range(suites):
        chances = {name: KINDS[kind](draw) for name in names}
        before, now = (score_run(plan, drawn(plan, chances, draw), slices={}) for _ in range(2))
        regression = build_regression(
            Baseline(run="before", pinned=False, cases=case_states(before.rows, digests)),
            case_states(now.rows, digests),
            planned=digests,
            existing=digests,
            critical=frozenset(),
            threshold=GateTerms().regression_max,
        )
        decisions = {rule: decide_on(plan, now, rule, regression) for rule in ("bound", "point")}
        helps = _status(decisions["bound"], "beats_none") is Status.PASSED
        fell = _status(decisions["bound"], "no_regression") is Status.FAILED
        tally.suites += 1
        tally.bound += helps
        tally.regression += fell
        tally.either += helps or fell
        tally.both += helps and fell
        tally.point += _status(decisions["point"], "beats_none") is Status.PASSED
    return tally


def _status(decision: Decision, name: str) -> Status:
    return next(line.status for line in decision.lines if line.name == name)


def main() -> int:
    """Simulate, print, and say whether both lines keep their level."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--suites", type=int, default=2_000, help="simulated suites of each kind (default 2000)")
    parser.add_argument("--json", type=Path, help="also write the counts there")
    options = parser.parse_args()
    found = [
        simulate(kind, cases=cases, repeats=repeats, suites=options.suites)
        for kind in KINDS
        for cases in (6, 12, 24)
        for repeats in (1, 3)
    ]
    slack = 2 * (LEVEL * (1 - LEVEL) / options.suites) ** 0.5
    broken = [one for one in found if max(one.bound, one.regression) / one.suites > LEVEL + slack]
    if options.json is not None:
        value = {"criteria": CRITERIA, "nominal": LEVEL, "lines": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    counted = ("bound", "regression", "either", "both", "point")
    rows = [
        (
            one.kind,
            one.cases,
            one.repeats,
            *(f"{float(Fraction(getattr(one, name), one.suites)):.4f}" for name in counted),
        )
        for one in found
    ]
    heads = ("beats none (bound)", "regression", "either", "both", "beats none (point)")
    print(tabulate(rows, headers=("suites", "cases", "repeats", *heads), disable_numparse=True))
    print(f"{options.suites} suites a line, {CRITERIA} criteria a case; Monte-Carlo error near 5 %: {slack / 2:.4f}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
