"""Which controls `check` warns about."""

from __future__ import annotations

import pytest

from skillassay.findings import Severity
from skillassay.suites.case import Behavior, Case, Suite
from skillassay.suites.controls import CONTROLS, UNSTATED, control_findings
from skillassay.suites.facts import PARTS

BEHAVIOR = Behavior(action="refuse", refused=True, required="r", forbidden="f")


def suite(part: str, behavior: Behavior | None) -> Suite:
    """One case of a part."""
    case = Case(id="c", skill="s", query="q", part=part, behavior=behavior, line=4)
    return Suite(name="q", version="1", path="evals/q.json", cases=(case,))


@pytest.mark.parametrize("part", PARTS)
def test_a_control_without_behavior_is_named(part: str) -> None:
    """Only the parts negative and over_refusal are controls; one with a behaviour states its action."""
    found = control_findings([suite(part, None)])
    assert [(item.code, item.severity, item.line) for item in found] == (
        [(UNSTATED, Severity.WARNING, 4)] if part in {"negative", "over_refusal"} else []
    )
    assert all("'c'" in item.message and part in item.message for item in found)
    assert control_findings([suite(part, BEHAVIOR)]) == ()


def test_controls_are_parts() -> None:
    """A misspelt one would be in no suite."""
    assert set(CONTROLS) < set(PARTS)
