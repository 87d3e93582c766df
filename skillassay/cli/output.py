"""What commands print and how: data to stdout, everything else to stderr, readable on any encoding."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence

import click

from skillassay.errors import InputError, SkillassayError
from skillassay.findings import Finding, Severity
from skillassay.printable import one_line


def prepare_streams() -> None:
    """Let no glyph end a command: what a stream's encoding cannot show is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def columns() -> int:
    """The terminal's width, at least 80; 80 where there is none."""
    return max(80, shutil.get_terminal_size((80, 24)).columns)


def say(text: str) -> None:
    """One line for people, on stderr."""
    click.echo(text, err=True)


def print_error(error: SkillassayError) -> None:
    """An error with its findings and its hint, on stderr."""
    if isinstance(error, InputError) and error.findings:
        print_findings(error.findings, to_stderr=True)
    say(f"error: {one_line(error.message)}")
    if error.hint:
        say(f"hint: {one_line(error.hint)}")


def print_findings(findings: Sequence[Finding], *, to_stderr: bool = False, notes: bool = True) -> None:
    """Findings, one or two lines each: ``path:line: severity code: message`` and the next step."""
    for finding in findings:
        if finding.severity is Severity.NOTE and not notes:
            continue
        place = one_line(finding.path) + (f":{finding.line}" if finding.line else "")
        click.echo(f"{place}: {finding.severity.value} {finding.code}: {one_line(finding.message)}", err=to_stderr)
        if finding.hint:
            click.echo(f"    next: {one_line(finding.hint)}", err=to_stderr)


def count_text(findings: Iterable[Finding]) -> str:
    """``2 errors, 1 warning, 0 notes``."""
    severities = [finding.severity for finding in findings]
    counts = [(severities.count(severity), severity.value) for severity in Severity]
    return ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts)


def is_ci() -> bool:
    """Whether a CI service says that it runs us."""
    return os.environ.get("CI", "").lower() in {"1", "true"}
