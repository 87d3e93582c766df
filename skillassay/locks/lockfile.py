"""The file ``skills.lock.json``. Owns its format, its strict reading and its writing; compares nothing.

    {
      "lockfileVersion": 1,
      "ignore": [extra patterns left out of digests],
      "requires": "fixture" | "declared" | "model",
      "skills": {PATH: {"digest", "evidence", "files": {PATH: SHA-256}, "name", "version"}},
      "suites": {NAME: {"cases": {ID: DIGEST}, "version"}}
    }

All five fields are there, and no other. ``evidence`` is ``{"file", "grade", "sha256"}``, with ``"waived": [ID, …]`` too
where its decision rests on waivers, or ``{"none": WHY}`` where a skill was locked without. Keys are sorted, indentation
is two spaces, lines end in LF, and there is no time in it, so that two people who changed different skills merge
without conflict. It is read as data (CRLF is fine) and strictly: a broken lock is an error with its line, never an
empty lock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json, pretty_text
from skillassay.documents import Document
from skillassay.findings import Finding, Severity, register
from skillassay.locks.evidence import GRADES
from skillassay.versions import is_semver

LOCK_PATH = "skills.lock.json"
LOCKFILE_VERSION = 1

UNREADABLE = register("lock.unreadable", "The lock is empty, holds merge markers or is not valid JSON of its format.")
NEWER = register("lock.newer-format", "The lock was written by a newer skillassay.")
BAD_ENTRY = register("lock.bad-entry", "An entry of the lock lacks a field, or a version or digest in it is malformed.")

REBUILD_HINT = "resolve it by hand, or write it anew from the lock at HEAD with `skillassay lock --rebuild`"

_HEX = re.compile(r"[0-9a-f]{64}")
_FIELDS = frozenset(("lockfileVersion", "ignore", "requires", "skills", "suites"))
_MARKER = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRef:
    """What an entry says of its evidence: the file with its SHA-256 and grade, or why there is none.

    ``waived`` has the ids of the waivers that the run's decision rests on.
    """

    file: str | None = None
    sha256: str | None = None
    grade: str | None = None
    none: str | None = None
    waived: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As a line of the terminal says it."""
        waived = f", waived: {', '.join(self.waived)}" if self.waived else ""
        return self.none or f"{self.grade} evidence{waived}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockEntry:
    """One skill's entry."""

    path: str
    name: str
    version: str
    digest: str
    files: Mapping[str, str]
    evidence: EvidenceRef


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSuite:
    """A suite's version and its cases' digests when it was locked."""

    version: str
    cases: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The whole lock."""

    skills: Mapping[str, LockEntry]
    suites: Mapping[str, LockedSuite]
    ignore: tuple[str, ...] = ()
    requires: str = "declared"


def render_lock(lock: Lock) -> bytes:
    """The bytes of a lock file."""
    return pretty_text(
        {
            "lockfileVersion": LOCKFILE_VERSION,
            "ignore": list(lock.ignore),
            "requires": lock.requires,
            "skills": {path: _entry_json(entry) for path, entry in lock.skills.items()},
            "suites": {
                name: {"version": suite.version, "cases": dict(suite.cases)} for name, suite in lock.suites.items()
            },
        }
    ).encode()


def _entry_json(entry: LockEntry) -> dict[str, Json]:
    ref = entry.evidence
    evidence: dict[str, Json]
    evidence = {"none": ref.none} if ref.none else {"file": ref.file, "sha256": ref.sha256, "grade": ref.grade}
    evidence |= {"waived": list(ref.waived)} if ref.waived else {}
    return {
        "name": entry.name,
        "version": entry.version,
        "digest": entry.digest,
        "files": dict(entry.files),
        "evidence": evidence,
    }


def parse_lock(data: bytes, *, path: str = LOCK_PATH) -> tuple[Lock | None, tuple[Finding, ...]]:
    """Read the bytes of a lock. Every problem comes back as a finding; with an error there is no lock."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        return None, (_finding(UNREADABLE, path, f"not UTF-8 at byte {error.start}", line=at),)
    for number, line in enumerate(text.split("\n"), start=1):
        if _MARKER.match(line):
            return None, (_finding(UNREADABLE, path, f"merge conflict marker {line[:7]!r}", line=number),)
    if not text.strip():
        return None, (_finding(UNREADABLE, path, "the file is empty, which is not the same as no skills", line=1),)
    try:
        value = parse_json(text)
    except JsonProblem as problem:
        return None, (_finding(UNREADABLE, path, str(problem), line=problem.line),)
    problem_of_head = _head_finding(value, path)
    if problem_of_head is not None:
        return None, (problem_of_head,)
    document = Document(path=path, text=text, value=value, is_json=True)
    found = [*_places(value["skills"], "skills", _entry_problem), *_places(value["suites"], "suites", _suite_problem)]
    if found:
        return None, tuple(_entry_finding(document, *one) for one in found)
    return _build(value), ()


