"""The lock and the project on disk: states from skills and evidence, reading and checking. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skillassay import versions
from skillassay.binding import FIXED_PROMPTS
from skillassay.canonical import digest_of, sha256_hex
from skillassay.errors import InputError
from skillassay.evidence import Expected, read_evidence
from skillassay.findings import Finding, Severity, sort_findings
from skillassay.lock import MISSING, SkillState, Terms, base_findings, lock_finding, verify
from skillassay.lockfile import LOCK_PATH, Lock, LockedSuite, parse_lock
from skillassay.project import Project, ReadySkill


def lock_terms(project: Project) -> Terms:
    """The contract's rules for the lock."""
    terms = project.contract.lock
    return Terms(requires=terms.requires, require_evidence=terms.require_evidence, ignore=terms.ignore)


def build_states(project: Project) -> tuple[SkillState, ...]:
    """Every readable skill as the lock sees it."""
    contract = project.contract
    binding = digest_of(contract.binding(models=contract.models, prompts=FIXED_PROMPTS))
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
    # A skill that cannot be read is in the tree all the same; its own findings say what is wrong with it.
    broken = {package.path for package in project.packages} - {state.path for state in states}
    readable = replace(lock, skills={path: entry for path, entry in lock.skills.items() if path not in broken})
    found = verify(states, locked_suites(project), readable, lock_terms(project))
    if base is not None:
        # Imported here: starting git is for --base alone, and its module costs every check 6 ms.
        from skillassay.revisions import lock_at

        found += base_findings(lock, lock_at(project.root, base), base)
    return LockCheck(findings=sort_findings(found), readable=True, n_skills=len(states))


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
