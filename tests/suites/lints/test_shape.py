"""What cases and skills lack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skillassay.suites.case import Behavior, Criterion
from skillassay.suites.lints.base import LintedCase, SkillTexts
from skillassay.suites.lints.shape import (
    FOR_CODE,
    NO_CASE,
    NO_CONTROL,
    NO_CRITICAL,
    RUBRIC_ONLY,
    case_doubts,
    skill_doubts,
)
from tests.suites.lints.linting import SKILL, linted, told

CHECK = {"type": "contains", "text": "treasury"}
REFUSE = Behavior(action="refuse", refused=True, required="r", forbidden="f")


def kinds(*cases: LintedCase) -> dict[str, str]:
    """Kind and severity of what the skill of these tests lacks."""
    return {found.code: found.severity.value for found in skill_doubts(cases, [SKILL])}


def test_a_skill_without_a_case_is_a_warning_and_nothing_else() -> None:
    """Of it nothing is known, so that there is nothing more to say."""
    other = SkillTexts(path="skills/other", name="other", body="")
    found = list(skill_doubts([linted(part="negative", critical=True)], [SKILL, other]))
    assert [(one.code, one.severity.value, one.path) for one in found] == [(NO_CASE, "warning", "skills/other")]


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({}, "warning"),
        ({"checks": [CHECK]}, "warning"),
        ({"checks": [{"type": "not_contains", "text": "tomorrow"}]}, "note"),
        ({"behavior": replace(REFUSE, action="assist", refused=False)}, "warning"),
        ({"behavior": REFUSE}, None),
        ({"behavior": replace(REFUSE, action="clarify", refused=False)}, None),
        ({"part": "negative"}, None),
        ({"part": "over_refusal"}, None),
        ({"part": "challenge"}, "warning"),
    ],
)
def test_a_skill_without_a_negative_control(fields: dict[str, Any], severity: str | None) -> None:
    """A control is a case of such a part or with such a behaviour; what merely forbids something is half of one."""
    assert kinds(linted(**fields)).get(NO_CONTROL) == severity


def test_an_absence_is_half_a_control() -> None:
    """A criterion that something does not stand there forbids it."""
    case = linted()
    absent = Criterion(id="r", text="Invents no date.", absence=True)
    assert kinds(replace(case, case=replace(case.case, rubric=(absent,))))[NO_CONTROL] == "note"


def test_nothing_critical_is_a_note() -> None:
    """A critical case or criterion anywhere in the skill's cases is enough."""
    plain, critical = linted("a"), linted("b", critical=True)
    by_criterion = replace(plain, case=replace(plain.case, rubric=(Criterion(id="r", text="t", critical=True),)))
    assert kinds(plain)[NO_CRITICAL] == "note"
    assert NO_CRITICAL not in kinds(plain, critical)
    assert NO_CRITICAL not in kinds(by_criterion)


def test_a_rubric_alone_is_a_note() -> None:
    """A check beside it, or a behaviour that code compares, makes it another case."""
    assert told(case_doubts(linted(rubric=["Names the day."]))) == [(RUBRIC_ONLY, "note", None)]
    assert told(case_doubts(linted(rubric=["Names the day."], checks=[CHECK]))) == []
    assert told(case_doubts(linted(rubric=["Names the day."], behavior=REFUSE))) == []


@pytest.mark.parametrize(
    ("text", "is_for_code"),
    [
        ('The answer contains "to be confirmed".', True),
        ("La réponse porte la mention « à confirmer ».", True),
        ("The answer names `load_skill`.", True),
        ("The answer is valid JSON.", True),
        ("The answer has exactly three lines.", True),
        ("The answer has at most 2 sentences.", True),
        ("La réponse compte au plus cinq lignes.", True),
        ("The answer gives the number of days.", True),
        ("The answer says that the manager decides.", False),
        ("The reason for each figure is right.", False),
        ("It doesn't say what it can't know.", False),
        ("The json file is not mentioned as attached.", False),
    ],
)
def test_a_criterion_that_code_could_decide(text: str, is_for_code: bool) -> None:
    """A quoted text, a format, a count; a reason or an apostrophe is none."""
    found = told(case_doubts(linted(rubric=[text], checks=[CHECK])))
    assert found == ([(FOR_CODE, "note", "r0")] if is_for_code else [])


def test_a_criterion_that_explains_a_check_is_left_alone() -> None:
    """There the check is written already, and the criterion asks for its reason."""
    case = linted(checks=[CHECK])
    criterion = Criterion(id="r", text='It says "treasury".', explains="k0")
    assert list(case_doubts(replace(case, case=replace(case.case, rubric=(criterion,))))) == []
