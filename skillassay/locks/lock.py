"""The lock's verdicts: what drifted between tree and ``skills.lock.json``. Pure comparisons; writes nothing.

Each verdict has its own finding code and says skill, versions, files and the next step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillassay import versions
from skillassay.canonical import sha256_hex
from skillassay.findings import Finding, Severity, register
from skillassay.locks.evidence import Evidence, Expected, evidence_path, mismatches
from skillassay.locks.lockfile import LOCK_PATH, Lock, LockedSuite, LockEntry, lock_finding
from skillassay.skills.digest import build_manifest
from skillassay.suites.drift import suite_findings

MISSING = register("lock.missing", "There is no skills.lock.json.")
EDITED = register("lock.edited-without-version", "A skill's files changed and its version did not.")
NOT_LOCKED = register("lock.not-locked", "A skill has a new version that is not locked yet.")
WENT_BACK = register("lock.version-went-back", "A skill's version is lower than the locked one.")
NO_VERSION = register("lock.version-unusable", "A skill without a semver version cannot be locked.")
ADDED = register("lock.added", "A skill is in the tree and not in the lock.")
REMOVED = register("lock.removed", "A skill is in the lock and not in the tree.")
MOVED_EDITED = register("lock.moved-edited", "A skill moved to another folder and changed without a new version.")
HAND_EDITED = register("lock.hand-edited", "Parts of an entry do not belong together: the lock was edited by hand.")
UNVERIFIABLE = register("lock.unverifiable", "A skill in the tree cannot be read, so nothing says what its bytes are.")
BLOCKED = register(
    "lock.blocked", "The contract holds gate.manual_block, so nothing may be locked or counts as proven."
)
CHANGED_VERSION_ONLY = register("lock.version-disagrees", "The lock names another version for the very same bytes.")
NO_EVIDENCE = register("lock.no-evidence", "A skill is locked without evidence.")
EVIDENCE_FILE = register("lock.evidence-file", "An evidence file is missing, unreadable or not the locked one.")
EVIDENCE = {
    "voided": register("lock.evidence-voided", "A skill's evidence was voided."),
    "other-bytes": register("lock.evidence-other-bytes", "A skill's evidence is about other bytes."),
    "other-cases": register("lock.evidence-other-cases", "A skill's evidence is about other cases."),
    "other-contract": register("lock.evidence-other-contract", "A skill's evidence was made under another contract."),
    "too-weak": register("lock.evidence-too-weak", "A skill's evidence is of a lower grade than the lock requires."),
    "waiver-lapsed": register(
        "lock.waiver-lapsed", "A skill's evidence rests on a waiver that ran out, was changed, or is gone."
    ),
}
CATALOG = register("lock.catalog-changed", "Another skill of the catalog changed since the evidence was made.")
IGNORE = register("lock.ignore-changed", "The lock was written with another lock.ignore or lock.requires.")
FIXTURES = register("lock.fixtures-changed", "The authored answers changed since fixture evidence was made.")
RATCHET = register("lock.never-evaluated", "Under ratchet: skills that were never evaluated (a counted warning).")

EVAL_THEN_LOCK = "run `skillassay eval`, then `skillassay lock`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillState:
    """A skill as it is in the tree, with what its evidence is and must be bound to. ``version`` is None if unusable."""

    path: str
    name: str
    version: str | None
    version_problem: str | None
    digest: str
    files: Mapping[str, str]
    expected: Expected
    evidence: Evidence | None = None
    evidence_sha256: str | None = None
    evidence_problem: str | None = None

    @property
    def manifest(self) -> str:
        """Where findings about this skill point."""
        return "SKILL.md" if self.path == "." else f"{self.path}/SKILL.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The rules of this project's lock, from the contract."""

    requires: str
    require_evidence: str
    ignore: tuple[str, ...]


def verify(states: Sequence[SkillState], suites: Mapping[str, LockedSuite], lock: Lock, terms: Terms) -> list[Finding]:
    """Everything in which tree and lock differ, and every lack of proof. Empty when all is as locked."""
    found: list[Finding] = []
    present = {state.path for state in states}
    for state in states:
        entry = lock.skills.get(state.path)
        drift = drift_of(state, entry) + moved_findings(state, moved_from(state, lock, present))
        found += drift
        if entry is not None:
            found += _hand_edits(state, entry)
            found += _evidence_findings(state, entry, terms) if not drift else []
    for path, entry in lock.skills.items():
        if path not in present:
            message = f"{path} {entry.version} is locked and not in the tree"
            found.append(lock_finding(REMOVED, LOCK_PATH, message, hint="restore it, or run `skillassay lock`"))
    found += suite_findings(suites, lock)
    if lock.ignore != terms.ignore or lock.requires != terms.requires:
        message = f"written with ignore {list(lock.ignore)}, requires {lock.requires}; the contract says otherwise"
        found.append(lock_finding(IGNORE, LOCK_PATH, message, hint="run `skillassay lock`"))
    return found + _never_evaluated(states, lock, terms) + _catalog_findings(states)


