"""The lock and the project on disk: states from skills and evidence, reading, checking, writing. Owns file access.

A check reads and never writes. Writing puts the evidence files in place first and the lock last, each atomically, so
that a kill in between leaves a lock that a check refuses and that locking again completes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay import versions
from skillassay.canonical import digest_of, sha256_hex, write_atomic
from skillassay.errors import InputError, StoreError
from skillassay.evidence import Expected, read_evidence
from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.lock import MISSING, SkillState, Terms, base_findings, lock_finding, verify
from skillassay.lockfile import LOCK_PATH, Lock, LockedSuite, parse_lock, render_lock
from skillassay.preparation import fixed_prompts
from skillassay.process import git
from skillassay.project import Project, ReadySkill
from skillassay.proof import find_proof
from skillassay.relock import Options, Relock, plan_relock

GIT_IGNORED = register("lock.git-ignored", "A file of a skill is ignored by git, so CI would not have it.")


def lock_terms(project: Project) -> Terms:
    """The contract's rules for the lock."""
    terms = project.contract.lock
    return Terms(requires=terms.requires, require_evidence=terms.require_evidence, ignore=terms.ignore)


def build_states(project: Project) -> tuple[SkillState, ...]:
    """Every readable skill as the lock sees it."""
    contract = project.contract
    binding = digest_of(contract.binding(models=contract.models, prompts=fixed_prompts()))
    cases: dict[str, dict[str, str]] = {}
    for case in project.cases:
        path = project.case_skills.get((case.suite, case.id))
        if path is not None:
            cases.setdefault(path, {})[f"{case.suite}/{case.id}"] = case.digest
    return tuple(_state(project, ready, cases.get(ready.path, {}), binding) for ready in project.usable)


def _state(project: Project, ready: ReadySkill, cases: dict[str, str], binding: str) -> SkillState:
    data, evidence, problem = read_evidence(project.root, ready.path)
    version = ready.skill.version
    usable = version is not None and versions.is_semver(version)
    return SkillState(
        path=ready.path,
        name=ready.skill.name,
        version=version if usable else None,
        version_problem=_version_problem(version),
        digest=ready.digest,
        files={entry.path: entry.sha256 for entry in ready.files.entries},
        expected=Expected(
            skill_digest=ready.digest, cases=cases, binding=binding, requires=project.contract.lock.requires
        ),
        evidence=evidence,
        evidence_sha256=None if data is None else sha256_hex(data),
        evidence_problem=problem,
    )


def _version_problem(version: str | None) -> str | None:
    if version is None:
        return "no metadata.version"
    return None if versions.is_semver(version) else f"metadata.version {version!r} is not semver (1.2.3)"


def locked_suites(project: Project) -> dict[str, LockedSuite]:
    """The suites as a lock keeps them."""
    return {
        suite.name: LockedSuite(version=suite.version, cases={case.id: case.digest for case in suite.cases})
        for suite in project.suites
    }


