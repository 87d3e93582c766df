"""What may be locked. Pure; decides the new lock and the evidence files beside it, or refuses.

Refused are an unversioned edit (moved to another folder or not), a version that went back, a case edited under its
suite's version, and a version without passing evidence (unless ``--no-evidence`` says so in the lock). A file of
evidence counts only as the one that was locked or as what a stored run gives. Under ratchet a skill once evaluated is
never locked with none or with a lower grade, ``--no-evidence`` or not. Any refusal means that nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skillassay.findings import Finding, register
from skillassay.locks.base_lock import LOST_EVIDENCE
from skillassay.locks.evidence import Evidence, accepts, evidence_path, mismatches
from skillassay.locks.lock import (
    ADDED,
    EVAL_THEN_LOCK,
    NO_EVIDENCE,
    NOT_LOCKED,
    SkillState,
    Terms,
    drift_of,
    moved_findings,
    moved_from,
    unverifiable_findings,
)
from skillassay.locks.lockfile import EvidenceRef, Lock, LockedSuite, LockEntry, lock_finding
from skillassay.suites.drift import suite_findings

NEWEST_FAILED = register("lock.newest-run-failed", "With --refresh: the newest decided run on these bytes failed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relock:
    """What locking would do: the new lock, the evidence files to write before it, lines to print, and refusals."""

    lock: Lock
    writes: tuple[tuple[str, bytes], ...]
    lines: tuple[str, ...]
    refusals: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The newest run that decided on exactly these bytes, cases and terms: its evidence file, or why it gives none.

    ``known`` holds the SHA-256 of what each stored run that proves the skill gives, the newest among them.
    """

    data: bytes | None
    sha256: str | None
    evidence: Evidence | None
    why_not: str | None
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to lock: the contract's terms, ``--no-evidence``, ``--refresh``, and whether only some skills were named.

    ``present`` holds the folders of all skills in the tree (None: those of the states); ``trusted`` the SHA-256 of
    evidence that a committed lock names besides the old one; ``elsewhere`` says by path which run on a skill's bytes
    was made under other terms.
    """

    terms: Terms
    no_evidence: bool = False
    refresh: bool = False
    only_some: bool = False
    present: frozenset[str] | None = None
    trusted: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The evidence of one skill: its reference with what to write, or a refusal; and lines that must be seen."""

    ref: EvidenceRef | None = None
    write: bytes | None = None
    refusal: Finding | None = None
    lines: tuple[str, ...] = ()


_NO_LOCK = Lock(skills={}, suites={})


def plan_relock(
    states: Iterable[SkillState],
    proofs: Mapping[str, Proof],
    *,
    old: Lock | None,
    suites: Mapping[str, LockedSuite],
    options: Options,
) -> Relock:
    """Decide what a new lock holds. Any refusal means that nothing may be written."""
    states, old = tuple(states), old or _NO_LOCK
    present = frozenset(s.path for s in states) if options.present is None else options.present
    entries: dict[str, LockEntry] = dict(old.skills) if options.only_some else {}
    writes: list[tuple[str, bytes]] = []
    lines: list[str] = []
    refusals: list[Finding] = list(suite_findings(suites, old))
    if not options.only_some:
        # In the tree and without a state: it could not be read, which is not the same as gone.
        refusals += unverifiable_findings(sorted((present & set(old.skills)) - {state.path for state in states}))
    for state in states:
        moved = moved_from(state, old, present)
        entry = old.skills.get(state.path)
        stop = [f for f in drift_of(state, entry) if f.code not in {NOT_LOCKED, ADDED}] + moved_findings(state, moved)
        if stop:
            refusals += stop
            continue
        choice = _choose_evidence(state, entry or moved, proofs.get(state.path), options)
        if choice.ref is None:
            refusals += [choice.refusal] if choice.refusal is not None else []
            continue
        assert state.version is not None
        writes += [(evidence_path(state.path), choice.write)] if choice.write is not None else []
        entries[state.path] = _entry(state, state.version, choice.ref)
        lines += [_what_happened(entry, entries[state.path]), *choice.lines]
    lines += [f"removed    {path}" for path in old.skills if path not in entries]
    lock = Lock(skills=entries, suites=suites, ignore=options.terms.ignore, requires=options.terms.requires)
    if refusals:
        writes, lines = [], []
    return Relock(lock=lock, writes=tuple(writes), lines=tuple(lines), refusals=tuple(refusals))


def _entry(state: SkillState, version: str, ref: EvidenceRef) -> LockEntry:
    return LockEntry(
        path=state.path, name=state.name, version=version, digest=state.digest, files=state.files, evidence=ref
    )


