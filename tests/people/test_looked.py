"""Which cases a line looks at: held against the gate itself, of which every line names what it fails on."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from skillassay.contract.limits import GateTerms, SliceTerms
from skillassay.gate.behavior import behavior_lines
from skillassay.gate.lines import GateLine
from skillassay.gate.slices import failure_corpus_line, slice_quality_line, variance_line
from skillassay.gate.trials import failures_line, quality_line, worst_case_line
from skillassay.people.looked import Asked, CaseKey, limited_in, looked_at
from skillassay.people.waiver import CASE_LINES, Tree, Waiver, over_wide
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import Mark, Observed, Outcome, TrialRecord
from skillassay.scoring.breakdown import About, build_breakdown
from skillassay.scoring.scores import Row
from skillassay.suites.facts import PARTS
from skillassay.suites.traits import Traits


def row(key: CaseKey, skill: str, repeat: int, *, passed: bool) -> Row:
    """A progressive trial of one criterion; one that failed refused, flag and all."""
    verdict = "PASS" if passed else "FAIL"
    planned = PlannedTrial(
        trial_id=f"{key}{repeat}", suite=key[0], case_id=key[1], skill_path=skill, mode=Mode.PROGRESSIVE,
        repeat=repeat, n_criteria=1,
    )  # fmt: skip
    record = TrialRecord(
        trial_id=planned.trial_id,
        suite=key[0],
        case_id=key[1],
        skill_path=skill,
        mode="progressive",
        repeat=repeat,
        n_criteria=1,
        outcome=Outcome(status=verdict),
        marks=(Mark(id="m", by="code", verdict=verdict, evidence=""),),
        observed=Observed(action="refuse", refused=True),
    )
    return Row(planned=planned, record=record)


def all_lines(asked: Asked) -> list[GateLine]:
    """Every line about cases, of a run in which each case passed once and failed once."""
    rows = [row(key, skill, n, passed=n == 1) for key, skill in asked.skills.items() for n in (1, 2)]
    about = About(slices=asked.slices, parts=asked.parts, traits=asked.traits, slice_terms=asked.slice_terms)
    parts = build_breakdown(rows, about, n_repeats=2)
    return [
        quality_line(rows, asked.gate.quality_min),
        *worst_case_line(rows, asked.gate.worst_case_min),
        *failures_line(rows, asked.gate.failures_max),
        *failure_corpus_line(rows, asked.parts, asked.traits),
        *slice_quality_line(parts.slices),
        *variance_line(parts.repeats, parts.slices, asked.gate),
        *behavior_lines(parts, asked.gate),
    ]


Fact = tuple[str, str, str | None, str | None]
"""Skill, part, slice, demanded action."""
LIMITS = st.sampled_from([None, Fraction(0)])
FACTS = st.tuples(
    st.sampled_from(["skills/a", "skills/b"]),
    st.sampled_from(PARTS),
    st.sampled_from([None, "limited", "spread", "free"]),
    st.sampled_from([None, "assist", "clarify", "refuse"]),
)


@given(st.lists(FACTS, max_size=6), LIMITS)
def test_a_line_looks_at_what_it_fails_on_when_all_fail(facts: list[Fact], spread: Fraction | None) -> None:
    """Every case fails in every way that it can (refused, spread, below limits that nothing reaches): then the causes
    that each line names are the cases that it looks at.
    """
    keys = [("s", f"c{n}") for n in range(len(facts))]
    asked = Asked(
        skills={key: one[0] for key, one in zip(keys, facts, strict=True)},
        gate=GateTerms(quality_min=Fraction(2), worst_case_min=Fraction(2), failures_max=0, variance_max=spread),
        parts={key: one[1] for key, one in zip(keys, facts, strict=True)},
        slices={key: one[2] for key, one in zip(keys, facts, strict=True) if one[2] is not None},
        traits={
            key: Traits(oracle_type="code", action=one[3], refused=one[3] == "refuse")
            for key, one in zip(keys, facts, strict=True)
        },
        slice_terms={
            "limited": SliceTerms(quality_min=Fraction(1)),
            "spread": SliceTerms(variance_max=Fraction(0)),
            "free": SliceTerms(),
        },
    )
    failed: dict[tuple[str, str], set[str]] = {}
    for line in all_lines(asked):
        for cause in line.causes:
            if line.name in CASE_LINES:
                failed.setdefault((line.name, cause.skill_path), set()).add(cause.case or "")
    assert looked_at(asked) == failed


def test_a_limit_of_a_slice_is_waived_with_all_of_its_cases() -> None:
    """Another slice that has a limit too is no alibi; one case less leaves an exception."""
    terms = {name: SliceTerms(quality_min=Fraction(1)) for name in ("refunds", "plain")}
    keys = {("q", "a"): "refunds", ("q", "b"): "refunds", ("q", "c"): "plain"}
    asked = Asked(skills=dict.fromkeys(keys, "s"), gate=GateTerms(), slices=keys, slice_terms=terms)
    tree = Tree(skills={"s": "d"}, cases={}, looked=looked_at(asked), limited=limited_in(asked))
    day = date(2027, 1, 1)
    waiver = Waiver(
        id="w",
        reason="r",
        approver="Bo Lind",
        approved_on=day,
        expires_on=day,
        line="slice_quality",
        skill="s",
        skill_digest="d",
        cases={"q/a": "x", "q/b": "x"},
        digest="e",
    )
    assert over_wide([waiver], tree) == {("slice_quality", "s")}
    assert over_wide([replace(waiver, cases={"q/a": "x"})], tree) == frozenset()