def read_lock(root: Path) -> tuple[Lock | None, tuple[Finding, ...]]:
    """The lock of the project; one finding when there is none, and findings when it cannot be read."""
    path = root / LOCK_PATH
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        hint = "run `skillassay eval`, then `skillassay lock`"
        return None, (lock_finding(MISSING, LOCK_PATH, "there is no lock, so nothing is verified", hint=hint),)
    except OSError as error:
        raise InputError(f"{LOCK_PATH} cannot be read: {error.strerror}") from error
    return parse_lock(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockCheck:
    """What a check of the lock found. ``readable`` is false when there is no lock that could be compared."""

    findings: tuple[Finding, ...]
    readable: bool
    n_skills: int


def check_lock(project: Project, *, base: str | None = None) -> LockCheck:
    """Compare tree and lock, and the lock with the one at the git revision ``base``. Raises :class:`InputError`."""
    states = build_states(project)
    lock, findings = read_lock(project.root)
    if lock is None:
        missing = any(finding.code == MISSING for finding in findings)
        return LockCheck(findings=findings, readable=missing, n_skills=len(states))
    found = verify(states, locked_suites(project), lock, lock_terms(project))
    if base is not None:
        found += base_findings(lock, lock_at(project.root, base), base)
    return LockCheck(findings=sort_findings(found), readable=True, n_skills=len(states))


def lock_at(root: Path, ref: str) -> Lock:
    """The lock at a git revision; an empty one where the revision has none. Raises :class:`InputError`."""
    known = git(root, "rev-parse", "--verify", "-q", "--end-of-options", f"{ref}^{{commit}}")
    if known is None or known.exit_code != 0:
        hint = "fetch it (CI: check out with full history), or name another revision"
        raise InputError(f"there is no git revision {ref!r} here", hint=hint)
    revision = known.stdout.decode().strip()
    shown = git(root, "show", f"{revision}:./{LOCK_PATH}")
    if shown is None or shown.exit_code != 0:
        return Lock(skills={}, suites={})
    lock, findings = parse_lock(shown.stdout, path=f"{LOCK_PATH} at {ref}")
    if lock is None:
        raise InputError(f"the lock at {ref} cannot be read", findings=findings)
    return lock


def blocking_findings(project: Project) -> tuple[Finding, ...]:
    """What keeps a project from being locked: broken contract or suites, and skills that have no digest.

    A skill that merely breaks a rule of the specification can be locked; ``check`` still reports it.
    """
    unreadable = {p.path for p in project.packages} - {ready.path for ready in project.usable}
    return tuple(
        finding
        for finding in project.findings
        if finding.severity is Severity.ERROR
        and (not finding.code.startswith("skill.") or _folder_of(finding.path) in unreadable)
    )


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


def prepare_lock(
    project: Project, *, no_evidence: bool = False, rebuild: bool = False, only: Sequence[str] = ()
) -> Relock:
    """Decide on a new lock without writing it. Raises :class:`InputError` when project or lock cannot be read."""
    blocking = blocking_findings(project)
    if blocking:
        raise InputError("nothing was locked", hint="mend these first", findings=blocking)
    old = _old_lock(project.root, rebuild=rebuild)
    states = build_states(project)
    if only:
        states = tuple(state for state in states if _is_named(state, only))
    proofs = {
        state.path: proof
        for state in states
        if (proof := find_proof(project.root, state.expected, state.path)) is not None
    }
    relock = plan_relock(
        states,
        proofs,
        old=old,
        suites=locked_suites(project),
        options=Options(terms=lock_terms(project), no_evidence=no_evidence, only_some=bool(only)),
    )
    ignored = _git_ignored(project.root, states)
    if ignored:
        relock = Relock(
            lock=relock.lock, writes=relock.writes, lines=relock.lines, refusals=(*relock.refusals, *ignored)
        )
    return relock


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


def write_lock(root: Path, relock: Relock) -> bool:
    """Write evidence and lock. Returns whether a byte changed. Raises :class:`StoreError`."""
    changed = False
    try:
        for path, data in (*relock.writes, (LOCK_PATH, render_lock(relock.lock))):
            target = root / path
            if not target.exists() or target.read_bytes() != data:
                write_atomic(target, data)
                changed = True
    except OSError as error:
        raise StoreError(f"the lock cannot be written: {error}", hint="free space or fix permissions") from error
    return changed


def _git_ignored(root: Path, states: Sequence[SkillState]) -> tuple[Finding, ...]:
    """Files of skills that git would not commit. Without git or outside a repository there are none to find."""
    paths = [name if state.path == "." else f"{state.path}/{name}" for state in states for name in state.files]
    found: list[Finding] = []
    for start in range(0, len(paths), 500):
        result = git(root, "check-ignore", "-z", "--", *paths[start : start + 500])
        if result is None or result.exit_code not in {0, 1}:
            return ()
        for raw in filter(None, result.stdout.split(b"\0")):
            path = raw.decode("utf-8", "replace")
            message = "git ignores this file of a skill, so CI would compute another digest"
            hint = "commit it with `git add -f`, or name it in the contract's lock.ignore"
            found.append(lock_finding(GIT_IGNORED, path, message, hint=hint))
    return tuple(found)
