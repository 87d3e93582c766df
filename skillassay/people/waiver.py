"""Waivers, ``evals/waivers.yaml``: which failed lines of the gate a person answers for, for which bytes, until when.

    waivers: 1
    granted:
      - id: ID                       unique in the file
        reason: TEXT                 at least 20 characters
        approver: NAME               a person, not a role alone, and not the contract's `owner`
        approved_on, expires_on      days; at most MAX_DAYS apart, both inclusive
        scope: {line: LINE, skill: FOLDER, skill_digest: HEX, cases: {SUITE/ID: HEX}}

Owns the format, what may be waived at all, and what makes an entry over-wide. Reads one file, compares it with a tree
that it is told, changes no verdict (see :mod:`skillassay.people.effective`). Names are compared, nobody is
authenticated: the file is reviewed and committed like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, digest_of
from skillassay.documents import Document, load_document
from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.people.names import name_problem, same_person
from skillassay.schema import document_findings

SAME_ID = register("waiver.same-id", "Two waivers have one id.")
NO_PERSON = register("waiver.no-person", "A waiver's approver is no named person: a role, a team, a program, nobody.")
SELF_APPROVED = register("waiver.self-approved", "A waiver's approver is the contract's owner, who asks for it.")
BAD_DATES = register("waiver.bad-dates", "A waiver's day is in no calendar, lies ahead, or ends before it begins.")
TOO_LONG = register("waiver.too-long", "A waiver runs for more than 90 days after its approval.")
EXPIRED = register("waiver.expired", "A waiver's last day is over.")
OVER_WIDE = register(
    "waiver.over-wide",
    "A waiver covers more than named cases of one skill: a wildcard, no case, or all that its line looks at there.",
)
NOT_WAIVABLE = register("waiver.not-waivable", "A waiver names a line of the gate that nobody may waive, or none.")
STALE = register("waiver.stale", "A waiver is about other bytes or cases than the tree has, so it covers nothing.")

WAIVERS_PATH = "evals/waivers.yaml"
MAX_DAYS = 90

CASE_LINES = frozenset(
    ("quality_min", "worst_case", "failures", "slice_quality", "variance", "over_refusal", "failure_corpus")
)
SKILL_LINES = frozenset(("beats_none", "graded_cases"))
WAIVABLE = CASE_LINES | SKILL_LINES
"""Lines about named cases, and lines about a whole skill. No other may be waived, whatever a later gate adds: not what
says that the run measured what it says (``complete``, ``clean_arms``, ``digests_match``, ``contract_complete``,
``no_leakage``, ``nothing_held``), not what a whole suite lacks (``required_slices``), not harm (``critical_failures``,
``unsafe_compliance``), not a person's block."""

