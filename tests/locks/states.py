"""Skills as a lock sees them, with evidence that fits, for tests to take one thing away."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skillassay.canonical import digest_of
from skillassay.locks.evidence import Evidence, Expected, evidence_bytes, evidence_from_body, evidence_path
from skillassay.locks.lock import SkillState, Terms
from skillassay.locks.lockfile import EvidenceRef, Lock, LockedSuite, LockEntry
from skillassay.skills.digest import build_manifest

BOUND = {
    "candidate": {"model": "fixture", "prompt": "p" * 64},
    "judge": {"model": "fixture"},
    "gate": {"quality_min": "4/5"},
    "scorer": 2,
}
BINDING = digest_of(BOUND)
CASE_DIGEST = hashlib.sha256(b"case").hexdigest()
TERMS = Terms(requires="fixture", require_evidence="all", ignore=())
RATCHET = replace(TERMS, require_evidence="ratchet")
SUITES = {"quality": LockedSuite(version="1.0.0", cases={"a": CASE_DIGEST})}


def sha(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def body_of(path: str, digest: str, version: str, **changes: Any) -> dict[str, Any]:
    """The body of an evidence file about these bytes, with some parts changed."""
    return {
        "evidence": 1,
        "skill": {"path": path, "name": path.rpartition("/")[2], "version": version, "digest": digest},
        "decision": {"gate": "fixture_gate", "grade": "fixture"},
        "cases": {"quality/a": CASE_DIGEST},
        "binding": {"digest": BINDING, "terms": BOUND},
        "catalog": {},
        "run": {"id": "run"},
    } | changes


def state_of(path: str = "skills/greeter", version: str | None = "1.0.0", text: str = "Say hello.") -> SkillState:
    """A skill of two files in the tree, with evidence that proves it."""
    files = {"SKILL.md": sha(f"{version} {text}"), "references/rules.md": sha("rules")}
    digest = hashlib.sha256(build_manifest(list(files.items()))).hexdigest()
    state = SkillState(
        path=path,
        name=path.rpartition("/")[2],
        version=version,
        version_problem=None if version else "no metadata.version",
        digest=digest,
        files=files,
        expected=Expected(
            skill_path=path,
            version=version,
            skill_digest=digest,
            cases={"quality/a": CASE_DIGEST},
            terms=BOUND,
            requires="fixture",
        ),
    )
    return proven(state)


def proven(state: SkillState, **changes: Any) -> SkillState:
    """The skill with evidence for its bytes, some parts of it changed."""
    body = body_of(state.path, state.digest, state.version or "0.0.0", **changes)
    data = evidence_bytes(body)
    return replace(state, evidence=evidence_from_body(body), evidence_sha256=hashlib.sha256(data).hexdigest())


def unproven(state: SkillState) -> SkillState:
    """The skill without an evidence file."""
    return replace(state, evidence=None, evidence_sha256=None)


def evidence_of(state: SkillState) -> Evidence:
    """The evidence of a proven skill."""
    assert state.evidence is not None
    return state.evidence


def entry_of(state: SkillState, *, none: str | None = None) -> LockEntry:
    """The lock's entry for a skill as it is, with its evidence or the reason for none."""
    assert state.version is not None
    grade = state.evidence.grade if state.evidence is not None else "fixture"
    ref = EvidenceRef(file=evidence_path(state.path), sha256=state.evidence_sha256, grade=grade)
    return LockEntry(
        path=state.path,
        name=state.name,
        version=state.version,
        digest=state.digest,
        files=state.files,
        evidence=EvidenceRef(none=none) if none is not None else ref,
    )


def lock_of(states: Sequence[SkillState], *, none: str | None = None) -> Lock:
    """A lock of these skills as they are."""
    return Lock(skills={s.path: entry_of(s, none=none) for s in states}, suites=SUITES, requires="fixture")


def bound(**gate: Any) -> dict[str, Any]:
    """The binding of evidence made under these terms of the gate."""
    terms = BOUND | {"gate": gate}
    return {"digest": digest_of(terms), "terms": terms}