def _head_finding(value: Json, path: str) -> Finding | None:
    """What is wrong with the object as a whole; of a newer format nothing more is asked."""
    if not isinstance(value, dict):
        return _finding(UNREADABLE, path, f"must be an object, is {_json_type(value)}", line=1)
    version = value.get("lockfileVersion")
    if type(version) is not int or version < 1:
        return _finding(UNREADABLE, path, f"lockfileVersion must be {LOCKFILE_VERSION}, is {version!r}", line=1)
    if version > LOCKFILE_VERSION:
        message = f"lockfileVersion {version} is newer than {LOCKFILE_VERSION}"
        return _finding(NEWER, path, message, line=1, hint="use a newer skillassay")
    if set(value) != _FIELDS:
        words = [*(f"lacks {name}" for name in sorted(_FIELDS - set(value)))]
        words += [f"has an unknown field {name!r}" for name in sorted(set(value) - _FIELDS)]
        return _finding(UNREADABLE, path, f"the lock {', '.join(words)}", line=1)
    ignore = value["ignore"]
    if not isinstance(ignore, list) or not all(isinstance(item, str) for item in ignore):
        return _finding(UNREADABLE, path, "ignore must be a list of patterns", line=1)
    if value["requires"] not in GRADES:
        return _finding(UNREADABLE, path, f"requires must be one of {', '.join(GRADES)}", line=1)
    if not isinstance(value["skills"], dict) or not isinstance(value["suites"], dict):
        return _finding(UNREADABLE, path, "skills and suites must be objects", line=1)
    return None


def _json_type(value: Json) -> str:
    return {type(None): "null", bool: "a boolean", str: "text", list: "a list"}.get(type(value), "a number")


_Problem = tuple[str, tuple[str | int, ...]]
"""What is wrong with an entry, and the keys that lead from the entry to it."""


def _places(
    entries: Mapping[str, Json], section: str, look: Callable[[Json], _Problem | None]
) -> list[tuple[str, str, _Problem]]:
    looked = ((section, key, look(body)) for key, body in entries.items())
    return [(name, key, problem) for name, key, problem in looked if problem is not None]


def _entry_finding(document: Document, section: str, key: str, problem: _Problem) -> Finding:
    words, where = problem
    what, hint = f"entry {key!r}", f"lock {key} again: `skillassay lock --rebuild`"
    if section == "suites":
        what, hint = f"suite {key!r}", REBUILD_HINT
    line = document.line_of((section, key, *where))
    return _finding(BAD_ENTRY, document.path, f"{what}: {words}", line=line, hint=hint)


def _build(value: dict[str, Json]) -> Lock:
    return Lock(
        skills={
            key: LockEntry(
                path=key,
                name=body["name"],
                version=body["version"],
                digest=body["digest"],
                files=body["files"],
                evidence=EvidenceRef(**body["evidence"] | {"waived": tuple(body["evidence"].get("waived", ()))}),
            )
            for key, body in value["skills"].items()
        },
        suites={
            key: LockedSuite(version=body["version"], cases=body["cases"]) for key, body in value["suites"].items()
        },
        ignore=tuple(value["ignore"]),
        requires=value["requires"],
    )


def _entry_problem(body: Json) -> _Problem | None:
    if not isinstance(body, dict):
        return "must be an object", ()
    for field in ("name", "version", "digest"):
        if not isinstance(body.get(field), str) or not body[field]:
            return f"{field} is missing or empty", (field,)
    if not is_semver(body["version"]):
        return f"version {body['version']!r} is not semver (1.2.3)", ("version",)
    if not _HEX.fullmatch(body["digest"]):
        return f"digest {body['digest']!r} is not 64 lowercase hex digits", ("digest",)
    files = body.get("files")
    if not isinstance(files, dict) or not files:
        return "files is missing or empty", ("files",)
    for name, digest in files.items():
        if not isinstance(digest, str) or not _HEX.fullmatch(digest):
            return f"the digest of {name} is not 64 lowercase hex digits", ("files", name)
    unknown = sorted(set(body) - {"name", "version", "digest", "files", "evidence"})
    if unknown:
        return f"unknown field {unknown[0]!r}", (unknown[0],)
    problem = _evidence_problem(body.get("evidence"))
    return None if problem is None else (problem, ("evidence",))


def _evidence_problem(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "evidence is missing"
    if set(value) == {"none"}:
        return None if isinstance(value["none"], str) and value["none"] else "evidence.none must say why"
    if set(value) - {"waived"} != {"file", "sha256", "grade"}:
        return "evidence must have file, sha256 and grade"
    waived = value.get("waived", ["-"])
    if not isinstance(waived, list) or not waived or not all(isinstance(name, str) and name for name in waived):
        return "evidence.waived must name the waivers"
    if not isinstance(value["sha256"], str) or not _HEX.fullmatch(value["sha256"]):
        return "evidence.sha256 is not 64 lowercase hex digits"
    if value["grade"] not in GRADES:
        return f"evidence.grade must be one of {', '.join(GRADES)}"
    return None if isinstance(value["file"], str) and value["file"] else "evidence.file is missing or empty"


def _suite_problem(body: Json) -> _Problem | None:
    if not isinstance(body, dict) or set(body) != {"version", "cases"} or not isinstance(body["version"], str):
        return "must have version and cases", ()
    if not isinstance(body["cases"], dict):
        return "cases must be an object", ("cases",)
    for name, digest in body["cases"].items():
        if not isinstance(digest, str) or not _HEX.fullmatch(digest):
            return f"the digest of case {name} is not 64 lowercase hex digits", ("cases", name)
    return None


def _finding(code: str, path: str, message: str, *, line: int | None = None, hint: str = REBUILD_HINT) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)


def lock_finding(code: str, path: str, message: str, *, hint: str, severity: Severity = Severity.ERROR) -> Finding:
    """A finding of the lock's rules."""
    return Finding(code=code, severity=severity, path=path, message=message, hint=hint)
