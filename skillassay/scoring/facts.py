"""What a run was about: its plan and rules, fixed before its first trial.

Owns the facts that a header keeps, so that a stored run can be scored, gated and reported again without the project it
came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.contract import GateTerms, SliceTerms
from skillassay.contract.limits import gate_from_json, gate_to_json, slices_from_json, slices_to_json
from skillassay.contract.terms import NONE_KNOWN
from skillassay.errors import StoreError
from skillassay.holdout.sealed import HoldoutAsked, HoldoutUse, LeftOut
from skillassay.runs.plan import Mode, Plan, PlannedTrial
from skillassay.scoring.breakdown import About
from skillassay.suites.expectation import Expectation
from skillassay.suites.terms import SuiteTerms, all_terms_json, terms_from_json
from skillassay.suites.traits import Traits, traits_from_json, traits_to_json

CaseKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Plan and rules of a run, fixed before its first trial. ``parts`` has each case's part of the dataset, ``traits``
    what else of it a gate must know, and ``slice_terms`` what the contract says of slices. ``unstated`` is what it does
    not say and must, ``leakage`` what it says of that: a header keeps both in the groups of its contract. ``holdout``
    is the one that the run planned, ``holdout_asked`` how much it planned of the one that the contract names.
    ``own_model`` is the agent that answered with a model of its own, which nobody here knows. ``n_references`` are to
    be shown to a live judge, whose skills' ``rubrics`` are known by their digests."""

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
    parts: Mapping[CaseKey, str] = field(default_factory=dict)
    traits: Mapping[CaseKey, Traits] = field(default_factory=dict)
    slice_terms: Mapping[str, SliceTerms] = field(default_factory=dict)
    unstated: tuple[str, ...] = ()
    holdout: HoldoutUse | None = None
    holdout_asked: HoldoutAsked | None = None
    leakage: str = NONE_KNOWN
    own_model: str | None = None
    n_references: int = 0
    suite_terms: Mapping[str, SuiteTerms] = field(default_factory=dict)
    rubrics: Mapping[str, str] = field(default_factory=dict)

    @property
    def hidden(self) -> str | None:
        """The suite of which no text may be seen."""
        return None if self.holdout is None else self.holdout.suite

    @property
    def about(self) -> About:
        """What is known of the cases."""
        return About(slices=self.slices, parts=self.parts, traits=self.traits, slice_terms=self.slice_terms)


def facts_to_json(facts: RunFacts) -> dict[str, Json]:
    """The facts as a header keeps them."""
    return {
        "modes": [mode.value for mode in facts.plan.modes],
        "repeats": facts.plan.repeats,
        "whole_skills": list(facts.plan.whole_skills),
        "partial_skills": list(facts.plan.partial_skills),
        "trials": [asdict(trial) for trial in facts.plan.trials],
        "gate": gate_to_json(facts.gate),
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
        "parts": [[*key, name] for key, name in sorted(facts.parts.items())],
        "traits": traits_to_json(facts.traits),
        "slice_terms": slices_to_json(facts.slice_terms),
        "holdout": None if facts.holdout is None else asdict(facts.holdout),
        "holdout_asked": None if facts.holdout_asked is None else asdict(facts.holdout_asked),
        **({} if facts.own_model is None else {"own_model": facts.own_model}),
        **({"references": facts.n_references} if facts.n_references else {}),
        **({"rubrics": dict(facts.rubrics)} if facts.rubrics else {}),
        **all_terms_json(facts.suite_terms.items()),
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
        return RunFacts(
            plan=plan,
            gate=gate_from_json(value["gate"]),
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
            # Not in headers from before there were parts.
            parts={(suite, case): name for suite, case, name in value.get("parts", ())},
            traits=traits_from_json(value.get("traits", ())),
            slice_terms=slices_from_json(value.get("slice_terms", {})),
            holdout=_use(value.get("holdout")),
            holdout_asked=_asked(value.get("holdout_asked")),
            own_model=value.get("own_model"),
            n_references=value.get("references", 0),
            rubrics=value.get("rubrics", {}),
            suite_terms=terms_from_json(value.get("suites", {})),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the run's header lacks a fact: {error}", hint="it was damaged; run again") from error


def _use(value: dict[str, Any] | None) -> HoldoutUse | None:
    return None if value is None else HoldoutUse(**{**value, "doubts": tuple(value["doubts"])})


def _asked(value: dict[str, Any] | None) -> HoldoutAsked | None:
    return None if value is None else HoldoutAsked(**{**value, "why": LeftOut(value["why"])})


def _names(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
