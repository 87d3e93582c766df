"""A project as it lies on disk: contract, skills, suites. Owns loading all of it and saying all that is wrong at once.

Nothing here calls a model or writes a file. A broken part is a finding and never hides the others; a command that
needs the part to be whole asks :func:`require_usable` first. All rules see every sound case of a broken suite, and the
project has none of them: a suite is run and locked whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillassay.contract.contract import Contract, load_contract
from skillassay.errors import InputError
from skillassay.findings import Finding, Severity, downgrade, has_errors, register, sort_findings
from skillassay.patterns import pattern_problems
from skillassay.runs.plan import PlannedCase
from skillassay.skills.digest import SkillFiles
from skillassay.skills.discovery import SkillPackage, discover
from skillassay.skills.names import SkillNames
from skillassay.skills.skill import Skill
from skillassay.statistics.power import fewest_cases
from skillassay.suites.case import Case, RoutingCase, Suite, SuiteReading, load_routing, load_suite
from skillassay.suites.exposure import find_exposed
from skillassay.suites.references import reference_findings
from skillassay.suites.terms import terms_findings
from skillassay.suites.triggers import TriggerCase, load_triggers

if TYPE_CHECKING:
    from skillassay.checks.base import Check

SUITE_MISSING = register("suite.missing", "A suite that the contract names does not exist.")
UNKNOWN_SKILL = register(
    "suite.unknown-skill", "A case names a skill that does not exist, or two skills have the name."
)
BAD_CHECK = register("suite.bad-check", "A check of a case cannot be built: unknown type, bad pattern, missing field.")
SAMPLE = register("suite.sample-differs", "A check does not decide one of its own samples as stated.")
NO_SAMPLES = register("suite.no-samples", "A check lacks a sample that passes or one that fails, so it may be blind.")
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
    triggers: tuple[TriggerCase, ...] = ()

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
    names = SkillNames.of(discovery.packages)
    readings: list[SuiteReading] = []
    routing: list[RoutingCase] = []
    triggers: list[TriggerCase] = []
    if with_suites:
        readings = _load_suites(root, contract, found)
        routing = _load_routing(root, contract, names, found)
        triggers = _load_triggers(root, contract, names, found)
    examined = [examine_case(case, reading, names, found) for reading in readings for case in reading.draft.cases]
    whole = [item for item in examined if item.reading.suite is not None]
    project = Project(
        root=root,
        contract=contract,
        packages=discovery.packages,
        suites=tuple(reading.suite for reading in readings if reading.suite is not None),
        routing=tuple(routing),
        case_skills={item.key: item.skill_path for item in whole if item.skill_path is not None},
        checks={item.key: item.checks for item in whole},
        findings=(),
        triggers=tuple(triggers),
    )
    if readings and all(reading.is_complete for reading in readings):
        found += _few_cases(project, [item.skill_path for item in examined], readings[0].draft.path)
    skills = {package.path: package.files for package in discovery.packages if package.files is not None}
    # Behind the downgrade: what a candidate can read of the answers is never a matter of taste.
    exposed = find_exposed(root, contract, skills, [file.source for case in project.cases for file in case.files])
    return replace(project, findings=sort_findings([*downgrade(found, contract.downgrade), *exposed]))


def require_usable(project: Project, what: str) -> None:
    """Raise :class:`InputError` with all findings when one of them is an error."""
    if has_errors(project.findings):
        n_errors = sum(finding.severity is Severity.ERROR for finding in project.findings)
        raise InputError(
            f"{_counted(n_errors, 'problem')} must be solved before {what}",
            hint="mend them and call again",
            findings=project.findings,
        )


def _load_suites(root: Path, contract: Contract, found: list[Finding]) -> list[SuiteReading]:
    paths = _suite_paths(root, contract.quality_suites, "quality" in contract.suites_named, found)
    readings = [load_suite(root / path, shown_as=path) for path in paths]
    found += [item for reading in readings for item in (*reading.findings, *reference_findings(reading.draft))]
    names, seen = dict[str, str](), dict[str, str]()
    for suite in (reading.draft for reading in readings):
        if suite.name and suite.name in names:
            message = f"suite {suite.name!r} is also the name of {names[suite.name]}"
            found.append(_finding(SAME_SUITE, suite.path, message, "rename one"))
        names[suite.name] = suite.path
        found += terms_findings(suite.path, suite.terms, regression_max=contract.gate.regression_max)
        for case in suite.cases:
            if seen.get(case.id, suite.path) != suite.path:  # twice in one file is the reader's finding
                message = f"case {case.id!r} is also in {seen[case.id]}"
                hint = "ids are unique over all suites: rename one"
                found.append(_finding(SAME_CASE, suite.path, message, hint, line=case.line))
            seen[case.id] = suite.path
    return readings


def _load_routing(root: Path, contract: Contract, names: SkillNames, found: list[Finding]) -> list[RoutingCase]:
    """The routing cases of whole suites. A case that expects a skill nobody has is a finding: it could never pass."""
    cases: list[RoutingCase] = []
    for path in _suite_paths(root, contract.routing_suites, "routing" in contract.suites_named, found):
        loaded, findings = load_routing(root / path, shown_as=path)
        found += findings
        cases += () if findings else loaded
        for case in loaded:
            for name in case.expect_skills:
                if name not in names.by_name:
                    message = f"case {case.id!r}: there is no skill {name!r}"
                    found.append(_finding(UNKNOWN_SKILL, path, message, "name a skill", line=case.line))
            for problem in pattern_problems(case.expect_answer):
                found.append(_finding(BAD_CHECK, path, f"case {case.id!r}: {problem}", "mend it", line=case.line))
    return cases


def _load_triggers(root: Path, contract: Contract, names: SkillNames, found: list[Finding]) -> list[TriggerCase]:
    """The trigger cases of whole suites, each with the folder of its skill."""
    cases: list[TriggerCase] = []
    seen: dict[str, str] = {}
    for path in _suite_paths(root, contract.trigger_suites, "triggers" in contract.suites_named, found):
        loaded, findings = load_triggers(root / path, shown_as=path)
        found += findings
        for case in loaded:
            skill_path, problem = names.find(case.skill)
            if problem is not None:
                message = f"case {case.id!r}: {problem}"
                found.append(_finding(UNKNOWN_SKILL, path, message, "name a skill or its folder", line=case.line))
            if seen.setdefault(case.suite, path) != path:
                message = f"suite {case.suite!r} is also the name of {seen[case.suite]}"
                found.append(_finding(SAME_SUITE, path, message, "rename one"))
            cases.append(case.of(skill_path))
    return cases


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A case of sound shape after all rules: its skill, where there is one, and the checks that could be built."""

    reading: SuiteReading
    key: CaseKey
    skill_path: str | None
    checks: tuple[Check, ...]


