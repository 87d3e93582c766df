"""Suites and cases: the authored questions. Owns their reading, their ids and their digests; runs nothing.

A case's digest covers everything but notes and samples: what the candidate is asked, how the answer is scored, and its
files (a text with CRLF counts as its LF form, so that a Windows checkout has the same digest). A field written out with
its default is a field left out. Check specifications stay raw here and are built where checks are known.

A case of sound shape is read whatever is wrong beside it, so that all problems are told at once. Only a file without
any problem gives something to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skillassay.canonical import digest_of, sha256_hex
from skillassay.documents import Document, load_document
from skillassay.findings import Finding, register
from skillassay.suites.facts import CaseFacts, fact_problems, read_facts
from skillassay.suites.files import CaseFile, FileReader, read_case_file, read_case_files
from skillassay.suites.normal import build_normal, build_routing_normal
from skillassay.suites.scorers import NOTHING_TO_SCORE, with_expected
from skillassay.suites.shape import DUPLICATE_ID, Place, read_shape, report_duplicates
from skillassay.suites.terms import NO_TERMS, SuiteTerms, read_terms, terms_json

UNKNOWN_CHECK = register("suite.explains-unknown", "A criterion explains a check that the case does not have.")
BAD_FILE = register("suite.bad-file", "A case's file is missing, leaves the suite's folder, or is too large.")

__all__ = [
    "BAD_FILE",
    "BEHAVIOR_MARKS",
    "DUPLICATE_ID",
    "NOTHING_TO_SCORE",
    "UNKNOWN_CHECK",
    "Behavior",
    "Case",
    "Criterion",
    "RoutingCase",
    "Suite",
    "SuiteReading",
    "load_routing",
    "load_suite",
    "parse_suite",
]

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
class Case(CaseFacts):
    """One quality case. ``query`` and ``files`` are all that a candidate may see of it.

    The first ``n_short_checks`` of its checks were written in a short form, which cannot carry samples. ``digest`` is
    over ``normal``, its normal form.
    """

    id: str
    skill: str
    query: str
    files: tuple[CaseFile, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()
    rubric: tuple[Criterion, ...] = ()
    behavior: Behavior | None = None
    expect_skills: tuple[str, ...] | None = None
    expect_scripts: tuple[str, ...] | None = None
    normal: Mapping[str, Any] = field(default_factory=dict, compare=False)
    digest: str = ""
    suite: str = ""
    line: int | None = None
    n_short_checks: int = 0

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
    terms: SuiteTerms = NO_TERMS

    @property
    def digest(self) -> str:
        """Over name, version, the digests of all cases, and the suite's own terms where it has any."""
        cases = {case.id: case.digest for case in self.cases}
        return digest_of({"suite": self.name, "version": self.version, "cases": cases, **terms_json(self.terms)})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingCase:
    """A request with the skills and scripts it should lead to; no skills means that none should be activated."""

    id: str
    query: str
    expect_skills: tuple[str, ...]
    expect_scripts: tuple[str, ...] | None = None
    expect_answer: tuple[str, ...] = ()
    normal: Mapping[str, Any] = field(default_factory=dict, compare=False)
    suite: str = ""
    suite_version: str = "0"
    line: int | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of its normal form."""
        return digest_of(self.normal)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReading:
    """What a quality suite's file gave. ``draft`` has the cases of sound shape, for rules to look at and nothing else.

    ``is_complete`` says that these are all cases of the file. A name that cannot be read is empty.
    """

    draft: Suite
    is_complete: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def suite(self) -> Suite | None:
        """The suite to plan, run and lock: none when anything of the file is wrong."""
        return None if self.findings else self.draft


def load_suite(path: Path, *, shown_as: str) -> SuiteReading:
    """Read a quality suite. All problems of the file come back at once."""
    document, findings = load_document(path, shown_as=shown_as)
    if document is None:
        return SuiteReading(draft=Suite(name="", version="0", path=shown_as, cases=()), findings=findings)
    return parse_suite(document, read_file=lambda name: read_case_file(name, path.parent))


def parse_suite(document: Document, *, read_file: FileReader) -> SuiteReading:
    """The suite in a document. ``read_file`` gives a file of a case or raises :class:`CaseFileProblem`."""
    problems: list[Finding] = []
    head, sound = read_shape(document, "suite", problems)
    name = head.get("suite", "")
    scorer = head.get("default_scorer")
    cases = tuple(_build_case(body, scorer, suite=name, place=place, read_file=read_file) for body, place in sound)
    version, terms = head.get("version", "0"), read_terms(head)
    draft = Suite(name=name, version=version, path=document.path, cases=cases, terms=terms)
    is_complete = 0 < len(cases) == len(head.get("cases", ()))
    return SuiteReading(draft=draft, is_complete=is_complete, findings=tuple(problems))


def load_routing(path: Path, *, shown_as: str) -> tuple[tuple[RoutingCase, ...], tuple[Finding, ...]]:
    """Read a routing suite: its cases of sound shape, of which none may be run when there is a finding."""
    document, findings = load_document(path, shown_as=shown_as)
    if document is None:
        return (), findings
    problems: list[Finding] = []
    head, sound = read_shape(document, "routing", problems)
    cases = tuple(
        RoutingCase(
            id=body["id"],
            query=body["query"],
            expect_skills=tuple(body["expect"]["skills"]),
            expect_scripts=_optional_tuple(body["expect"].get("scripts")),
            expect_answer=tuple(body["expect"].get("answer", ())),
            normal=build_routing_normal(body),
            suite=head.get("suite", ""),
            suite_version=head.get("version", "0"),
            line=place.line,
        )
        for body, place in sound
    )
    return cases, tuple(problems)


def _build_case(written: dict[str, Any], scorer: Any, *, suite: str, place: Place, read_file: FileReader) -> Case:
    body, problem = with_expected(written, scorer)
    if problem is not None:
        place.report(problem.code, problem.message, *problem.where, hint=problem.hint)
    name = body["id"]
    short = (*_short_checks(body, "must_match", "regex"), *_short_checks(body, "must_not_match", "not_regex"))
    checks = (*short, *body.get("checks", ()))
    rubric = tuple(_criterion(item) for item in body.get("rubric", ()))
    files, unusable = read_case_files(body.get("files", ()), read_file)
    for index, why in unusable:
        place.report(BAD_FILE, why, "files", index, hint="give a path below the suite's folder")
    behavior = Behavior(**body["behavior"]) if "behavior" in body else None
    ids = [*(check["id"] for check in checks), *(item.id for item in rubric), *(BEHAVIOR_MARKS if behavior else ())]
    report_duplicates(ids, f"check or criterion in case {name!r}", place)
    for index, criterion in enumerate(rubric):
        if criterion.explains is not None and criterion.explains not in {check["id"] for check in checks}:
            message = f"criterion {criterion.id!r} of case {name!r} explains {criterion.explains!r}, not a check of it"
            place.report(UNKNOWN_CHECK, message, "rubric", index, hint="name the id of a check of this case")
    for code, part, told, hint in fact_problems(body):
        place.report(code, f"case {name!r}: {told}", part, hint=hint)
    expect = body.get("expect", {})
    normal = build_normal(body, checks=checks, rubric=[asdict(item) for item in rubric], files=files)
    return Case(
        id=name,
        skill=body["skill"],
        query=body["query"],
        files=files,
        checks=checks,
        rubric=rubric,
        behavior=behavior,
        expect_skills=_optional_tuple(expect.get("skills")),
        expect_scripts=_optional_tuple(expect.get("scripts")),
        normal=normal,
        digest=digest_of(normal),
        suite=suite,
        line=place.line,
        n_short_checks=len(checks) if "expected" in written else len(short),
        **read_facts(body),
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


def _optional_tuple(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
