"""The port of a check: a pure function of one text, decided by code. Owns specification, result and registry.

The text is the answer, or a file that the trial left in its workspace.
A check never sees a mode, a model or a case. It answers PASS or FAIL with the span that decided, or raises
:class:`CheckFault` when it could not decide (a pattern that ran out of time): that is an error, never a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What a check or a judge says of one criterion."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"


class SpecProblem(ValueError):
    """A check's specification cannot be used. Raised when the check is built, before any model call."""


class CheckFault(Exception):
    """The check could not decide on this answer (time limit, size limit)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found. ``evidence`` is the deciding span with context, or what is missing; one line, for people."""

    check_id: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a case, ready to run. ``run`` maps the answer to (passed, evidence)."""

    check_id: str
    type: str
    spec: Mapping[str, Any]
    run: Callable[[str], tuple[bool, str]]

    @property
    def file(self) -> str | None:
        """The file of the trial's workspace that it reads; None for a check of the answer."""
        return self.spec.get("file")

    def score(self, answer: str) -> CheckResult:
        """Decide on one answer. Raises :class:`CheckFault`."""
        passed, evidence = self.run(answer)
        return CheckResult(check_id=self.check_id, verdict=Verdict.PASS if passed else Verdict.FAIL, evidence=evidence)


Builder = Callable[[Mapping[str, Any]], Callable[[str], tuple[bool, str]]]
"""Turns a specification into a decision function. Raises :class:`SpecProblem`."""
