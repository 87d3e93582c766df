"""The lock and the project on disk: states from skills and evidence, reading and checking. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skillassay import versions
from skillassay.canonical import Json, sha256_hex
from skillassay.contract.contract import CONTRACT_PATH
from skillassay.errors import InputError
from skillassay.findings import Finding, Severity, sort_findings
from skillassay.fixture.files import fixtures_digest
from skillassay.holdout.doubts import HoldoutState, inspect_holdout
from skillassay.locks.base_lock import base_findings
from skillassay.locks.binding import FIXED_PROMPTS
from skillassay.locks.evidence import Expected, InForce, NamedHoldout, read_evidence
from skillassay.locks.lock import BLOCKED, MISSING, SkillState, Terms, fixture_findings, unverifiable_findings, verify
from skillassay.locks.lockfile import LOCK_PATH, UNREADABLE, Lock, LockedSuite, lock_finding, parse_lock
from skillassay.people.waiving import waivers_in_force
from skillassay.project import Project, ReadySkill
from skillassay.regular import NotRegular, read_regular
from skillassay.suites.drift import SUITE_GONE
from skillassay.suites.facts import UNFILLED
from skillassay.suites.terms import all_terms_json


def lock_terms(project: Project) -> Terms:
    """The contract's rules for the lock."""
    terms = project.contract.lock
    return Terms(requires=terms.requires, require_evidence=terms.require_evidence, ignore=terms.ignore)


def build_states(project: Project) -> tuple[SkillState, ...]:
    """Every readable skill as the lock sees it."""
    contract = project.contract
    demanded = all_terms_json((suite.name, suite.terms) for suite in project.suites)
    terms = contract.binding(models=contract.models, prompts=FIXED_PROMPTS) | demanded
    cases: dict[str, dict[str, str]] = {}
    for case in project.cases:
        path = project.case_skills.get((case.suite, case.id))
        if path is not None:
            cases.setdefault(path, {})[f"{case.suite}/{case.id}"] = case.digest
    waivers, holdout = waivers_in_force(project), inspect_holdout(project)
    return tuple(
        with_holdout(_state(project, ready, cases.get(ready.path, {}), terms=terms, waivers=waivers), holdout)
        for ready in project.usable
    )


def with_holdout(state: SkillState, holdout: HoldoutState | None) -> SkillState:
    """The state of a skill with the holdout that its evidence must have used."""
    sealed = holdout.sealed if holdout is not None else None
    if holdout is None or sealed is None or state.path not in {case.skill for case in sealed.cases.values()}:
        return state
    named = NamedHoldout(suite=sealed.suite, version=sealed.version, digest=sealed.digest, doubt=holdout.doubt)
    return replace(state, expected=replace(state.expected, holdout=named))


def _state(project: Project, ready: ReadySkill, cases: dict[str, str], *, terms: Json, waivers: InForce) -> SkillState:
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
            skill_path=ready.path,
            version=version,
            skill_digest=ready.digest,
            cases=cases,
            terms=terms,
            requires=project.contract.lock.requires,
            waivers=waivers,
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
    """The suites as a lock keeps them; those of other kinds under ``KIND:NAME``, since their names are their own."""
    suites = {
        suite.name: LockedSuite(version=suite.version, cases={case.id: case.digest for case in suite.cases})
        for suite in project.suites
    }
    others: dict[str, dict[str, str]] = {}
    version: dict[str, str] = {}
    for kind, cases in (("routing", project.routing), ("triggers", project.triggers)):
        for case in cases:
            name = f"{kind}:{case.suite}"
            others.setdefault(name, {})[case.id] = case.digest
            version[name] = case.suite_version
    return suites | {name: LockedSuite(version=version[name], cases=others[name]) for name in others}


def read_lock(root: Path) -> tuple[Lock | None, tuple[Finding, ...]]:
    """The lock of the project; one finding when there is none, and findings when it cannot be read."""
    return read_lock_file(root / LOCK_PATH, shown_as=LOCK_PATH)