def unverifiable_findings(paths: Iterable[str]) -> list[Finding]:
    """One error for each skill that cannot be read, whatever a contract makes of the reasons."""
    message, hint = "the skill cannot be read, so it is not verified", "mend what its own findings say"
    return [lock_finding(UNVERIFIABLE, path, message, hint=hint) for path in paths]


def drift_of(state: SkillState, entry: LockEntry | None) -> list[Finding]:
    """How one skill differs from its entry: at most one finding."""
    where = state.manifest
    if state.version is None:
        hint = "run `skillassay bump --init`, for one skill with its folder behind it"
        return [lock_finding(NO_VERSION, where, f"{state.name}: {state.version_problem}", hint=hint)]
    if entry is None:
        return [lock_finding(ADDED, where, f"{state.name} {state.version} is not in the lock", hint=EVAL_THEN_LOCK)]
    names = changed_files(entry.files, state.files)
    if state.digest == entry.digest:
        if state.version == entry.version:
            return []
        message = f"{state.name}: same bytes, but {LOCK_PATH} says {entry.version} and SKILL.md {state.version}"
        return [lock_finding(CHANGED_VERSION_ONLY, where, message, hint="restore the lock from version control")]
    order = versions.compare_versions(state.version, entry.version)
    if order == 0:
        # Build metadata has no rank (SemVer 10): 1.0.0+b is no version after 1.0.0+a.
        message = f"{state.name}: changed without a new metadata.version ({state.version}): {names}"
        hint = f"run `skillassay bump {state.path} patch|minor|major`, {EVAL_THEN_LOCK.removeprefix('run ')}"
        return [lock_finding(EDITED, where, message, hint=hint)]
    if order < 0:
        message = f"{state.name}: version went back from {entry.version} to {state.version}: {names}"
        return [lock_finding(WENT_BACK, where, message, hint=f"choose a version above {entry.version}")]
    message = f"{state.name}: {entry.version} -> {state.version} is not locked yet: {names}"
    return [lock_finding(NOT_LOCKED, where, message, hint=EVAL_THEN_LOCK)]


def moved_from(state: SkillState, lock: Lock, present: Collection[str]) -> LockEntry | None:
    """The entry of a skill that was locked under another folder, where nothing is now; None for one that stayed."""
    if state.path in lock.skills:
        return None
    gone = (entry for path, entry in lock.skills.items() if path not in present)
    return predecessor(gone, name=state.name, digest=state.digest)


def predecessor(gone: Iterable[LockEntry], *, name: str, digest: str) -> LockEntry | None:
    """The entry from which a skill in a new folder goes on: of its name, with these bytes or of the highest version."""
    named = [entry for entry in gone if entry.name == name]
    same = [entry for entry in named if entry.digest == digest]
    newest: LockEntry | None = None
    for entry in same or named:
        if newest is None or versions.compare_versions(entry.version, newest.version) > 0:
            newest = entry
    return newest


def moved_findings(state: SkillState, old: LockEntry | None) -> list[Finding]:
    """A move is no new version: other bytes need one, as they would without the move."""
    if old is None or state.version is None or state.digest == old.digest:
        return []
    if versions.compare_versions(state.version, old.version) > 0:
        return []
    names = changed_files(old.files, state.files)
    message = f"{state.name}: moved here from {old.path} and changed without a version above {old.version}: {names}"
    hint = f"run `skillassay bump {state.path} patch|minor|major`, {EVAL_THEN_LOCK.removeprefix('run ')}"
    return [lock_finding(MOVED_EDITED, state.manifest, message, hint=hint)]


def _hand_edits(state: SkillState, entry: LockEntry) -> list[Finding]:
    """What an entry says that no lock would have written: the digest is that of its files, and the rest follows."""
    words = []
    if (entry.digest, entry.files) != (state.digest, state.files) and entry_digest(entry) != entry.digest:
        words.append("its digest is not that of its files")
    if entry.digest == state.digest and entry.name != state.name:
        words.append(f"its name is {entry.name!r}, in SKILL.md {state.name!r}")
    if entry.evidence.none is None and entry.evidence.file != evidence_path(state.path):
        words.append(f"its evidence is {entry.evidence.file!r}, not {evidence_path(state.path)!r}")
    if not words:
        return []
    message = f"entry {state.path!r}: {'; '.join(words)}"
    return [lock_finding(HAND_EDITED, LOCK_PATH, message, hint="restore the lock from version control")]


