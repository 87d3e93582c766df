"""The file ``skills.lock.json``. Owns its format, its strict reading and its writing; compares nothing.

    {
      "lockfileVersion": 1,
      "ignore": [extra patterns left out of digests],
      "requires": "fixture" | "declared" | "model",
      "skills": {PATH: {"digest", "evidence", "files": {PATH: SHA-256}, "name", "version"}},
      "suites": {NAME: {"cases": {ID: DIGEST}, "version"}}
    }

``evidence`` is ``{"file", "grade", "sha256"}``, or ``{"none": WHY}`` where a skill was locked without. Keys are sorted,
indentation is two spaces, lines end in LF, and there is no time in it, so that two people who changed different skills
merge without conflict. It is read as data (CRLF is fine) and strictly: a broken lock is an error with its line, never
an empty lock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json, pretty_text
from skillassay.findings import Finding, Severity, register

LOCK_PATH = "skills.lock.json"
LOCKFILE_VERSION = 1

UNREADABLE = register("lock.unreadable", "The lock is empty, holds merge markers or is not valid JSON of its format.")
NEWER = register("lock.newer-format", "The lock was written by a newer skillassay.")
BAD_ENTRY = register("lock.bad-entry", "An entry of the lock lacks a field, or a digest is missing or malformed.")

REBUILD_HINT = "resolve it by hand, or write it anew from the lock at HEAD with `skillassay lock --rebuild`"

_HEX = re.compile(r"[0-9a-f]{64}")
_MARKER = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRef:
    """What an entry says of its evidence: the file with its SHA-256 and grade, or why there is none."""

    file: str | None = None
    sha256: str | None = None
    grade: str | None = None
    none: str | None = None


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
    evidence = {"none": ref.none} if ref.none else {"file": ref.file, "sha256": ref.sha256, "grade": ref.grade}
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
        return None, (_finding(UNREADABLE, path, f"not UTF-8 at byte {error.start}"),)
    for number, line in enumerate(text.split("\n"), start=1):
        if _MARKER.match(line):
            return None, (_finding(UNREADABLE, path, f"merge conflict marker {line[:7]!r}", line=number),)
    if not text.strip():
        return None, (_finding(UNREADABLE, path, "the file is empty, which is not the same as no skills"),)
    try:
        value = parse_json(text)
    except JsonProblem as problem:
        return None, (_finding(UNREADABLE, path, str(problem), line=problem.line or _line_of_key(text, str(problem))),)
    return _build(value, path)


def _line_of_key(text: str, problem: str) -> int | None:
    """The second line on which a doubled key stands: the JSON reader knows the key, not its place."""
    match = re.search(r"duplicate key '(.*)'", problem)
    if match is None:
        return None
    lines = [n for n, line in enumerate(text.split("\n"), start=1) if f'"{match[1]}"' in line]
    return lines[1] if len(lines) > 1 else None


def _build(value: Json, path: str) -> tuple[Lock | None, tuple[Finding, ...]]:
    if not isinstance(value, dict):
        return None, (_finding(UNREADABLE, path, f"must be an object, is {type(value).__name__}"),)
    version = value.get("lockfileVersion")
    if not isinstance(version, int) or isinstance(version, bool):
        return None, (_finding(UNREADABLE, path, f"lockfileVersion must be a number, is {version!r}"),)
    if version > LOCKFILE_VERSION:
        message = f"lockfileVersion {version} is newer than {LOCKFILE_VERSION}"
        return None, (_finding(NEWER, path, message, hint="use a newer skillassay"),)
    skills, suites = value.get("skills"), value.get("suites", {})
    if not isinstance(skills, dict) or not isinstance(suites, dict):
        return None, (_finding(UNREADABLE, path, "skills and suites must be objects"),)
    problems: list[Finding] = []
    entries = {key: _entry(key, body, path, problems) for key, body in skills.items()}
    locked = {key: _suite(key, body, path, problems) for key, body in suites.items()}
    if problems:
        return None, tuple(problems)
    return (
        Lock(
            skills={key: entry for key, entry in entries.items() if entry is not None},
            suites={key: suite for key, suite in locked.items() if suite is not None},
            ignore=tuple(value.get("ignore", ())),
            requires=str(value.get("requires", "declared")),
        ),
        (),
    )


def _entry(key: str, body: Json, path: str, problems: list[Finding]) -> LockEntry | None:
    problem = _entry_problem(body)
    if problem is not None:
        hint = f"lock {key} again: `skillassay lock --rebuild`"
        problems.append(_finding(BAD_ENTRY, path, f"entry {key!r}: {problem}", hint=hint))
        return None
    evidence = body["evidence"]
    return LockEntry(
        path=key,
        name=body["name"],
        version=body["version"],
        digest=body["digest"],
        files=body["files"],
        evidence=EvidenceRef(**evidence),
    )


def _entry_problem(body: Json) -> str | None:
    if not isinstance(body, dict):
        return "must be an object"
    for field in ("name", "version", "digest"):
        if not isinstance(body.get(field), str) or not body[field]:
            return f"{field} is missing or empty"
    if not _HEX.fullmatch(body["digest"]):
        return f"digest {body['digest']!r} is not 64 lowercase hex digits"
    files = body.get("files")
    if not isinstance(files, dict) or not files:
        return "files is missing or empty"
    for name, digest in files.items():
        if not isinstance(digest, str) or not _HEX.fullmatch(digest):
            return f"the digest of {name} is not 64 lowercase hex digits"
    return _evidence_problem(body.get("evidence"))


def _evidence_problem(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "evidence is missing"
    if set(value) == {"none"}:
        return None if isinstance(value["none"], str) and value["none"] else "evidence.none must say why"
    if set(value) != {"file", "sha256", "grade"}:
        return "evidence must have file, sha256 and grade"
    if not isinstance(value["sha256"], str) or not _HEX.fullmatch(value["sha256"]):
        return "evidence.sha256 is not 64 lowercase hex digits"
    return None


def _suite(key: str, body: Json, path: str, problems: list[Finding]) -> LockedSuite | None:
    if isinstance(body, dict) and isinstance(body.get("version"), str) and isinstance(body.get("cases"), dict):
        return LockedSuite(version=body["version"], cases=body["cases"])
    problems.append(_finding(BAD_ENTRY, path, f"suite {key!r} lacks version or cases", hint=REBUILD_HINT))
    return None


def _finding(code: str, path: str, message: str, *, line: int | None = None, hint: str = REBUILD_HINT) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)
