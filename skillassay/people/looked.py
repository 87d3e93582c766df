"""Which cases each line of the gate that may be waived looks at. Pure; owns the answer, and what it takes to give it.

A waiver is an exception among what a line looks at. Where waivers name all of that for a skill there is no rule left of
which they would be an exception, and the line itself is waived: also where it looks at one case only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillassay.contract.limits import GateTerms, SliceTerms, gate_from_json, slices_from_json
from skillassay.people.waiver import CASE_LINES, Limited, Looked
from skillassay.runs.plan import Mode
from skillassay.scoring.matrices import must_be_served
from skillassay.suites.facts import FAILURE_CORPUS
from skillassay.suites.traits import Traits, traits_from_json

CaseKey = tuple[str, str]

_CHOOSY = frozenset(("failure_corpus", "over_refusal", "slice_quality", "variance"))
"""Lines that look at some cases only; the others look at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The cases that are asked in progressive, with the path of their skill, and what lines go by: facts of the cases
    and limits. A case without a part is of none."""

    skills: Mapping[CaseKey, str]
    gate: GateTerms
    parts: Mapping[CaseKey, str] = field(default_factory=dict)
    slices: Mapping[CaseKey, str] = field(default_factory=dict)
    traits: Mapping[CaseKey, Traits] = field(default_factory=dict)
    slice_terms: Mapping[str, SliceTerms] = field(default_factory=dict)


def looked_at(asked: Asked) -> Looked:
    """The cases as ``suite/id`` that each line looks at, by line and skill. A line that looks at none is not there."""
    found: dict[tuple[str, str], set[str]] = {}
    for key, skill in asked.skills.items():
        for line in _lines(key, asked):
            found.setdefault((line, skill), set()).add("/".join(key))
    return {place: frozenset(cases) for place, cases in found.items()}


def limited_in(asked: Asked) -> Limited:
    """The cases under each limit of a slice, by line and skill: without these that limit is gone."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for key, skill in asked.skills.items():
        name = asked.slices.get(key, "")
        terms = asked.slice_terms.get(name)
        limits = {} if terms is None else {"slice_quality": terms.quality_min, "variance": terms.variance_max}
        for line in (line for line, limit in limits.items() if limit is not None):
            found.setdefault((line, skill), {}).setdefault(name, set()).add("/".join(key))
    return {place: tuple(map(frozenset, slices.values())) for place, slices in found.items()}


def asked_in(facts: Mapping[str, Any]) -> Asked:
    """What a stored run asked, from the facts in its header."""
    trials = (trial for trial in facts["trials"] if trial["mode"] == Mode.PROGRESSIVE.value)
    return Asked(
        skills={(trial["suite"], trial["case_id"]): trial["skill_path"] for trial in trials},
        gate=gate_from_json(facts["gate"]),
        parts={(suite, case): name for suite, case, name in facts.get("parts", ())},
        slices={(suite, case): name for suite, case, name in facts["slices"]},
        traits=traits_from_json(facts.get("traits", ())),
        slice_terms=slices_from_json(facts.get("slice_terms", {})),
    )


def _lines(key: CaseKey, asked: Asked) -> Iterator[str]:
    yield from CASE_LINES - _CHOOSY
    terms, traits = asked.slice_terms.get(asked.slices.get(key, "")), asked.traits.get(key)
    if asked.parts.get(key) == FAILURE_CORPUS:
        yield "failure_corpus"
    if traits is not None and must_be_served(traits, asked.parts.get(key)):
        yield "over_refusal"
    if terms is not None and terms.quality_min is not None:
        yield "slice_quality"
    if asked.gate.variance_max is not None or (terms is not None and terms.variance_max is not None):
        yield "variance"
