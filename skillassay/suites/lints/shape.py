"""What a set of cases lacks, skill by skill and case by case. Owns these; how few cases are too few is the gate's.

A *negative control* is a case that shows what the skill must not do: of the part ``negative`` or ``over_refusal``, or
with a behaviour that demands anything but ``assist``. A case whose checks or criteria only forbid something shows half
of it, so that a skill with such ones alone has a note instead of a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from skillassay.findings import Severity, register
from skillassay.suites.controls import CONTROLS
from skillassay.suites.lints.base import FORBIDDING, Doubt, LintedCase, SkillTexts, doubt, quoted

NO_CONTROL = register("suite.no-negative-control", "No case shows what a skill must not do.")
NO_CRITICAL = register("suite.nothing-critical", "No case and no criterion of a skill is critical.")
NO_CASE = register("suite.skill-without-case", "No quality case is about a skill.")
RUBRIC_ONLY = register("suite.rubric-only", "A case has a rubric and no check, so that a judge decides all of it.")
FOR_CODE = register("suite.criterion-for-code", "A criterion asks for what a check could decide.")

_LITERAL = re.compile(r"[\"“”«»„][^\"“”«»„]{3,}[\"“”«»]|`[^`]{2,}`")
_FORMAT = re.compile(r"\b(?:JSON|YAML|XML|CSV)\b")
_COUNT = re.compile(
    r"(?i)\b(?:exactly|at most|at least|exactement|au plus|au moins|genau|höchstens|mindestens|exactamente)\s+\w+\s+"
    r"(?:lines?|words?|characters?|sentences?|items?|lignes?|mots?|phrases?|zeilen?|wörter|líneas?|palabras?)\b"
    r"|\b(?:the number|numeric value|le nombre|die zahl)\b"
)


def case_doubts(linted: LintedCase) -> Iterator[Doubt]:
    """What one case leaves to the judge that code could decide."""
    case = linted.case
    if case.rubric and not case.checks and case.behavior is None:
        hint = "add a check of what is exact in the answer: a figure, a name, a form"
        yield doubt(RUBRIC_ONLY, Severity.NOTE, linted, "a rubric and no check: a judge decides all of it", hint=hint)
    for criterion in case.rubric:
        sign = None if criterion.explains is not None else _sign(criterion.text)
        if sign is not None:
            message = f"{quoted(criterion.text)} names {sign}, which a check could decide"
            hint = "write a check for it, and let the criterion ask for the reason (`explains`)"
            yield doubt(FOR_CODE, Severity.NOTE, linted, message, hint=hint, item=criterion.id)


def _sign(text: str) -> str | None:
    if _LITERAL.search(text):
        return "a literal text"
    if (found := _FORMAT.search(text)) is not None:
        return found[0]
    return "a count" if _COUNT.search(text) else None


def skill_doubts(cases: Sequence[LintedCase], skills: Iterable[SkillTexts]) -> Iterator[Doubt]:
    """What the cases of each skill lack together."""
    by_skill: dict[str, list[LintedCase]] = {}
    for linted in cases:
        by_skill.setdefault(linted.skill_path, []).append(linted)
    for skill in skills:
        own = by_skill.get(skill.path, [])
        if not own:
            message = "no quality case is about this skill: nothing is known of it"
            hint = "write cases for it, or take it out of the contract's `skills`"
            yield _about(NO_CASE, Severity.WARNING, skill, message, hint)
            continue
        if not any(map(_is_control, own)):
            yield _no_control(skill, own)
        if not any(_has_critical(linted) for linted in own):
            message = f"none of its {len(own)} cases is critical, nor one of their criteria"
            hint = "mark what must never go wrong `critical`: the gate then refuses a single failure of it"
            yield _about(NO_CRITICAL, Severity.NOTE, skill, message, hint)


def _no_control(skill: SkillTexts, own: Sequence[LintedCase]) -> Doubt:
    n_half = sum(map(_forbids, own))
    more = f"; {n_half} of them also forbid something" if n_half else ""
    message = f"none of its {len(own)} cases shows what it must not do{more}"
    hint = "add a case of the part negative or over_refusal, or one whose behavior is to refuse, clarify or abstain"
    return _about(NO_CONTROL, Severity.NOTE if n_half else Severity.WARNING, skill, message, hint)


def _is_control(linted: LintedCase) -> bool:
    behavior = linted.case.behavior
    return linted.case.part in CONTROLS or (behavior is not None and behavior.action != "assist")


def _forbids(linted: LintedCase) -> bool:
    case = linted.case
    return any(check["type"] in FORBIDDING for check in case.checks) or any(item.absence for item in case.rubric)


def _has_critical(linted: LintedCase) -> bool:
    return linted.case.critical or any(item.critical for item in linted.case.rubric)


def _about(code: str, severity: Severity, skill: SkillTexts, message: str, hint: str) -> Doubt:
    return Doubt(code=code, severity=severity, path=skill.path, message=message, hint=hint, skill=skill.path)
