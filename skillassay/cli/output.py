"""What commands print and how: data to stdout, everything else to stderr, readable on any encoding.

All output of a command goes through here, since a CI service reads commands of its own in a log: one that a model, a
suite or a file name smuggles in must not come alive.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

import click

from skillassay.canonical import Json, pretty_text
from skillassay.errors import EnvironmentFault, InputError, SkillassayError
from skillassay.findings import Finding, Severity
from skillassay.printable import one_line

# GitHub reads `::name::` at the start of a line, blanks before it or not, and `##[name]` anywhere in it; Azure likewise
# `##vso[`. A blank in place of the second character ends both for the service, and no line becomes longer.
_AT_START = re.compile(r"^([^\S\n]*:):", re.MULTILINE)
_ANYWHERE = re.compile(r"(?<=#)#(?=(?:vso)?\[)")

# What a terminal obeys or hides: delete and C1 controls, directions, joiners, line separators.
_UNSEEN = {"Cc", "Cf", "Zl", "Zp"}
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


def prepare_streams() -> None:
    """Let no glyph end a command: what a stream's encoding cannot show is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def command_safe(text: str) -> str:
    """``text`` without a workflow command of a CI service."""
    return _ANYWHERE.sub(" ", _AT_START.sub(r"\1 ", text))


def emit(text: str) -> None:
    """Text for stdout, ending with a line feed."""
    _write(command_safe(text.removesuffix("\n")))


def emit_commands(text: str) -> None:
    """Workflow commands of our own making for stdout; every text in them is escaped already."""
    _write(text)


def emit_json(value: Json) -> None:
    """JSON for stdout. What could break a log or a terminal is written as an escape: the value stays the same."""
    _write_json(pretty_text(value).removesuffix("\n"))


def emit_json_line(value: Json) -> None:
    """JSON on one line of stdout, its keys in the order given; as safe as :func:`emit_json`."""
    _write_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _write_json(text: str) -> None:
    text = _ANYWHERE.sub(r"\\u0023", text)
    is_unicode = getattr(sys.stdout, "encoding", "utf-8").lower().startswith("utf")

    def shown(found: re.Match[str]) -> str:
        is_seen = is_unicode and unicodedata.category(found[0]) not in _UNSEEN
        return found[0] if is_seen else json.dumps(found[0])[1:-1]

    _write(_NOT_ASCII.sub(shown, text))


def _write(text: str) -> None:
    try:
        # The stream is named, because click takes an ASCII one for a mistake and would write UTF-8 to it.
        click.echo(text, file=sys.stdout)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        raise EnvironmentFault(f"standard output cannot be written: {error.strerror}") from error


def columns() -> int:
    """The terminal's width, at least 80; 80 where there is none."""
    return max(80, shutil.get_terminal_size((80, 24)).columns)


def say(text: str) -> None:
    """One line for people, on stderr."""
    click.echo(command_safe(text), file=sys.stderr)


def print_error(error: SkillassayError) -> None:
    """An error with its findings and its hint, on stderr."""
    if isinstance(error, InputError) and error.findings:
        errors = [finding for finding in error.findings if finding.severity is Severity.ERROR]
        print_findings(errors or error.findings, to_stderr=True)
    say(f"error: {one_line(error.message)}")
    if error.hint:
        say(f"hint: {one_line(error.hint)}")


def print_findings(findings: Sequence[Finding], *, to_stderr: bool = False, notes: bool = True) -> None:
    """Findings as ``path:line: severity code: message``; those of one code and next step together, errors last.

    The last lines are what a terminal leaves in sight.
    """
    groups: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in findings:
        if notes or finding.severity is not Severity.NOTE:
            groups.setdefault((finding.code, finding.hint), []).append(finding)
    write = say if to_stderr else emit
    gravest = list(Severity)
    for (code, hint), group in sorted(groups.items(), key=lambda item: -gravest.index(item[1][0].severity)):
        for finding in group:
            place = one_line(finding.path) + (f":{finding.line}" if finding.line else "")
            write(f"{place}: {finding.severity.value} {code}: {one_line(finding.message)}")
        if hint:
            write(f"    next: {one_line(hint)}")


def first_step(findings: Iterable[Finding], codes: frozenset[str]) -> str | None:
    """The one command that gets a repository without versions going, where that is what is missing."""
    n_skills = len({finding.path for finding in findings if finding.code in codes})
    if n_skills < 2:
        return None
    return f"start here: `skillassay bump --init` gives {n_skills} skills their first version, then `skillassay lock`"


def count_text(findings: Iterable[Finding]) -> str:
    """``2 errors, 1 warning, 0 notes``."""
    severities = [finding.severity for finding in findings]
    return ", ".join(counted(severities.count(severity), severity.value) for severity in Severity)


def counted(n: int, word: str) -> str:
    """``1 skill``, ``2 skills``."""
    return f"{n} {word}{'' if n == 1 else 's'}"
