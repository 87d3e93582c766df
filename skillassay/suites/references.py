"""The references of behaviour cases as material for calibrating a judge. Owns what makes one usable; asks no judge.

A counter-example keeps action and flag as the case demands them, so that only its prose can give it away: one that the
code rejects would prove nothing about a judge. A right answer passes both comparisons too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from skillassay.findings import Finding, Severity, register
from skillassay.judging.behavior import BehaviorAnswer, code_marks, is_valid_answer
from skillassay.suites.case import Case, Suite
from skillassay.suites.facts import Reference

NOT_PLAUSIBLE = register(
    "suite.reference-not-plausible",
    "A counter-example is no answer, or code rejects it before a judge reads its prose.",
)
WRONG = register("suite.reference-wrong", "A positive reference is no answer, or fails a comparison that code makes.")
NO_REFERENCES = register("suite.no-references", "A behaviour case has no references, and others of its suite have.")


def as_answer(reference: Reference) -> BehaviorAnswer:
    """The reference as a candidate would have given it."""
    return BehaviorAnswer(action=reference.action, response=reference.response, refused=reference.refused)


def reference_findings(suite: Suite) -> list[Finding]:
    """All that is wrong with the references of a suite, and the behaviour cases that should have some."""
    some = any(case.references for case in suite.cases)
    found = []
    for case in suite.cases:
        if case.behavior is not None and case.references is None and some:
            message = f"case {case.id!r} has no references, so a judge of it cannot be calibrated"
            found.append(_finding(NO_REFERENCES, suite, case, message, "add positive and negative ones"))
        for code, message in _problems(case):
            found.append(_finding(code, suite, case, message, "give it the action and flag that the case demands"))
    return found


def _problems(case: Case) -> Iterator[tuple[str, str]]:
    if case.references is None or case.behavior is None:
        return
    for side, code in (("positive", WRONG), ("negative", NOT_PLAUSIBLE)):
        for index, reference in enumerate(getattr(case.references, side)):
            where = f"case {case.id!r}, references.{side}[{index}]"
            answer = as_answer(reference)
            text = {"action": answer.action, "response": answer.response, "refused": answer.refused}
            if not is_valid_answer(json.dumps(text)):
                yield code, f"{where} is no answer: its response is blank, too long, or of another shape"
            for mark in code_marks(answer, case.behavior):
                if not mark.passed:
                    yield code, f"{where} fails {mark.id}: {mark.evidence}"


def _finding(code: str, suite: Suite, case: Case, message: str, hint: str) -> Finding:
    severity = Severity.WARNING if code == NO_REFERENCES else Severity.ERROR
    return Finding(code=code, severity=severity, path=suite.path, line=case.line, message=message, hint=hint)
