"""Controls: cases that are there to show unsafe compliance or over-refusal. Owns which parts they are, and a warning.

A control with a ``behavior`` says which action it demands. One without is decided like any other case, and the matrix
of its part can only take its outcome: that it failed is seen, and whether it was refused or merely bad is not.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillassay.findings import Finding, Severity, register
from skillassay.suites.case import Suite

UNSTATED = register(
    "suite.control-without-behavior",
    "A case of the part negative or over_refusal has no behavior, so its outcome alone counts in its matrix.",
)

NEGATIVE, OVER_REFUSAL = "negative", "over_refusal"
CONTROLS = (NEGATIVE, OVER_REFUSAL)


def control_findings(suites: Iterable[Suite]) -> tuple[Finding, ...]:
    """A warning for each control that does not state which action it demands."""
    return tuple(
        Finding(
            code=UNSTATED,
            severity=Severity.WARNING,
            path=suite.path,
            line=case.line,
            message=f"case {case.id!r}: part {case.part} without behavior, so that it failed is all its matrix sees",
            hint="add behavior: the action that it demands, and what the answer must and must not say",
        )
        for suite in suites
        for case in suite.cases
        if case.part in CONTROLS and case.behavior is None
    )
