"""What of a suite's document fits its schema, and where in it a problem is told. Owns places; knows no case.

A case of sound shape is given whatever is wrong beside it, so that all problems are told at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from skillassay.documents import Document
from skillassay.findings import Finding, Severity, register
from skillassay.schema import document_findings, schema_problems

DUPLICATE_ID = register("suite.duplicate-id", "Two cases, checks or criteria have the same id.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document we are, its line, and where problems go."""

    document: Document
    where: tuple[str | int, ...]
    line: int | None
    problems: list[Finding]

    def report(self, code: str, message: str, *more: str | int, hint: str | None = None) -> None:
        """Add an error at this place, or at the field ``more`` of it."""
        line = self.document.line_of((*self.where, *more))
        path = self.document.path
        self.problems.append(
            Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)
        )


def read_shape(
    document: Document, schema: str, problems: list[Finding]
) -> tuple[dict[str, Any], list[tuple[dict[str, Any], Place]]]:
    """What of a document fits its schema: the fields of its head, and the cases, each with its place."""
    problems += document_findings(document, schema)
    # Findings have no places: only a document that is wrong somewhere is validated again, to learn what is sound.
    wrong = [where for where, _ in schema_problems(document.value, schema)] if problems else []
    head: Any = document.value
    at: tuple[str, ...] = ("cases",)
    if isinstance(head, list):
        head, at = {"suite": PurePosixPath(document.path).stem, "cases": head}, ()
    # The cases are judged one by one below; any other field is sound as a whole or not at all.
    lost = {where[0] for where in wrong if len(where) == 1 or (where and where[0] != "cases")}
    head = {key: head[key] for key in head if key not in lost} if isinstance(head, dict) else {}
    bodies, lines = head.get("cases", []), document.lines_below(at)
    places = [Place(document, (*at, i), lines[i] if lines else None, problems) for i in range(len(bodies))]
    # A case that is broken elsewhere has an id all the same.
    ids = [body.get("id") if isinstance(body, dict) else None for body in bodies]
    report_duplicates(ids, "case", Place(document, at, None, problems))
    broken = {where[: len(at) + 1] for where in wrong}
    return head, [(body, place) for body, place in zip(bodies, places, strict=True) if place.where not in broken]


def report_duplicates(ids: Iterable[Any], what: str, place: Place) -> None:
    """Add an error for each id that was there before."""
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if not isinstance(name, str):
            continue
        if name in seen:
            place.report(DUPLICATE_ID, f"duplicate id {name!r} of a {what}", *_index(place, index), hint="rename one")
        seen.add(name)


def _index(place: Place, index: int) -> tuple[int, ...]:
    return (index,) if not place.where or place.where == ("cases",) else ()
