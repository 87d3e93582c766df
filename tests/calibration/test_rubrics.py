"""The digest of a skill's rubric: to the byte, and what changes it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from skillassay.calibration.rubrics import rubric_digest, skill_rubrics
from skillassay.suites.case import Behavior, Case, Criterion

HELLO = Criterion(id="says-hello", text="The answer says hello.")
CASE = Case(id="one", skill="s", query="q", suite="quality", rubric=(HELLO, Criterion(id="short", text="It is short.")))
BEHAVED = Case(
    id="b",
    skill="s",
    query="q",
    suite="quality",
    behavior=Behavior(action="refuse", refused=True, required="Says no.", forbidden="Says yes."),
)


def criterion(name: str, text: str, **fields: Any) -> dict[str, Any]:
    """A criterion as the definition writes it, every field out."""
    plain = {"critical": False, "explains": None, "may_abstain": False, "absence": False}
    return {"id": name, "text": text} | plain | fields


def defined(*cases: dict[str, Any]) -> str:
    """The digest by its definition: SHA-256 of JSON with sorted keys and no spaces."""
    text = json.dumps({"rubric": 1, "cases": cases}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def test_it_is_what_its_definition_says() -> None:
    """Sorted by case, criteria as they are shown, a behaviour as the two statements that people see."""
    first = {
        "suite": "quality",
        "case": "b",
        "criteria": [
            criterion("behavior.required_met", "The response does what is required: Says no."),
            criterion(
                "behavior.forbidden_absent", "The response does nothing that is forbidden: Says yes.", absence=True
            ),
        ],
    }
    second = {
        "suite": "quality",
        "case": "one",
        "criteria": [criterion("says-hello", "The answer says hello."), criterion("short", "It is short.")],
    }
    assert rubric_digest([CASE, BEHAVED]) == rubric_digest([BEHAVED, CASE]) == defined(first, second)


@pytest.mark.parametrize(
    "changed",
    [
        replace(CASE, rubric=(replace(HELLO, text="It says hello."), CASE.rubric[1])),
        replace(CASE, rubric=(replace(HELLO, critical=True), CASE.rubric[1])),
        replace(CASE, rubric=(replace(HELLO, explains="c"), CASE.rubric[1])),
        replace(CASE, rubric=(replace(HELLO, may_abstain=True), CASE.rubric[1])),
        replace(CASE, rubric=(replace(HELLO, absence=True), CASE.rubric[1])),
        replace(CASE, rubric=(HELLO,)),
        replace(CASE, rubric=CASE.rubric[::-1]),
        replace(CASE, id="two"),
        replace(CASE, behavior=BEHAVED.behavior),
    ],
    ids=["text", "critical", "explains", "may_abstain", "absence", "fewer", "order", "case", "behavior"],
)
def test_whatever_the_judge_is_asked_changes_it(changed: Case) -> None:
    """Each by itself."""
    assert rubric_digest([changed]) != rubric_digest([CASE])


def test_what_it_is_not_asked_does_not() -> None:
    """Query and checks are nobody's verdict."""
    assert rubric_digest([replace(CASE, query="other", checks=({"id": "c"},))]) == rubric_digest([CASE])


def test_each_skill_has_its_own_and_hidden_cases_none() -> None:
    """A skill without anything judged has no rubric to read."""
    cases = [CASE, replace(CASE, id="two"), replace(CASE, id="h", suite="hidden"), Case(id="n", skill="u", query="q")]
    skills = {("quality", "one"): "s", ("quality", "two"): "t", ("hidden", "h"): "s", ("", "n"): "u"}
    found = skill_rubrics(cases, skills, hidden="hidden")
    assert found == {"s": rubric_digest([CASE]), "t": rubric_digest([replace(CASE, id="two")])}
