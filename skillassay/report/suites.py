"""Suites and their cases as text for people: every field of a case's normal form. Owns layout only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillassay.printable import one_line
from skillassay.suites.kept import KeptCase, KeptCases

NOT_KEPT = "(nothing of its text is kept here)"
_FIRST = ("skill", "part", "query", "files", "checks", "rubric", "behavior", "reference", "references", "expect")


def render_suites(kept: KeptCases) -> str:
    """All suites, each with its cases in file order, and the texts of their files once."""
    lines: list[str] = []
    for suite in kept.suites:
        digest = f", digest {suite.digest[:12]}" if suite.digest else ""
        lines += ["", one_line(f"suite {suite.name} {suite.version}, {len(suite.cases)} cases{digest}")]
        for case in suite.cases:
            lines += ["", f"  {one_line(case.id)}  {case.digest[:12]}", *_case_lines(case, kept.files)]
    return "\n".join(lines) + "\n"


def _case_lines(case: KeptCase, files: Mapping[str, bytes]) -> Iterator[str]:
    if case.normal is None:
        yield f"    {NOT_KEPT}"
        return
    names = [*(name for name in _FIRST if case.normal.get(name)), *sorted(set(case.normal) - {*_FIRST, "id"})]
    for name in names:
        yield from _field_lines(name, case.normal[name])
    for file in case.normal.get("files", ()):
        data = files.get(file["sha256"])
        yield f"    file {one_line(file['path'])}, SHA-256 {file['sha256'][:12]}"
        if data is not None:
            yield from (f"      {one_line(line)}" for line in data.decode("utf-8", "replace").split("\n"))


def _field_lines(name: str, value: Any) -> Iterator[str]:
    if name == "files":
        return
    if isinstance(value, str):
        first, *rest = value.split("\n")
        yield f"    {name}: {one_line(first)}"
        yield from (f"      {one_line(line)}" for line in rest)
        return
    items = value if isinstance(value, list) else [value]
    yield f"    {name}:"
    yield from (f"      {one_line(json.dumps(item, ensure_ascii=False, sort_keys=True))}" for item in items)
