"""A project as it lies on disk: contract, skills, suites. Owns loading all of it and saying all that is wrong at once.

Nothing here calls a model or writes a file. A broken part is a finding and never hides the others; a command that
needs the part to be whole asks :func:`require_usable` first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillassay.case import Case, RoutingCase, Suite, load_routing, load_suite
from skillassay.contract import Contract, load_contract
from skillassay.digest import SkillFiles
from skillassay.discovery import SkillPackage, discover
from skillassay.errors import InputError
from skillassay.findings import Finding, Severity, downgrade, has_errors, register, sort_findings
from skillassay.plan import PlannedCase
from skillassay.skill import Skill
from skillassay.stats import MIN_PAIRS

if TYPE_CHECKING:
    from skillassay.checks.base import Check

SUITE_MISSING = register("suite.missing", "A suite that the contract names does not exist.")
UNKNOWN_SKILL = register(
    "suite.unknown-skill", "A case names a skill that does not exist, or two skills have the name."
)
BAD_CHECK = register("suite.bad-check", "A check of a case cannot be built: unknown type, bad pattern, missing field.")
SAMPLE = register("suite.sample-differs", "A check does not decide one of its own samples as stated.")
NO_SAMPLES = register("suite.no-samples", "A pattern has no sample of both kinds, so nothing shows that it can match.")
FEW_CASES = register("suite.few-cases", "A skill has fewer graded cases than the gate requires.")
SAME_CASE = register("suite.same-case", "Two suites have a case of the same id.")
SAME_SUITE = register("suite.same-name", "Two suites have one name, so that the lock would keep only one of them.")
BOUND_CASES = register("suite.too-few-for-bound", "Under gate.lift_rule bound a skill has too few cases.")

CaseKey = tuple[str, str]
"""A case by (suite name, case id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadySkill:
    """A skill that could be read whole: what it says, its files, their digest."""

    path: str
    skill: Skill
    files: SkillFiles
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything that was loaded. ``case_skills`` maps a case to the path of its skill."""

    root: Path
    contract: Contract
    packages: tuple[SkillPackage, ...]
    suites: tuple[Suite, ...]
    routing: tuple[RoutingCase, ...]
    case_skills: Mapping[CaseKey, str]
    checks: Mapping[CaseKey, tuple[Check, ...]]
    findings: tuple[Finding, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """All quality cases, by suite and in file order."""
        return tuple(case for suite in self.suites for case in suite.cases)

    @property
    def usable(self) -> tuple[ReadySkill, ...]:
        """The skills that could be read with all their files, by path."""
        return tuple(
            ReadySkill(path=package.path, skill=package.skill, files=package.files, digest=package.files.digest)
            for package in self.packages
            if package.skill is not None and package.files is not None and package.files.digest is not None
        )

    def planned_cases(self) -> tuple[PlannedCase, ...]:
        """Cases of readable skills with what their trials' ids are made from."""
        digests = {ready.path: ready.digest for ready in self.usable}
        return tuple(
            PlannedCase(case=case, skill_path=path, skill_digest=digests[path])
            for case in self.cases
            if (path := self.case_skills.get((case.suite, case.id))) in digests and path is not None
        )

    def case_digests(self, skill_path: str) -> dict[str, str]:
        """The digests of a skill's own cases by ``suite/id``."""
        return {
            f"{case.suite}/{case.id}": case.digest
            for case in self.cases
            if self.case_skills.get((case.suite, case.id)) == skill_path
        }


def load_project(root: Path, *, with_suites: bool = True) -> Project:
    """Load the project at ``root``. Every problem of every part is in ``findings``, sorted."""
    contract, findings = load_contract(root)
    found: list[Finding] = list(findings)
    contract = contract or Contract()
    discovery = discover(root, globs=contract.skills, ignore=contract.lock.ignore)
    found += discovery.all_findings
    suites: list[Suite] = []
    routing: list[tuple[str, RoutingCase]] = []
    if with_suites:
        suites, problems = _load_suites(root, contract)
        routing, more = _load_routing(root, contract)
        found += [*problems, *more]
    names, skills = _Names.of(discovery.packages), {}
    found += _unknown_routes(routing, names)
    built: dict[CaseKey, tuple[Check, ...]] = {}
    for suite in suites:
        for case in suite.cases:
            key = (case.suite, case.id)
            path, problem = names.find(case.skill)
            if path is not None:
                skills[key] = path
            if problem is not None:
                message = f"case {case.id!r}: {problem}"
                found.append(_at(case.line, UNKNOWN_SKILL, suite.path, message, "name a skill or its folder"))
            built[key] = _build_checks(case, suite.path, found)
    project = Project(
        root=root,
        contract=contract,
        packages=discovery.packages,
        suites=tuple(suites),
        routing=tuple(case for _, case in routing),
        case_skills=skills,
        checks=built,
        findings=(),
    )
    found += _few_cases(project)
    return replace(project, findings=sort_findings(downgrade(found, contract.downgrade)))


def require_usable(project: Project, what: str) -> None:
    """Raise :class:`InputError` with all findings when one of them is an error."""
    if has_errors(project.findings):
        n_errors = sum(finding.severity is Severity.ERROR for finding in project.findings)
        raise InputError(
            f"{n_errors} problems must be solved before {what}",
            hint="mend them and call again",
            findings=project.findings,
        )


def _load_suites(root: Path, contract: Contract) -> tuple[list[Suite], list[Finding]]:
    suites: list[Suite] = []
    found: list[Finding] = []
    for name in _suite_paths(root, contract.quality_suites, "quality" in contract.suites_named, found):
        suite, findings = load_suite(root / name, shown_as=name)
        found += findings
        if suite is not None:
            suites.append(suite)
    names: dict[str, str] = {}
    seen: dict[str, str] = {}
    for suite in suites:
        if suite.name in names:
            message = f"suite {suite.name!r} is also the name of {names[suite.name]}"
            found.append(_finding(SAME_SUITE, suite.path, message, "rename one"))
        names[suite.name] = suite.path
        for case in suite.cases:
            if case.id in seen:
                message = f"case {case.id!r} is also in {seen[case.id]}"
                found.append(
                    _at(case.line, SAME_CASE, suite.path, message, "ids are unique over all suites: rename one")
                )
            seen[case.id] = suite.path
    return suites, found


def _load_routing(root: Path, contract: Contract) -> tuple[list[tuple[str, RoutingCase]], list[Finding]]:
    """Routing cases, each with the path of its suite."""
    cases: list[tuple[str, RoutingCase]] = []
    found: list[Finding] = []
    for name in _suite_paths(root, contract.routing_suites, "routing" in contract.suites_named, found):
        loaded, findings = load_routing(root / name, shown_as=name)
        cases += [(name, case) for case in loaded]
        found += findings
    return cases, found


def _suite_paths(root: Path, names: Iterable[str], are_named: bool, found: list[Finding]) -> list[str]:  # noqa: FBT001
    """The suites that exist under these paths and globs, each once, in order; those that are named must exist."""
    paths: dict[str, None] = {}
    for name in names:
        is_glob = any(sign in name for sign in "*?[")
        hits = sorted(hit.relative_to(root).as_posix() for hit in root.glob(name)) if is_glob else [name]
        hits = [hit for hit in hits if (root / hit).exists()]
        if not hits and are_named:
            message = "the contract names this suite and it does not exist"
            found.append(_finding(SUITE_MISSING, name, message, "write it"))
        paths |= dict.fromkeys(hits)
    return list(paths)


def _unknown_routes(routing: Iterable[tuple[str, RoutingCase]], names: _Names) -> list[Finding]:
    """Routing cases that expect a skill nobody has: they could never pass."""
    return [
        _at(case.line, UNKNOWN_SKILL, path, f"case {case.id!r}: there is no skill {name!r}", "name a skill")
        for path, case in routing
        for name in case.expect_skills
        if name not in names.by_name
    ]


@dataclass(frozen=True, slots=True)
class _Names:
    """Skills by what a case may call them: folder path, or name where only one skill has it."""

    by_path: frozenset[str]
    by_name: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, packages: Iterable[SkillPackage]) -> _Names:
        names: dict[str, tuple[str, ...]] = {}
        paths = set()
        for package in packages:
            paths.add(package.path)
            # An unreadable skill is still there: a case about it is not about an unknown skill.
            name = package.skill.name if package.skill is not None else package.path.rsplit("/", 1)[-1]
            names[name] = (*names.get(name, ()), package.path)
        return cls(frozenset(paths), names)

    def find(self, called: str) -> tuple[str | None, str | None]:
        if called in self.by_path:
            return called, None
        paths = self.by_name.get(called, ())
        if len(paths) == 1:
            return paths[0], None
        if paths:
            return None, f"skill {called!r} is ambiguous: {', '.join(paths)}"
        return None, f"there is no skill {called!r}"


