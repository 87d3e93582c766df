"""Findings: order, duplicates, severities, codes."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from skillassay.findings import Finding, Severity, downgrade, has_errors, register, sort_findings
from skillassay.schema import SCHEMA

BASE = Finding(code="a.b", severity=Severity.ERROR, path="p", message="m", line=2)


def test_display_order() -> None:
    """By file, then line, then code, then message; a finding without a line comes first in its file."""
    ordered = [
        replace(BASE, path="a"),
        replace(BASE, line=None),
        replace(BASE, line=1),
        BASE,
        replace(BASE, message="n"),
        replace(BASE, code="a.c"),
    ]
    for shuffled in itertools.permutations(ordered):
        assert list(sort_findings(shuffled)) == ordered


def test_the_order_is_total() -> None:
    """Findings that differ in hint or severity alone are still shown in one order."""
    some = [BASE, replace(BASE, hint="h"), replace(BASE, severity=Severity.NOTE)]
    assert len({sort_findings(order) for order in itertools.permutations(some)}) == 1


def test_exact_duplicates_are_dropped() -> None:
    """The same finding twice is shown once."""
    assert sort_findings([BASE, replace(BASE)]) == (BASE,)


def test_downgrade_touches_errors_of_its_codes_only() -> None:
    """A named error becomes a warning; a note stays a note and other codes stay errors."""
    note, other = replace(BASE, severity=Severity.NOTE), replace(BASE, code="x")
    assert downgrade([BASE, note, other], frozenset({"a.b"})) == (
        replace(BASE, severity=Severity.WARNING),
        note,
        other,
    )


def test_only_errors_are_errors() -> None:
    """Warnings and notes do not fail a check."""
    assert has_errors([BASE])
    assert not has_errors([replace(BASE, severity=Severity.WARNING), replace(BASE, severity=Severity.NOTE)])


def test_a_code_is_declared_once() -> None:
    """Two meanings of one code are a bug."""
    with pytest.raises(ValueError, match="declared twice"):
        register(SCHEMA, "again")
