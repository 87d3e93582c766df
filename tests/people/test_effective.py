"""The effective decision: which lines count as waived, and what then stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillassay.gate.lines import Cause, Decision, GateLine, Status
from skillassay.people.effective import Effective, build_effective
from skillassay.people.waiver import Tree, Waiver
from tests.people.waivers import APPROVED, DAY, LAST

SKILL = "skills/greeter"
ONE, TWO = (Cause(skill_path=SKILL, case=f"quality/{name}") for name in ("one", "two"))
TREE = Tree(
    skills={SKILL: "a" * 64, "skills/other": "c" * 64},
    cases={SKILL: {"quality/one": "b" * 64, "quality/two": "b" * 64}},
    looked={("quality_min", SKILL): frozenset(f"quality/{name}" for name in ("one", "two", "three"))},
)
WAIVER = Waiver(
    id="W-1",
    reason="r",
    approver="Mika Sato",
    approved_on=APPROVED,
    expires_on=LAST,
    line="quality_min",
    skill=SKILL,
    skill_digest="a" * 64,
    cases={"quality/one": "b" * 64},
    digest="d" * 64,
)
FAILED = GateLine(name="quality_min", status=Status.FAILED, number="0/1", limit="1", causes=(ONE,))
OTHER = GateLine(name="complete", status=Status.PASSED, number="1", limit="1")


def effective(*lines: GateLine, waivers: tuple[Waiver, ...] = (WAIVER,)) -> Effective:
    """The effective decision of these lines and one that passed."""
    return build_effective(Decision(gate="fixture_gate", lines=(*lines, OTHER)), waivers, TREE, DAY)


def test_a_covered_failure_counts_as_waived() -> None:
    """The effective decision passes; the recorded one is the same object as before."""
    recorded = Decision(gate="fixture_gate", lines=(FAILED, OTHER))
    made = build_effective(recorded, (WAIVER,), TREE, DAY)
    assert (made.decision.status, made.waived) == (Status.PASSED, ("quality_min",))
    assert made.recorded is recorded
    assert recorded.status is Status.FAILED


def test_what_the_line_would_say_otherwise_stands() -> None:
    """Behind the failure the line is open: waived, the decision is undecided, not passed."""
    assert effective(replace(FAILED, otherwise=Status.UNDECIDED)).decision.status is Status.UNDECIDED


@pytest.mark.parametrize(
    "line",
    [
        replace(FAILED, status=Status.UNDECIDED),
        replace(FAILED, causes=()),
        replace(FAILED, causes=(ONE, TWO)),
        replace(FAILED, causes=(replace(ONE, skill_path="skills/other"),)),
        replace(FAILED, causes=(replace(ONE, case=None),)),
        replace(FAILED, name="worst_case"),
        replace(FAILED, live_only=True),
    ],
    ids=["open", "no cause", "another case", "another skill", "a skill", "another line", "certification"],
)
def test_whatever_is_not_covered_stays(line: GateLine) -> None:
    """No use, the same status as recorded, and the waiver says why it does not count."""
    made = effective(line)
    assert made.uses == ()
    assert made.decision == made.recorded
    assert [waiver.id for waiver, _ in made.unused] == ["W-1"]


@pytest.mark.parametrize("name", ["complete", "critical_failures", "no_leakage", "nothing_held", "a_later_line"])
def test_a_line_that_nobody_may_waive_stays_whatever_a_waiver_says(name: str) -> None:
    """Even a waiver that got past every check of the file has no effect on it."""
    for cause, cases in ((ONE, WAIVER.cases), (replace(ONE, case=None), {})):
        waiver = replace(WAIVER, line=name, cases=cases)
        made = effective(replace(FAILED, name=name, causes=(cause,)), waivers=(waiver,))
        assert (made.uses, made.decision.status) == ((), Status.FAILED)


@pytest.mark.parametrize(
    "waiver",
    [
        replace(WAIVER, expires_on=APPROVED),
        replace(WAIVER, approved_on=LAST),
        replace(WAIVER, skill_digest="e" * 64),
        replace(WAIVER, cases={"quality/one": "e" * 64}),
        replace(WAIVER, cases={**WAIVER.cases, "quality/gone": "b" * 64}),
        replace(WAIVER, skill="skills/gone"),
    ],
    ids=["over", "ahead", "other bytes", "other case", "one case gone", "no skill"],
)
def test_a_waiver_that_does_not_hold_covers_nothing(waiver: Waiver) -> None:
    """Its day, its bytes, every one of its cases must be those of the run."""
    assert effective(FAILED, waivers=(waiver,)).decision.status is Status.FAILED


def test_several_waivers_cover_one_line_together() -> None:
    """Each use names the causes that it covered."""
    second = replace(WAIVER, id="W-2", cases={"quality/two": "b" * 64})
    made = effective(replace(FAILED, causes=(ONE, TWO)), waivers=(WAIVER, second))
    assert [(use.waiver.id, use.causes) for use in made.uses] == [("W-1", (ONE,)), ("W-2", (TWO,))]
    assert made.unused == ()


def test_waivers_that_name_all_cases_of_a_skill_cover_none() -> None:
    """Two cases, two waivers: together they waive the line itself, and the words say so."""
    tree = replace(TREE, looked={("quality_min", SKILL): frozenset(f"quality/{name}" for name in ("one", "two"))})
    second = replace(WAIVER, id="W-2", cases={"quality/two": "b" * 64})
    decision = Decision(gate="fixture_gate", lines=(FAILED,))
    refused = build_effective(decision, (WAIVER, second), tree, DAY)
    assert refused.uses == ()
    why = f"all 2 cases of {SKILL} that quality_min looks at are waived"
    assert [words for _, words in refused.unused] == [why, why]
    assert len(build_effective(decision, (WAIVER, second), TREE, DAY).uses) == 1
