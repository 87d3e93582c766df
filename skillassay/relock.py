"""What may be locked. Pure; decides the new lock and the evidence files beside it, or refuses.

Refused are an unversioned edit, a version that went back, a case edited under its suite's version, and a version
without passing evidence (unless ``--no-evidence`` says so in the lock). Under ratchet a skill that once had evidence is
never locked with none or with a lower grade, ``--no-evidence`` or not. Any refusal means that nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillassay.evidence import Evidence, accepts, evidence_path, mismatches
from skillassay.findings import Finding, register
from skillassay.lock import (
    ADDED,
    EVAL_THEN_LOCK,
    NO_EVIDENCE,
    NOT_LOCKED,
    SkillState,
    Terms,
    drift_of,
    lock_finding,
    suite_findings,
)
from skillassay.lockfile import EvidenceRef, Lock, LockedSuite, LockEntry

LOST_EVIDENCE = register("lock.evidence-lost", "A skill that once had evidence is to be locked with less.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relock:
    """What locking would do: the new lock, the evidence files to write before it, lines to print, and refusals."""

    lock: Lock
    writes: tuple[tuple[str, bytes], ...]
    lines: tuple[str, ...]
    refusals: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The newest run that decided on exactly these bytes, cases and terms: its evidence file, or why it gives none."""

    data: bytes | None
    sha256: str | None
    evidence: Evidence | None
    why_not: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to lock: the contract's terms, ``--no-evidence``, ``--refresh``, and whether only some skills were named."""

    terms: Terms
    no_evidence: bool = False
    refresh: bool = False
    only_some: bool = False


def plan_relock(
    states: Iterable[SkillState],
    proofs: Mapping[str, Proof],
    *,
    old: Lock | None,
    suites: Mapping[str, LockedSuite],
    options: Options,
) -> Relock:
    """Decide what a new lock holds. Any refusal means that nothing may be written."""
    states = tuple(states)
    entries: dict[str, LockEntry] = dict(old.skills) if options.only_some and old is not None else {}
    writes: list[tuple[str, bytes]] = []
    lines: list[str] = []
    refusals: list[Finding] = list(suite_findings(suites, old)) if old is not None else []
    for state in states:
        entry = old.skills.get(state.path) if old is not None else None
        stop = [f for f in drift_of(state, entry) if f.code not in {NOT_LOCKED, ADDED}]
        if stop:
            refusals += stop
            continue
        ref, write, refusal = _choose_evidence(state, entry, proofs.get(state.path), options)
        if refusal is not None:
            refusals.append(refusal)
            continue
        assert ref is not None
        assert state.version is not None
        writes += [(evidence_path(state.path), write)] if write is not None else []
        entries[state.path] = _entry(state, state.version, ref)
        lines.append(_what_happened(entry, entries[state.path]))
    gone = [path for path in (old.skills if old is not None else ()) if path not in entries]
    lines += [f"removed    {path}" for path in gone]
    lock = Lock(skills=entries, suites=suites, ignore=options.terms.ignore, requires=options.terms.requires)
    if refusals:
        writes, lines = [], []
    return Relock(lock=lock, writes=tuple(writes), lines=tuple(lines), refusals=tuple(refusals))


def _entry(state: SkillState, version: str, ref: EvidenceRef) -> LockEntry:
    return LockEntry(
        path=state.path, name=state.name, version=version, digest=state.digest, files=state.files, evidence=ref
    )


def _choose_evidence(
    state: SkillState, entry: LockEntry | None, proof: Proof | None, options: Options
) -> tuple[EvidenceRef | None, bytes | None, Finding | None]:
    """The evidence to lock: what is committed if it still proves these bytes, else the newest fitting run's.

    With ``refresh`` the other way round. Without it evidence stays as it is, so that branches merge.
    """
    had = entry.evidence.grade if entry is not None and options.terms.require_evidence == "ratchet" else None
    why = "no run has evaluated exactly these bytes"
    committed = (state.evidence, state.evidence_sha256, None)
    newest = (proof.evidence, proof.sha256, proof.data) if proof is not None else (None, None, None)
    for evidence, sha256, write in (newest, committed) if options.refresh else (committed, newest):
        if evidence is None:
            continue
        lacks = [words for _, words in mismatches(evidence, state.expected)]
        if had is not None and not accepts(had, evidence.grade):
            lacks.append(f"it passed as {evidence.grade}, the lock holds {had} evidence")
        if not lacks:
            ref = EvidenceRef(file=evidence_path(state.path), sha256=sha256, grade=evidence.grade)
            return ref, write, None
        if proof is not None:
            why = "; ".join(lacks)
    if proof is not None and proof.why_not is not None:
        why = proof.why_not
    if had is None:
        if options.no_evidence:
            return EvidenceRef(none="locked with --no-evidence"), None, None
        if options.terms.require_evidence == "ratchet" and proof is None:
            return EvidenceRef(none="never evaluated"), None, None
    message = f"{state.name} {state.version}: not locked, {why}"
    code = NO_EVIDENCE if had is None else LOST_EVIDENCE
    return None, None, lock_finding(code, state.manifest, message, hint=EVAL_THEN_LOCK)


def _what_happened(old: LockEntry | None, new: LockEntry) -> str:
    proof = new.evidence.none or f"{new.evidence.grade} evidence"
    if old is None:
        return f"added      {new.path} {new.version} ({proof})"
    if old == new:
        return f"unchanged  {new.path} {new.version} ({proof})"
    if old.digest == new.digest:
        return f"evidence   {new.path} {new.version} (now {proof})"
    return f"locked     {new.path} {old.version} -> {new.version} ({proof})"