def examine_case(case: Case, reading: SuiteReading, names: SkillNames, found: list[Finding]) -> Examined:
    """Hold one case of sound shape against all rules; what is wrong with it is added to ``found``."""
    suite_path = reading.draft.path
    skill_path, problem = names.find(case.skill)
    if problem is not None:
        message = f"case {case.id!r}: {problem}"
        found.append(_finding(UNKNOWN_SKILL, suite_path, message, "name a skill or its folder", line=case.line))
    checks = _build_checks(case, suite_path, found)
    return Examined(reading=reading, key=(case.suite, case.id), skill_path=skill_path, checks=checks)


def _build_checks(case: Case, path: str, found: list[Finding]) -> tuple[Check, ...]:
    # Imported here: patterns and schemas cost 20 ms, which only a project with a suite may pay.
    from skillassay import checks
    from skillassay.checks.base import SpecProblem

    built = []
    for index, spec in enumerate(case.checks):
        where = f"case {case.id!r}, check {spec['id']!r}"
        try:
            check = checks.build_check(spec, where=where)
        except SpecProblem as problem:
            found.append(_finding(BAD_CHECK, path, str(problem), "see docs/reference/checks.md", line=case.line))
            continue
        hint = "mend the check or the sample"
        wrong = [f"{where}: {message}" for message in checks.verify_samples(check)]
        found += [_finding(SAMPLE, path, message, hint, line=case.line) for message in wrong]
        if not checks.has_both_samples(spec):
            is_short = index < case.n_short_checks
            message = f"{where}: no sample that must pass and one that must fail"
            hint = ("write it under `checks` with" if is_short else "add") + ' "samples": {"pass": […], "fail": […]}'
            severity = Severity.NOTE if is_short else Severity.WARNING
            found.append(_finding(NO_SAMPLES, path, message, hint, line=case.line, severity=severity))
        built.append(check)
    return tuple(built)


def _few_cases(project: Project, skill_paths: Iterable[str | None], suite_path: str) -> list[Finding]:
    """Skills below the gate's number of graded cases: a warning, since the gate itself decides at a run.

    Under the rule ``bound`` a skill whose lift can never be shown is an error: the run would be paid for nothing.
    """
    counts = Counter(skill_paths)
    gate = project.contract.gate
    hint = f"add cases for it to {suite_path}"
    found = []
    for path in (ready.path for ready in project.usable):
        n_cases = counts[path]
        graded = _counted(n_cases, "graded case")
        if n_cases < gate.min_cases:
            message = f"{graded}, the gate requires {gate.min_cases}"
            found.append(_finding(FEW_CASES, path, message, hint, severity=Severity.WARNING))
        if gate.lift_rule == "bound" and 0 < n_cases < fewest_cases():
            message = f"{graded}, gate.lift_rule bound needs {fewest_cases()}: no interval of fewer lies above zero"
            found.append(_finding(BOUND_CASES, path, message, f"{hint}, or take the rule point"))
    return found


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _finding(
    code: str, path: str, message: str, hint: str, *, line: int | None = None, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(code=code, severity=severity, path=path, line=line, message=message, hint=hint)