def _choose_evidence(state: SkillState, entry: LockEntry | None, proof: Proof | None, options: Options) -> _Choice:
    """The evidence to lock: what is committed if it still proves these bytes, else the newest fitting run's.

    With ``refresh`` the other way round. Without it evidence stays as it is, so that branches merge.
    """
    failed = proof.why_not if proof is not None and proof.evidence is None else None
    if options.refresh and failed is not None:
        return _Choice(refusal=_refusal(state, proof, (), code=NEWEST_FAILED))
    had = entry.evidence.grade if entry is not None and options.terms.require_evidence == "ratchet" else None
    lacks: list[tuple[str, str]] = []
    committed = (state.evidence, state.evidence_sha256, None)
    newest = (proof.evidence, proof.sha256, proof.data) if proof is not None else (None, None, None)
    for evidence, sha256, write in (newest, committed) if options.refresh else (committed, newest):
        if evidence is None:
            continue
        lacks = [*mismatches(evidence, state.expected)]
        if had is not None and not accepts(had, evidence.grade):
            lacks.append(("too-weak", f"it passed as {evidence.grade}, the lock holds {had} evidence"))
        if not lacks and write is None and sha256 not in _known(entry, proof, options):
            lacks.append(("unknown", f"{evidence_path(state.path)} is not what was locked, and no stored run gives it"))
        if not lacks:
            where = evidence_path(state.path)
            ref = EvidenceRef(file=where, sha256=sha256, grade=evidence.grade, waived=evidence.waived)
            return _Choice(ref=ref, write=write, lines=_to_be_seen(state, evidence, failed))
    if had is None:
        if options.no_evidence:
            return _Choice(ref=EvidenceRef(none="locked with --no-evidence"))
        if options.terms.require_evidence == "ratchet" and proof is None:
            return _Choice(ref=EvidenceRef(none="never evaluated"))
    code, elsewhere = NO_EVIDENCE if had is None else LOST_EVIDENCE, options.elsewhere.get(state.path)
    return _Choice(refusal=_refusal(state, proof, lacks, code=code, elsewhere=elsewhere))


def _known(entry: LockEntry | None, proof: Proof | None, options: Options) -> frozenset[str]:
    """The evidence files that somebody vouches for: a lock that was reviewed, or a run that is here."""
    locked = entry.evidence.sha256 if entry is not None else None
    known = options.trusted | (proof.known if proof is not None else frozenset())
    return known if locked is None else known | {locked}


def _to_be_seen(state: SkillState, evidence: Evidence, failed: str | None) -> tuple[str, ...]:
    """What a reader of the lock must know of evidence that holds: a newer failure, and earlier ones."""
    lines = []
    if failed is not None:
        lines.append(
            f"warning    {state.path}: its evidence is kept, but the newest run on the same bytes gives none: {failed}"
        )
    attempts = evidence.attempts
    if attempts is not None and attempts.failed > 0:
        n_runs = attempts.failed + attempts.passed
        what = f"{attempts.failed} of {n_runs} earlier runs" if n_runs > 1 else "the earlier run"
        lines.append(f"attempts   {state.path}: {what} on the same bytes, cases and terms failed")
    if evidence.n_tried_again > 0:
        lines.append(f"attempts   {state.path}: {evidence.n_tried_again} trials of its run were tried again")
    if evidence.n_cached > 0:
        lines.append(f"cached     {state.path}: {evidence.n_cached} answers of its run came out of a cache")
    lines += [f"waived     {state.path}: by {used.id} until {used.expires_on}" for used in evidence.waivers]
    return tuple(lines)


def _refusal(
    state: SkillState,
    proof: Proof | None,
    lacks: Sequence[tuple[str, str]],
    *,
    code: str,
    elsewhere: str | None = None,
) -> Finding:
    """Why a version is not locked, and the step that helps: another run does not make a weak grade stronger."""
    # What older evidence says of older bytes explains nothing about these.
    about = [] if any(kind == "other-bytes" for kind, _ in lacks) else lacks
    why = "; ".join(words for _, words in about) or elsewhere or "no run has evaluated exactly these bytes"
    if proof is not None and proof.why_not is not None:
        why = proof.why_not
    hint = EVAL_THEN_LOCK
    if code == NEWEST_FAILED:
        hint = "find out why and mend it; without --refresh the committed evidence is kept"
    elif {kind for kind, _ in lacks} == {"too-weak"}:
        hint = (
            "name a real model in evals/contract.yaml (`candidate: {model: gemini:NAME}`, `judge: {model: …}`) and "
            "evaluate, or accept authored answers there: `lock: {requires: fixture}`"
        )
    elif {kind for kind, _ in lacks} == {"unknown"}:
        hint = f"restore it from version control, or {EVAL_THEN_LOCK}"
    return lock_finding(code, state.manifest, f"{state.name} {state.version}: not locked, {why}", hint=hint)


def _what_happened(old: LockEntry | None, new: LockEntry) -> str:
    proof = new.evidence.words
    path = new.path if new.path != "." else f"{new.name} (.)"
    if old is None:
        return f"added      {path} {new.version} ({proof})"
    if old == new:
        return f"unchanged  {path} {new.version} ({proof})"
    if old.digest == new.digest:
        return f"evidence   {path} {new.version} (now {proof})"
    return f"locked     {path} {old.version} -> {new.version} ({proof})"
