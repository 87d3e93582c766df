"""Suites and cases: the authored questions. Owns their reading, their ids and their digests; runs nothing.

A case's digest covers everything but notes and samples: what the candidate is asked, how the answer is scored, and its
files (a text with CRLF counts as its LF form, so that a Windows checkout has the same digest). A field written out with
its default is a field left out. Check specifications stay raw here and are built where checks are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from skillassay.canonical import Json, digest_of, sha256_hex
from skillassay.case_files import CaseFile, CaseFileProblem, read_case_file
from skillassay.documents import Document, load_document
from skillassay.findings import Finding, Severity, register
from skillassay.schema import document_findings

DUPLICATE_ID = register("suite.duplicate-id", "Two cases, checks or criteria have the same id.")
NOTHING_TO_SCORE = register("suite.nothing-to-score", "A case has neither check nor rubric.")
UNKNOWN_CHECK = register("suite.explains-unknown", "A criterion explains a check that the case does not have.")
BAD_FILE = register("suite.bad-file", "A case's file is missing, leaves the suite's folder, or is too large.")

BEHAVIOR_MARKS = ("behavior.action", "behavior.refused", "behavior.required_met", "behavior.forbidden_absent")
"""The ids of the four verdicts on a behaviour: two by code, two by the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One observable statement that the judge decides. ``explains`` is the id of the check whose reason it verifies."""

    id: str
    text: str
    critical: bool = False
    explains: str | None = None
    may_abstain: bool = False
    absence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """What a behaviour case demands: the action and flag that code compares, and two texts that the judge reads."""

    action: str
    refused: bool
    required: str
    forbidden: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One quality case. ``query`` and ``files`` are all that a candidate may see of it."""

    id: str
    skill: str
    query: str
    files: tuple[CaseFile, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()
    rubric: tuple[Criterion, ...] = ()
    behavior: Behavior | None = None
    reference: str | None = None
    critical: bool = False
    slice: str | None = None
    expect_skills: tuple[str, ...] | None = None
    expect_scripts: tuple[str, ...] | None = None
    digest: str = ""
    suite: str = ""
    line: int | None = None

    @property
    def n_criteria(self) -> int:
        """How many verdicts a complete score has; a behaviour counts four, two by code and two by the judge."""
        return len(self.checks) + len(self.rubric) + (len(BEHAVIOR_MARKS) if self.behavior else 0)

    @property
    def n_judge_calls(self) -> int:
        """How often the judge is asked about one answer: once for the rubric, once for the prose of a behaviour."""
        return bool(self.rubric) + (self.behavior is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A versioned set of quality cases, in file order."""

    name: str
    version: str
    path: str
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        """Over name, version and the digests of all cases."""
        return digest_of({"suite": self.name, "version": self.version, "cases": {c.id: c.digest for c in self.cases}})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingCase:
    """A request with the skills and scripts it should lead to; no skills means that none should be activated."""

    id: str
    query: str
    expect_skills: tuple[str, ...]
    expect_scripts: tuple[str, ...] | None = None
    suite: str = ""
    line: int | None = None


def load_suite(path: Path, *, shown_as: str) -> tuple[Suite | None, tuple[Finding, ...]]:
    """Read a quality suite. All problems of the file come back at once; with an error there is no suite."""
    document, findings = load_document(path, shown_as=shown_as)
    if document is None:
        return None, findings
    findings = document_findings(document, "suite")
    if findings:
        return None, findings
    head, bodies, at = _head_and_cases(document)
    problems: list[Finding] = []
    cases = []
    lines = document.lines_below(at)
    for index, body in enumerate(bodies):
        case = _build_case(body, path.parent, suite=head["suite"], place=_Place(document, (*at, index), problems))
        cases.append(replace(case, line=lines[index] if lines else None))
    _duplicates((case.id for case in cases), "case", _Place(document, at, problems))
    if problems:
        return None, tuple(problems)
    return Suite(name=head["suite"], version=head["version"], path=shown_as, cases=tuple(cases)), ()


def load_routing(path: Path, *, shown_as: str) -> tuple[tuple[RoutingCase, ...], tuple[Finding, ...]]:
    """Read a routing suite; no cases when it has problems."""
    document, findings = load_document(path, shown_as=shown_as)
    if document is None:
        return (), findings
    findings = document_findings(document, "routing")
    if findings:
        return (), findings
    head, bodies, at = _head_and_cases(document)
    lines = document.lines_below(at) or (None,) * len(bodies)
    cases = tuple(
        RoutingCase(
            id=body["id"],
            query=body["query"],
            expect_skills=tuple(body["expect"]["skills"]),
            expect_scripts=_optional_tuple(body["expect"].get("scripts")),
            suite=head["suite"],
            line=line,
        )
        for body, line in zip(bodies, lines, strict=True)
    )
    problems: list[Finding] = []
    _duplicates((case.id for case in cases), "case", _Place(document, at, problems))
    return (() if problems else cases), tuple(problems)


def _head_and_cases(document: Document) -> tuple[dict[str, str], list[Json], tuple[str | int, ...]]:
    if isinstance(document.value, list):
        return {"suite": PurePosixPath(document.path).stem, "version": "0"}, document.value, ()
    return document.value, document.value["cases"], ("cases",)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a document we are, and where problems go."""

    document: Document
    where: tuple[str | int, ...]
    problems: list[Finding]

    def report(self, code: str, message: str, *more: str | int, hint: str | None = None) -> None:
        line = self.document.line_of((*self.where, *more))
        path = self.document.path
        self.problems.append(
            Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)
        )


def _build_case(body: dict[str, Any], folder: Path, *, suite: str, place: _Place) -> Case:
    name = body["id"]
    checks = (*_short_checks(body, "must_match", "regex"), *_short_checks(body, "must_not_match", "not_regex"))
    checks = (*checks, *body.get("checks", ()))
    rubric = tuple(_criterion(item) for item in body.get("rubric", ()))
    files = _case_files(body.get("files", ()), folder, place)
    behavior = Behavior(**body["behavior"]) if "behavior" in body else None
    if not checks and not rubric and behavior is None:
        message = f"case {name!r} has neither check nor rubric nor behavior"
        place.report(NOTHING_TO_SCORE, message, hint="add checks or a rubric")
    ids = [*(check["id"] for check in checks), *(item.id for item in rubric), *(BEHAVIOR_MARKS if behavior else ())]
    _duplicates(ids, f"check or criterion in case {name!r}", place)
    for index, criterion in enumerate(rubric):
        if criterion.explains is not None and criterion.explains not in {check["id"] for check in checks}:
            message = f"criterion {criterion.id!r} of case {name!r} explains {criterion.explains!r}, not a check of it"
            place.report(UNKNOWN_CHECK, message, "rubric", index, hint="name the id of a check of this case")
    expect = body.get("expect", {})
    return Case(
        id=name,
        skill=body["skill"],
        query=body["query"],
        files=files,
        checks=checks,
        rubric=rubric,
        behavior=behavior,
        reference=body.get("reference"),
        critical=body.get("critical", False),
        slice=body.get("slice"),
        expect_skills=_optional_tuple(expect.get("skills")),
        expect_scripts=_optional_tuple(expect.get("scripts")),
        digest=_case_digest(body, checks, rubric, files),
        suite=suite,
    )


def _short_checks(body: dict[str, Any], field: str, kind: str) -> tuple[dict[str, Any], ...]:
    value = body.get(field)
    if value is None:
        return ()
    if isinstance(value, str):
        return ({"id": field, "type": kind, "pattern": value},)
    # Ids are made from content, so that a pattern keeps its id when the list is reordered.
    return tuple({"id": f"{field}-{sha256_hex(p.encode())[:8]}", "type": kind, "pattern": p} for p in value)


def _criterion(item: str | dict[str, Any]) -> Criterion:
    if isinstance(item, str):
        return Criterion(id=f"c-{sha256_hex(item.encode())[:8]}", text=item)
    return Criterion(**{key: value for key, value in item.items() if key != "note"})


def _case_files(names: Iterable[str], folder: Path, place: _Place) -> tuple[CaseFile, ...]:
    files: dict[str, CaseFile] = {}
    hint = "give a path below the suite's folder"
    for index, name in enumerate(names):
        try:
            file = read_case_file(name, folder)
            if file.path in files:
                raise CaseFileProblem("is named twice")
            files[file.path] = file
        except CaseFileProblem as problem:
            place.report(BAD_FILE, f"file {name!r} {problem}", "files", index, hint=hint)
    return tuple(files.values())


_DIGESTED = ("id", "skill", "query", "behavior", "reference", "slice")


def _case_digest(
    body: dict[str, Any], checks: Iterable[Mapping[str, Any]], rubric: Iterable[Criterion], files: Iterable[CaseFile]
) -> str:
    """SHA-256 of the case in normal form: short forms written out, notes and samples left out, files by content."""
    normal = {key: body[key] for key in _DIGESTED if key in body}
    normal |= {key: body[key] for key in ("critical", "expect") if body.get(key)}
    normal["files"] = [{"path": file.path, "sha256": file.sha256} for file in files]
    normal["checks"] = [{k: v for k, v in check.items() if k not in {"samples", "note"}} for check in checks]
    normal["rubric"] = [
        {
            "id": item.id,
            "text": item.text,
            "critical": item.critical,
            "explains": item.explains,
            "may_abstain": item.may_abstain,
            "absence": item.absence,
        }
        for item in rubric
    ]
    return digest_of(normal)


def _duplicates(ids: Iterable[str], what: str, place: _Place) -> None:
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if name in seen:
            place.report(DUPLICATE_ID, f"duplicate id {name!r} of a {what}", *_index(place, index), hint="rename one")
        seen.add(name)


def _index(place: _Place, index: int) -> tuple[int, ...]:
    return (index,) if not place.where or place.where == ("cases",) else ()


def _optional_tuple(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
