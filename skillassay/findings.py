"""Findings: problems that have a place. Owns their shape, order and severities; decides nothing and prints nothing.

A finding names a code (stable, listed in ``docs/reference/findings.md``), a severity, a file, a line where there is
one, what is wrong, and what to do next. Codes are registered by the module that raises them, with :func:`register`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Severity(StrEnum):
    """``error`` makes a check fail, ``warning`` does so only under ``--strict``, ``note`` never does."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem at one place. ``path`` is POSIX and relative to the project root; ``line`` counts from 1."""

    code: str
    severity: Severity
    path: str
    message: str
    hint: str | None = None
    line: int | None = None

    @property
    def sort_key(self) -> tuple[str, int, str, str, str, str]:
        """Findings are shown by file, then line, then code; the rest makes the order total."""
        return (self.path, self.line or 0, self.code, self.message, self.severity, self.hint or "")


CODES: dict[str, str] = {}
"""Every finding code with one sentence on what it means; filled by :func:`register` at import time."""


def register(code: str, meaning: str) -> str:
    """Declare a finding code. Returns the code, to be bound to a constant; a second declaration is a bug."""
    if code in CODES:
        raise ValueError(f"finding code {code!r} is declared twice")
    CODES[code] = meaning
    return code


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in display order, exact duplicates dropped."""
    return tuple(sorted(set(findings), key=lambda f: f.sort_key))


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether at least one finding is an error."""
    return any(f.severity is Severity.ERROR for f in findings)


def downgrade(findings: Iterable[Finding], codes: frozenset[str]) -> tuple[Finding, ...]:
    """Errors whose code is in ``codes`` become warnings; everything else is unchanged."""
    return tuple(
        replace(f, severity=Severity.WARNING) if f.severity is Severity.ERROR and f.code in codes else f
        for f in findings
    )