def entry_digest(entry: LockEntry) -> str:
    """The digest that an entry's own files come to."""
    return sha256_hex(build_manifest(list(entry.files.items())))


def changed_files(old: Mapping[str, str], new: Mapping[str, str], *, most: int = 5) -> str:
    """The files that differ, in words: ``references/rules.md changed, old.md missing``."""
    words = [
        f"{name} {'missing' if name not in new else 'added' if name not in old else 'changed'}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def _evidence_findings(state: SkillState, entry: LockEntry, terms: Terms) -> list[Finding]:
    ref = entry.evidence
    where = evidence_path(state.path)
    if ref.none is not None:
        # Under ratchet a never evaluated skill is counted once for all, not listed.
        if terms.require_evidence == "ratchet" and state.evidence is None:
            return []
        message = f"{state.name} {entry.version} is locked without evidence ({ref.none})"
        severity = Severity.WARNING if terms.require_evidence == "ratchet" else Severity.ERROR
        return [lock_finding(NO_EVIDENCE, state.manifest, message, hint=EVAL_THEN_LOCK, severity=severity)]
    if state.evidence_problem is not None or state.evidence is None:
        message = f"{state.name}: {state.evidence_problem or 'the locked evidence file does not exist'}"
        return [lock_finding(EVIDENCE_FILE, where, message, hint=EVAL_THEN_LOCK)]
    found = [
        lock_finding(EVIDENCE[kind], where, f"{state.name} {entry.version}: {words}", hint=EVAL_THEN_LOCK)
        for kind, words in mismatches(state.evidence, state.expected)
    ]
    is_locked = (ref.sha256, ref.grade, ref.waived)
    if not found and (state.evidence_sha256, state.evidence.grade, state.evidence.waived) != is_locked:
        message = f"{state.name}: the file is not the one that was locked ({ref.grade}, SHA-256 {ref.sha256})"
        found.append(lock_finding(EVIDENCE_FILE, where, message, hint="restore it from version control"))
    return found


def _never_evaluated(states: Sequence[SkillState], lock: Lock, terms: Terms) -> list[Finding]:
    if terms.require_evidence != "ratchet":
        return []
    names = [s.name for s in states if (e := lock.skills.get(s.path)) is not None and e.evidence.none is not None]
    if not names:
        return []
    message = f"{len(names)} of {len(states)} skills are locked and were never evaluated: {', '.join(names[:3])}"
    message += ", …" if len(names) > 3 else ""
    return [
        lock_finding(RATCHET, LOCK_PATH, message, hint="write cases, then eval and lock", severity=Severity.WARNING)
    ]


def _catalog_findings(states: Sequence[SkillState]) -> list[Finding]:
    """One counted warning: another skill beside them may draw requests away from skills evaluated before it changed."""
    now = {state.path: state.digest for state in states}
    n_beside, others = 0, set()
    for state in states:
        if state.evidence is None:
            continue
        catalog = state.evidence.catalog
        changed = {p for p in {*now, *catalog} if p != state.path and now.get(p) != catalog.get(p)}
        n_beside += bool(changed)
        others |= changed
    if not others:
        return []
    message = f"{n_beside} of {len(states)} skills were evaluated beside another catalog; since then changed: "
    message += ", ".join(sorted(others)[:3]) + (", …" if len(others) > 3 else "")
    hint = "to measure them beside it, run `skillassay eval`, then `skillassay lock --refresh`"
    return [lock_finding(CATALOG, LOCK_PATH, message, hint=hint, severity=Severity.WARNING)]


def fixture_findings(states: Sequence[SkillState], now: str | None) -> list[Finding]:
    """One counted warning: fixture evidence says what authored answers came to, and these are others.

    No error, since two authors who both add answers must be able to merge.
    """
    made = [state.name for state in states if (e := state.evidence) is not None and e.fixtures not in {None, now}]
    if not made:
        return []
    message = f"{len(made)} of {len(states)} skills have evidence of other authored answers: {', '.join(made[:3])}"
    message += ", …" if len(made) > 3 else ""
    hint = "to measure them on these, run `skillassay eval`, then `skillassay lock --refresh`"
    return [lock_finding(FIXTURES, LOCK_PATH, message, hint=hint, severity=Severity.WARNING)]