def read_lock_file(path: Path, *, shown_as: str) -> tuple[Lock | None, tuple[Finding, ...]]:
    """A lock that may lie anywhere, as :func:`read_lock`."""
    try:
        data = read_regular(path)
    except NotRegular as problem:
        hint = "remove what stands there, and restore the lock from version control"
        return None, (lock_finding(UNREADABLE, shown_as, f"cannot be read: {problem}", hint=hint),)
    except FileNotFoundError:
        hint = "run `skillassay eval`, then `skillassay lock`"
        return None, (lock_finding(MISSING, shown_as, "there is no lock, so nothing is verified", hint=hint),)
    except OSError as error:
        raise InputError(f"{shown_as} cannot be read: {error.strerror}") from error
    return parse_lock(data, path=shown_as)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockCheck:
    """What a check of the lock found. ``readable`` is false when there is no lock that could be compared;
    ``by_dependent_judge`` are the skills whose evidence rests on a judge that is not known to be independent."""

    findings: tuple[Finding, ...]
    readable: bool
    n_skills: int
    by_dependent_judge: tuple[str, ...] = ()


def check_lock(project: Project, *, base: str | None = None) -> LockCheck:
    """Compare tree and lock, and the lock with the one at the git revision ``base``. Raises :class:`InputError`."""
    states = build_states(project)
    blocked = blocked_findings(project)
    lock, findings = read_lock(project.root)
    if lock is None:
        missing = any(finding.code == MISSING for finding in findings)
        if missing and not project.cases:
            # Nothing can be evaluated yet; the ratchet of a project without cases lets it be locked as it is.
            findings = tuple(replace(finding, hint="run `skillassay lock`") for finding in findings)
        return LockCheck(findings=(*blocked, *findings), readable=missing, n_skills=len(states))
    # A skill that cannot be read is in the tree all the same, and neither gone nor as it was locked.
    broken = unreadable_skills(project)
    readable = replace(lock, skills={path: entry for path, entry in lock.skills.items() if path not in broken})
    found = [*blocked, *unverifiable_findings(path for path in broken if path in lock.skills)]
    found += verify(states, locked_suites(project), readable, lock_terms(project))
    if _has_broken_suite(project):
        # A suite that cannot be read is not gone; its own findings are errors.
        found = [finding for finding in found if finding.code != SUITE_GONE]
    if any(state.evidence is not None and state.evidence.fixtures is not None for state in states):
        found += fixture_findings(states, fixtures_digest(project.root, project.contract.fixtures))
    if base is not None:
        # Imported here: starting git is for --base alone, and its module costs every check 6 ms.
        from skillassay.locks.revisions import lock_at

        found += base_findings(lock, lock_at(project.root, base, where_they_part=True), base)
    dependent = tuple(s.path for s in states if s.evidence is not None and s.evidence.by_dependent_judge)
    return LockCheck(findings=sort_findings(found), readable=True, n_skills=len(states), by_dependent_judge=dependent)


def blocking_findings(project: Project) -> tuple[Finding, ...]:
    """What keeps a project from being locked: broken contract or suites, and skills that have no digest.

    A skill that merely breaks a rule of the specification can be locked; ``check`` still reports it. So can skills
    beside a suite of skeletons that was never locked: its cases are not there yet, and nothing rests on them.
    """
    unreadable = unreadable_skills(project)
    found = [
        finding
        for finding in project.findings
        if finding.severity is Severity.ERROR
        and finding.code != UNFILLED
        and (not finding.code.startswith("skill.") or _folder_of(finding.path) in unreadable)
    ]
    return (*found, *unverifiable_findings(unreadable))


def blocked_findings(project: Project) -> tuple[Finding, ...]:
    """The contract's manual block: as long as it stands, nothing is locked and nothing counts as proven."""
    why = project.contract.gate.manual_block
    if why is None:
        return ()
    hint = "remove gate.manual_block when its cause is gone"
    return (lock_finding(BLOCKED, CONTRACT_PATH, f"gate.manual_block: {why}", hint=hint),)


def unreadable_skills(project: Project) -> tuple[str, ...]:
    """The folders of skills that are in the tree and have no state: they could not be read whole."""
    usable = {ready.path for ready in project.usable}
    return tuple(package.path for package in project.packages if package.path not in usable)


def _has_broken_suite(project: Project) -> bool:
    errors = (finding.code for finding in project.findings if finding.severity is Severity.ERROR)
    return any(code.startswith(("suite.", "file.")) and code != UNFILLED for code in errors)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."