def _build_checks(case: Case, path: str, found: list[Finding]) -> tuple[Check, ...]:
    # Imported here: patterns and schemas cost 20 ms, which only a project with a suite may pay.
    from skillassay import checks
    from skillassay.checks.base import SpecProblem

    built = []
    for spec in case.checks:
        where = f"case {case.id!r}, check {spec['id']!r}"
        try:
            check = checks.build_check(spec, where=where)
        except SpecProblem as problem:
            found.append(_at(case.line, BAD_CHECK, path, f"{where}: {problem}", "see docs/reference/checks.md"))
            continue
        hint = "mend the check or the sample"
        found += [_at(case.line, SAMPLE, path, f"{where}: {message}", hint) for message in checks.verify_samples(check)]
        if spec["type"] in {"regex", "not_regex"} and not checks.has_both_samples(spec):
            message = f"{where}: no sample that it must match and one that it must not"
            hint = 'add "samples": {"pass": […], "fail": […]}'
            found.append(_at(case.line, NO_SAMPLES, path, message, hint, severity=Severity.NOTE))
        built.append(check)
    return tuple(built)


def _few_cases(project: Project) -> list[Finding]:
    """Skills below the gate's number of graded cases: a warning, since the gate itself decides at a run.

    Under the rule ``bound`` a skill whose lift can have no interval is an error: the run would be paid for nothing.
    """
    if not project.suites:
        return []
    counts = dict.fromkeys((ready.path for ready in project.usable), 0)
    for path in project.case_skills.values():
        if path in counts:
            counts[path] += 1
    gate = project.contract.gate
    found = []
    for path, n_cases in counts.items():
        hint = f"add cases for it to {project.suites[0].path}"
        if n_cases < gate.min_cases:
            message = f"{n_cases} graded cases, the gate requires {gate.min_cases}"
            found.append(_finding(FEW_CASES, path, message, hint, severity=Severity.WARNING))
        if gate.lift_rule == "bound" and 0 < n_cases < MIN_PAIRS:
            message = f"{n_cases} graded cases, gate.lift_rule bound needs {MIN_PAIRS}: fewer have no interval"
            found.append(_finding(BOUND_CASES, path, message, f"{hint}, or take the rule point"))
    return found


def _at(
    line: int | None, code: str, path: str, message: str, hint: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    return replace(_finding(code, path, message, hint, severity=severity), line=line)


def _finding(code: str, path: str, message: str, hint: str, *, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code=code, severity=severity, path=path, message=message, hint=hint)
