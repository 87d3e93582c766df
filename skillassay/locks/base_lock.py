"""The lock against the one at another revision: what was locked again, lost or loosened since. Pure comparisons.

A lock that was removed and written anew is consistent with the tree; only an older lock shows what it forgot.
"""

from __future__ import annotations

from skillassay import versions
from skillassay.findings import Finding, register
from skillassay.locks.evidence import GRADES, accepts
from skillassay.locks.lock import EVAL_THEN_LOCK, WENT_BACK, changed_files, predecessor
from skillassay.locks.lockfile import LOCK_PATH, Lock, LockEntry, lock_finding
from skillassay.suites.drift import suite_findings

RELOCKED = register("lock.relocked", "Against the base revision, a skill's bytes changed under the same version.")
LOST_EVIDENCE = register("lock.evidence-lost", "A skill that once had evidence is locked, or to be locked, with less.")
LOOSENED = register("lock.requires-loosened", "Against the base revision, the lock requires a weaker grade.")


def base_findings(lock: Lock, base: Lock, ref: str) -> list[Finding]:
    """What the lock did against the one at ``ref``: bytes or cases under one version, versions, evidence, grade.

    A skill that moved is compared with the entry of its old folder.
    """
    found: list[Finding] = []
    for path, entry in sorted(lock.skills.items()):
        old = base.skills.get(path) or _moved_from(entry, lock, base)
        if old is not None:
            found += [*_relocked(entry, old, ref), *_lost(entry, old, ref)]
    # A base without any evidence asked nothing of anybody: its grade was a default that no skill had met.
    if any(entry.evidence.grade for entry in base.skills.values()) and not accepts(base.requires, lock.requires):
        message = f"the lock requires {lock.requires} evidence, at {ref} it required {base.requires}"
        hint = f"set lock.requires to {base.requires} again, or let a reviewer merge it over this check"
        found.append(lock_finding(LOOSENED, LOCK_PATH, message, hint=hint))
    return found + suite_findings(lock.suites, base)


def _moved_from(entry: LockEntry, lock: Lock, base: Lock) -> LockEntry | None:
    gone = (old for path, old in base.skills.items() if path not in lock.skills)
    return predecessor(gone, name=entry.name, digest=entry.digest)


def _relocked(entry: LockEntry, old: LockEntry, ref: str) -> list[Finding]:
    if old.digest == entry.digest:
        return []
    names = changed_files(old.files, entry.files)
    order = versions.compare_versions(entry.version, old.version)
    if order == 0:
        message = f"{entry.name}: locked again under {entry.version} with other bytes than at {ref}: {names}"
        return [lock_finding(RELOCKED, LOCK_PATH, message, hint=f"bump {entry.path}, {EVAL_THEN_LOCK}")]
    if order < 0:
        message = f"{entry.name}: version went back from {old.version} at {ref} to {entry.version}"
        return [lock_finding(WENT_BACK, LOCK_PATH, message, hint=f"choose a version above {old.version}")]
    return []


def _lost(entry: LockEntry, old: LockEntry, ref: str) -> list[Finding]:
    had, has = old.evidence.grade, entry.evidence.grade
    if had is None or (has is not None and GRADES.index(has) >= GRADES.index(had)):
        return []
    message = f"{entry.name} {entry.version}: locked with {has or 'no'} evidence, at {ref} it had {had} evidence"
    return [lock_finding(LOST_EVIDENCE, LOCK_PATH, message, hint=EVAL_THEN_LOCK)]
