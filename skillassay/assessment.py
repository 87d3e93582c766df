"""What a run was about, and its assessment from records. Owns the facts that a header keeps so that a stored run can be
scored, gated and reported again without the project it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from skillassay.canonical import Json
from skillassay.contract import GateTerms
from skillassay.errors import StoreError
from skillassay.expectation import Expectation
from skillassay.gate import Decision, GateInput, decide
from skillassay.plan import Mode, Plan, PlannedTrial
from skillassay.record import TrialRecord, content_digest
from skillassay.scoring import Scores, score_run

CaseKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Plan and rules of a run, fixed before its first trial."""

    plan: Plan
    gate: GateTerms
    is_fixture: bool
    estimated_tokens: bool
    critical_cases: frozenset[CaseKey]
    critical_criteria: frozenset[CaseKey]
    graded_cases: Mapping[str, int]
    slices: Mapping[CaseKey, str]
    expected: Mapping[CaseKey, Expectation]
    skill_names: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Scores and decision of a run, with the digest of the records' content."""

    scores: Scores
    decision: Decision
    content_digest: str
    interrupted: bool
    moved: tuple[str, ...]


def assess(
    facts: RunFacts, records: Iterable[TrialRecord], *, moved: tuple[str, ...], interrupted: bool = False
) -> Assessment:
    """Score and gate a run from its records. Pure: the same records give the same assessment."""
    records = tuple(records)
    scores = score_run(facts.plan, records, slices=facts.slices)
    given = GateInput(
        plan=facts.plan,
        terms=facts.gate,
        is_fixture=facts.is_fixture,
        critical_cases=facts.critical_cases,
        critical_criteria=facts.critical_criteria,
        graded_cases=facts.graded_cases,
        moved_skills=moved,
        skill_names=facts.skill_names,
    )
    return Assessment(
        scores=scores,
        decision=decide(scores, given),
        content_digest=content_digest(records),
        interrupted=interrupted,
        moved=moved,
    )


def facts_to_json(facts: RunFacts) -> dict[str, Json]:
    """The facts as a header keeps them."""
    gate = facts.gate
    return {
        "modes": [mode.value for mode in facts.plan.modes],
        "repeats": facts.plan.repeats,
        "whole_skills": list(facts.plan.whole_skills),
        "partial_skills": list(facts.plan.partial_skills),
        "trials": [asdict(trial) for trial in facts.plan.trials],
        "gate": {**asdict(gate), "quality_min": str(gate.quality_min)},
        "is_fixture": facts.is_fixture,
        "estimated_tokens": facts.estimated_tokens,
        "critical_cases": sorted(list(key) for key in facts.critical_cases),
        "critical_criteria": sorted(list(key) for key in facts.critical_criteria),
        "graded_cases": dict(facts.graded_cases),
        "expected": [
            {"case": list(key), "skills": item.skills, "scripts": item.scripts}
            for key, item in sorted(facts.expected.items())
        ],
        "skill_names": dict(facts.skill_names),
        "slices": [[*key, name] for key, name in sorted(facts.slices.items())],
    }


def facts_from_json(value: Mapping[str, Any]) -> RunFacts:
    """The facts of a stored run. Raises :class:`StoreError` when a field is missing."""
    try:
        plan = Plan(
            trials=tuple(PlannedTrial(**{**trial, "mode": Mode(trial["mode"])}) for trial in value["trials"]),
            modes=tuple(Mode(mode) for mode in value["modes"]),
            repeats=value["repeats"],
            whole_skills=tuple(value["whole_skills"]),
            partial_skills=tuple(value["partial_skills"]),
        )
        gate = {**value["gate"], "quality_min": Fraction(value["gate"]["quality_min"])}
        return RunFacts(
            plan=plan,
            gate=GateTerms(**gate),
            is_fixture=value["is_fixture"],
            estimated_tokens=value["estimated_tokens"],
            critical_cases=frozenset((suite, case) for suite, case in value["critical_cases"]),
            critical_criteria=frozenset((suite, case) for suite, case in value["critical_criteria"]),
            graded_cases=value["graded_cases"],
            expected={
                (item["case"][0], item["case"][1]): Expectation(
                    skills=_names(item["skills"]), scripts=_names(item["scripts"])
                )
                for item in value["expected"]
            },
            skill_names=value["skill_names"],
            slices={(suite, case): name for suite, case, name in value["slices"]},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the run's header lacks a fact: {error}", hint="it was damaged; run again") from error


def _names(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
