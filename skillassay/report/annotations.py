"""Workflow commands of GitHub Actions: annotations beside the code.

Owns their escaping (https://github.com/actions/toolkit, command.ts) and their order: a service shows ten of a kind for
each step and drops the rest silently, so the gravest come first and the last one says how many there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillassay.findings import Finding, Severity
from skillassay.printable import one_line

SHOWN = 9
"""Of ten that are shown of a kind; the last place is for the count."""
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One remark: ``kind`` is error, warning or notice; a place where it has one."""

    kind: str
    title: str
    message: str
    path: str | None = None
    line: int | None = None


def render_annotations(annotations: Sequence[Annotation]) -> str:
    """The commands, one a line, errors first; of each kind at most ``SHOWN`` and one that counts them all."""
    lines: list[str] = []
    for kind in ("error", "warning", "notice"):
        of_kind = [one for one in annotations if one.kind == kind]
        lines += map(_command, of_kind[:SHOWN])
        if len(of_kind) > SHOWN:
            message = f"{len(of_kind)} in all, of which {SHOWN} are shown; the log has them all"
            lines.append(_command(Annotation(kind=kind, title="skillassay", message=message)))
    return "\n".join(lines)


def _command(one: Annotation) -> str:
    fields = {"file": one.path, "line": one.line, "title": one_line(one.title)}
    told = ",".join(f"{name}={_field(str(value))}" for name, value in fields.items() if value is not None)
    return f"::{one.kind} {told}::{_message(one_line(one.message))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _field(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def finding_annotations(findings: Iterable[Finding]) -> list[Annotation]:
    """One for each finding of a check."""
    return [
        Annotation(
            kind=_WORDS[one.severity],
            title=one.code,
            message=one.message if one.hint is None else f"{one.message}; {one.hint}",
            path=one.path,
            line=one.line,
        )
        for one in findings
    ]