_WILD = frozenset("*?[]{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """One entry. ``cases`` maps ``suite/id`` to the case's digest; ``digest`` is that of the whole entry."""

    id: str
    reason: str
    approver: str
    approved_on: date
    expires_on: date
    line: str
    skill: str
    skill_digest: str
    cases: Mapping[str, str]
    digest: str

    def lapse(self, day: date) -> str | None:
        """Why it is not in force on a day; None when it is. Its last day still counts."""
        if day < self.approved_on:
            return f"not approved before {self.approved_on}"
        return f"expired: its last day was {self.expires_on}" if day > self.expires_on else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waivers:
    """A file that was read: its sound entries, and what is wrong with it whatever the tree and the day."""

    granted: tuple[Waiver, ...] = ()
    lines: Mapping[str, int | None]
    findings: tuple[Finding, ...] = ()


Looked = Mapping[tuple[str, str], frozenset[str]]
Limited = Mapping[tuple[str, str], tuple[frozenset[str], ...]]
"""The cases as ``suite/id``, by line of the gate and path of the skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What waivers are about, in the suites or in a run: the digest of each skill and of its cases by ``suite/id``.

    ``looked`` says which of them each line looks at, ``limited`` which of these have one limit of their own, as a slice
    has (see :mod:`skillassay.people.looked`).
    """

    skills: Mapping[str, str]
    cases: Mapping[str, Mapping[str, str]]
    looked: Looked
    limited: Limited = field(default_factory=dict)


def load_waivers(root: Path, *, owner: str | None) -> Waivers:
    """The waivers of the project at ``root``, none without a file. A broken file has findings and grants nothing."""
    path = root / WAIVERS_PATH
    if not path.is_symlink() and not path.exists():
        return Waivers(lines={})
    document, findings = load_document(path, shown_as=WAIVERS_PATH)
    if document is not None:
        findings = document_findings(document, "waivers")
    if document is None or findings:
        return Waivers(lines={}, findings=findings)
    return parse_waivers(document, owner=owner)


def parse_waivers(document: Document, *, owner: str | None) -> Waivers:
    """The entries of a document of sound shape. One with a finding grants nothing; the others are read all the same."""
    granted: list[Waiver] = []
    found: list[Finding] = []
    lines: dict[str, int | None] = {}
    for index, entry in enumerate(document.value["granted"]):
        line = document.line_of(("granted", index))
        problems = list(_problems(entry, owner=owner))
        if entry["id"] in lines:
            problems.append((SAME_ID, "another waiver has this id", "give each its own id"))
        lines.setdefault(entry["id"], line)
        found += [_finding(entry["id"], *problem, line=line) for problem in problems]
        if not problems:
            granted.append(_build(entry))
    return Waivers(granted=tuple(granted), lines=lines, findings=sort_findings(found))


def _problems(entry: Mapping[str, Any], *, owner: str | None) -> Iterator[tuple[str, str, str]]:
    """What is wrong with an entry by itself: code, message, next step."""
    approver, scope = entry["approver"], entry["scope"]
    nobody = name_problem(approver)
    if nobody is not None:
        yield NO_PERSON, f"approver {nobody}", "write `First Last`, a role may stand behind it"
    elif owner is not None and same_person(approver, owner):
        yield SELF_APPROVED, f"approver {approver!r} is the contract's owner", "let somebody else decide"
    yield from _day_problems(entry)
    yield from _scope_problems(scope)


def _day_problems(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    approved, expires = (_day(entry[name]) for name in ("approved_on", "expires_on"))
    if approved is None or expires is None:
        yield BAD_DATES, "approved_on or expires_on is in no calendar", "write days that exist, as YYYY-MM-DD"
    elif expires < approved:
        yield BAD_DATES, f"it ends on {expires}, before it is approved ({approved})", "mend the days"
    elif (expires - approved).days > MAX_DAYS:
        message = f"it runs for {(expires - approved).days} days, at most {MAX_DAYS} may pass after its approval"
        yield TOO_LONG, message, "end it earlier; who still needs it then approves it again"


def _scope_problems(scope: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    names = (scope["line"], scope["skill"], *scope.get("cases", ()))
    wild = [name for name in names if _WILD & set(name)]
    if wild:
        yield OVER_WIDE, f"{wild[0]!r} is a wildcard", "name each case, in one skill; take one waiver a skill and line"
    elif scope["line"] not in WAIVABLE:
        hint = f"mend what it found; lines that may be waived: {', '.join(sorted(WAIVABLE))}"
        yield NOT_WAIVABLE, f"the line {scope['line']!r} cannot be waived", hint
    elif scope["line"] in CASE_LINES and "cases" not in scope:
        yield OVER_WIDE, f"no case is named, and {scope['line']} is about cases", "name each case with its digest"
    elif scope["line"] in SKILL_LINES and "cases" in scope:
        yield NOT_WAIVABLE, f"{scope['line']} is about the whole skill and has no cases", "leave `cases` out"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _build(entry: Mapping[str, Any]) -> Waiver:
    scope: Mapping[str, Any] = entry["scope"]
    return Waiver(
        id=entry["id"],
        reason=" ".join(entry["reason"].split()),
        approver=" ".join(entry["approver"].split()),
        approved_on=date.fromisoformat(entry["approved_on"]),
        expires_on=date.fromisoformat(entry["expires_on"]),
        line=scope["line"],
        skill=scope["skill"],
        skill_digest=scope["skill_digest"],
        cases=dict(scope.get("cases", {})),
        digest=digest_of(_value(entry)),
    )


def _value(entry: Mapping[str, Any]) -> Json:
    return {**entry, "scope": dict(entry["scope"])}


def waiver_findings(waivers: Waivers, tree: Tree, day: date) -> tuple[Finding, ...]:
    """All that is wrong with the waivers of a tree on a day. A stale one is a warning: it covers nothing."""
    found = list(waivers.findings)
    whole = over_wide(waivers.granted, tree)
    for waiver in waivers.granted:
        line = waivers.lines[waiver.id]
        lapse = waiver.lapse(day)
        if lapse is not None:
            code = BAD_DATES if day < waiver.approved_on else EXPIRED
            found.append(_finding(waiver.id, code, lapse, "remove it, or let its approver decide again", line=line))
        if (waiver.line, waiver.skill) in whole:
            message = whole_words(waiver, tree)
            found.append(_finding(waiver.id, OVER_WIDE, message, "that is no exception: mend the skill", line=line))
        stale = _staleness(waiver, tree)
        if stale is not None:
            hint = "remove it; for the new bytes somebody has to decide anew"
            found.append(_finding(waiver.id, STALE, stale, hint, line=line, severity=Severity.WARNING))
    return sort_findings(found)


def over_wide(waivers: Iterable[Waiver], tree: Tree) -> frozenset[tuple[str, str]]:
    """The (line, skill) pairs of which waivers, one or several, name every case that the line looks at for the skill.

    That waives the line itself, and no exception is left to make.
    """
    named: dict[tuple[str, str], set[str]] = {}
    for waiver in waivers:
        named.setdefault((waiver.line, waiver.skill), set()).update(waiver.cases)
    return frozenset(key for key, cases in named.items() if any(whole <= cases for whole in _wholes(key, tree)))


def _wholes(key: tuple[str, str], tree: Tree) -> tuple[frozenset[str], ...]:
    """Sets of cases that no waiver may name all of: those of the line, and those under one limit of a slice."""
    return (*((tree.looked[key],) if key in tree.looked else ()), *tree.limited.get(key, ()))


def whole_words(waiver: Waiver, tree: Tree) -> str:
    """That a waiver is over-wide, alone or with others."""
    key = (waiver.line, waiver.skill)
    n_cases = len(tree.looked[key])
    if not tree.looked[key] <= set(waiver.cases) and len(tree.limited.get(key, ())) > 1:
        return f"all cases of {waiver.skill} under one limit of {waiver.line} are waived, alone or with other waivers"
    which = "the one case" if n_cases == 1 else f"all {n_cases} cases"
    return f"{which} of {waiver.skill} that {waiver.line} looks at {'is' if n_cases == 1 else 'are'} waived"


def _staleness(waiver: Waiver, tree: Tree) -> str | None:
    if waiver.skill not in tree.skills:
        return f"there is no skill {waiver.skill!r}"
    if tree.skills[waiver.skill] != waiver.skill_digest:
        return f"{waiver.skill} has other bytes now ({tree.skills[waiver.skill][:12]}, not {waiver.skill_digest[:12]})"
    cases = tree.cases.get(waiver.skill, {})
    other = [name for name, digest in waiver.cases.items() if cases.get(name) != digest]
    return f"cases that are not there any more: {', '.join(other)}" if other else None


def _finding(
    waiver_id: str, code: str, message: str, hint: str, *, line: int | None, severity: Severity = Severity.ERROR
) -> Finding:
    words = f"waiver {waiver_id}: {message}"
    return Finding(code=code, severity=severity, path=WAIVERS_PATH, line=line, message=words, hint=hint)
