"""Locking the project on disk: the decision from stored runs, and the writing. Owns what is written and in which order.

Evidence files are put in place first and the lock last, each atomically, so that a kill in between leaves a lock that a
check refuses and that locking again completes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skillassay.errors import InputError, StoreError
from skillassay.findings import Finding, register
from skillassay.inside import refuse_links, write_inside
from skillassay.isolation.process import git
from skillassay.locks.evidence import EVIDENCE_FOLDER, evidence_path
from skillassay.locks.lock import MISSING, SkillState
from skillassay.locks.lockfile import LOCK_PATH, Lock, lock_finding, render_lock
from skillassay.locks.locking import (
    blocked_findings,
    blocking_findings,
    build_states,
    lock_terms,
    locked_suites,
    read_lock,
)
from skillassay.locks.relock import Options, Relock, plan_relock
from skillassay.locks.revisions import lock_at
from skillassay.locks.stored_proof import find_other_terms, find_proofs
from skillassay.project import Project
from skillassay.regular import NotRegular, read_regular

GIT_IGNORED = register("lock.git-ignored", "A file of a skill is ignored by git, so CI would not have it.")


def prepare_lock(
    project: Project,
    *,
    no_evidence: bool = False,
    refresh: bool = False,
    rebuild: bool = False,
    only: Sequence[str] = (),
) -> Relock:
    """Decide on a new lock without writing it. Raises :class:`InputError` when project or lock cannot be read."""
    blocking = blocking_findings(project)
    if blocking:
        raise InputError("nothing was locked", hint="mend these first", findings=blocking)
    old = _old_lock(project.root, rebuild=rebuild)
    states = build_states(project)
    if only:
        states = tuple(state for state in states if _is_named(state, only))
    proofs = find_proofs(project.root, {state.path: state.expected for state in states})
    unproven = {state.path: state.expected for state in states if state.path not in proofs}
    relock = plan_relock(
        states,
        proofs,
        old=old,
        suites=locked_suites(project),
        options=Options(
            terms=lock_terms(project),
            no_evidence=no_evidence,
            refresh=refresh,
            only_some=bool(only),
            present=frozenset(package.path for package in project.packages),
            trusted=_merged_evidence(project.root) if rebuild else frozenset(),
            elsewhere=find_other_terms(project.root, unproven),
        ),
    )
    more = (*blocked_findings(project), *git_ignored(project.root, states))
    return replace(relock, refusals=(*relock.refusals, *more)) if more else relock


def _is_named(state: SkillState, only: Sequence[str]) -> bool:
    return state.path in only or state.name in only


def _old_lock(root: Path, *, rebuild: bool) -> Lock | None:
    if rebuild:
        # A broken file is not trusted for anything; what was locked last is what was committed last.
        head = git(root, "rev-parse", "--verify", "-q", "HEAD")
        return lock_at(root, "HEAD") if head is not None and head.exit_code == 0 else None
    lock, findings = read_lock(root)
    if lock is None and any(finding.code != MISSING for finding in findings):
        raise InputError(f"{LOCK_PATH} cannot be read and was left as it is", findings=findings)
    return lock


def _merged_evidence(root: Path) -> frozenset[str]:
    """The evidence that the other side of an unfinished merge has locked: its files are in the tree by then."""
    other = git(root, "rev-parse", "--verify", "-q", "MERGE_HEAD")
    if other is None or other.exit_code != 0:
        return frozenset()
    entries = lock_at(root, "MERGE_HEAD").skills.values()
    return frozenset(entry.evidence.sha256 for entry in entries if entry.evidence.sha256 is not None)


def write_lock(root: Path, relock: Relock) -> bool:
    """Write evidence and lock. Returns whether a byte changed. Raises :class:`StoreError`."""
    changed = False
    files = (*relock.writes, (LOCK_PATH, render_lock(relock.lock)))
    for path, _ in files:
        refuse_links(root, root / path)
    try:
        for path, data in files:
            target = root / path
            if not _holds(target, data):
                write_inside(root, path, data)
                changed = True
    except OSError as error:
        raise StoreError(f"the lock cannot be written: {error}", hint="free space or fix permissions") from error
    return changed


def _holds(path: Path, data: bytes) -> bool:
    try:
        # A checkout may hold CRLF; what is equal as data is not written again.
        return read_regular(path).replace(b"\r\n", b"\n") == data
    except (FileNotFoundError, NotRegular):
        return False


def git_ignored(root: Path, states: Sequence[SkillState]) -> tuple[Finding, ...]:
    """Files of skills that git would not commit. Without git or outside a repository there are none to find."""
    inside = git(root, "rev-parse", "--is-inside-work-tree")
    if inside is None or inside.exit_code != 0 or not states:
        return ()
    folders = [*(state.path for state in states), LOCK_PATH, EVIDENCE_FOLDER]
    listed = git(
        root, "--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *folders
    )
    if listed is None or listed.exit_code != 0:
        raise InputError("git cannot say which files it ignores", hint="run `git status` here and mend what it says")
    hashed = {name if state.path == "." else f"{state.path}/{name}" for state in states for name in state.files}
    hashed |= {LOCK_PATH, *(evidence_path(state.path) for state in states)}
    found: list[Finding] = []
    for raw in filter(None, listed.stdout.split(b"\0")):
        path = unicodedata.normalize("NFC", raw.decode("utf-8", "replace"))
        if path in hashed:
            message = "git ignores this file, so CI would not have it"
            hint = "take it out of .gitignore; a skill's file may also be named in the contract's lock.ignore"
            found.append(lock_finding(GIT_IGNORED, path, message, hint=hint))
    return tuple(found)
