"""Plans and records for tests of scoring and gate: cases in three modes, with the outcomes that a test asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skillassay.errors import Reason, Stage
from skillassay.runs.plan import ALL_MODES, Mode, Plan, PlannedCase, PlannedTrial, build_plan
from skillassay.runs.record import Arm, Mark, Outcome, Spent, TrialRecord
from skillassay.scoring.scores import missing_record
from skillassay.suites.case import Case, Criterion
from skillassay.transcript import Usage


def planned_case(case_id: str, *, n: int = 5, skill: str = "skills/s", suite: str = "q") -> PlannedCase:
    """A case of ``n`` criteria."""
    rubric = tuple(Criterion(id=f"r{index}", text=f"says {index}") for index in range(n))
    case = Case(id=case_id, skill=skill, query="q", rubric=rubric, suite=suite, digest=f"digest-{case_id}")
    return PlannedCase(case=case, skill_path=skill, skill_digest="bytes")


def plan_of(
    *cases: PlannedCase, modes: Sequence[Mode] = ALL_MODES, repeats: int = 1, chosen: Sequence[str] | None = None
) -> Plan:
    """The plan of these cases (of the ``chosen`` ids among them)."""
    keys = [(c.case.suite, c.case.id) for c in cases if chosen is None or c.case.id in chosen]
    return build_plan(cases, chosen=frozenset(keys), modes=modes, repeats=repeats)


def arm_of(trial: PlannedTrial, **seen: Any) -> Arm:
    """What a clean arm of this mode sees: the skill ``s`` and its tool, or none of it; ``seen`` says otherwise."""
    skill = () if trial.mode is Mode.NONE else ("s",)
    tools = ("load_skill",) if skill else ()
    clean: dict[str, Any] = {"skills": skill, "files": (), "tools": tools, "skill_tools": tools, "prompt": "p"}
    return Arm(**(clean | seen))


def scored(trial: PlannedTrial, k: int, *, critical: bool = False, attempt: int = 1) -> TrialRecord:
    """A record with ``k`` passed marks of all that the trial counts; the failed ones are the last."""
    marks = tuple(
        Mark(id=f"r{i}", by="judge", verdict="PASS" if i < k else "FAIL", evidence="e", critical=critical)
        for i in range(trial.n_criteria)
    )
    return _record(trial, Outcome(status="PASS" if k == trial.n_criteria else "FAIL"), marks, attempt)


def turn_limit(trial: PlannedTrial) -> TrialRecord:
    """A record of a candidate that gave no answer within its turns."""
    return _record(trial, Outcome(status="FAIL", kind="turn_limit", detail="turn_limit: no answer"), (), 1)


def unscored(
    trial: PlannedTrial,
    reason: Reason = Reason.PROVIDER_ERROR,
    stage: Stage = Stage.CANDIDATE,
    *,
    k: int = 0,
    attempt: int = 1,
) -> TrialRecord:
    """A record without a score; ``k`` marks had passed before the error."""
    marks = tuple(Mark(id=f"r{i}", by="code", verdict="PASS", evidence="e") for i in range(k))
    return _record(trial, Outcome(status="UNSCORED", reason=reason, stage=stage, detail="d"), marks, attempt)


def _record(trial: PlannedTrial, outcome: Outcome, marks: tuple[Mark, ...], attempt: int) -> TrialRecord:
    return replace(
        missing_record(trial),
        outcome=outcome,
        marks=marks,
        arm=arm_of(trial),
        attempt=attempt,
        candidate=Spent(n_calls=2, n_attempts=3, usage=Usage(input_tokens=100, output_tokens=10)),
    )
