"""From a request to everything a run needs, without calling a model. Owns selection, refusals and the run's header.

Every problem of skills, suites, contract and fixtures is shown at once, and any error stops here.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import skillassay
from skillassay.assessment import RunFacts, facts_to_json
from skillassay.binding import FIXED_PROMPTS
from skillassay.canonical import Json, digest_of
from skillassay.case import Case, load_suite
from skillassay.contract import CONTRACT_PATH, Contract, Models, raised_quality_min
from skillassay.digest import read_files
from skillassay.errors import InputError, UsageError
from skillassay.expectation import Expectation
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.models.opening import FIXTURE, api_keys_in_environment, parse_model, require_rules
from skillassay.plan import ALL_MODES, Mode, Plan, build_plan
from skillassay.process import Isolation, Limits, detect_isolation, git
from skillassay.project import Project, ReadySkill, load_project, require_usable
from skillassay.snapshot import build_catalog
from skillassay.tools import ScriptPolicy, script_policy

PACKAGES = ("google-genai", "jsonschema", "pyyaml", "regex", "semver")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What a command asks for. Empty selections mean everything; None means what the contract says."""

    root: Path
    skills: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ALL_MODES
    repeats: int = 1
    jobs: int = 4
    model: str | None = None
    judge_model: str | None = None
    quality_min: str | None = None
    allow_unisolated: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that is settled before the first model call."""

    request: EvalRequest
    project: Project
    contract: Contract
    models: Models
    facts: RunFacts
    rules: FixtureRules | None
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.facts.plan

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases that have a trial."""
        planned = {(trial.suite, trial.case_id) for trial in self.plan.trials}
        return tuple(case for case in self.project.cases if (case.suite, case.id) in planned)

    @property
    def binding(self) -> Json:
        """What evidence of this run is bound to besides bytes and cases."""
        return self.contract.binding(models=self.models, prompts=FIXED_PROMPTS)


def prepare(request: EvalRequest) -> Prepared:
    """Load, select and plan. Raises :class:`InputError` with all findings, or :class:`UsageError`."""
    project = load_project(request.root)
    require_usable(project, "an evaluation")
    contract = project.contract
    gate = replace(contract.gate, quality_min=raised_quality_min(contract.gate, request.quality_min))
    contract = replace(contract, gate=gate)
    models = Models(
        candidate=request.model or contract.candidate.model,
        judge=request.judge_model or request.model or contract.judge.model,
    )
    plan = _plan(project, request)
    if not plan.trials:
        raise InputError("nothing is planned: no skill has a case", hint="add cases to evals/quality.json")
    rules = _fixture_rules(project, models, needed=not request.dry_run)
    isolation = detect_isolation()
    build_catalog(project.usable)  # refuses two skills of one name; the files are copied when the run begins
    return Prepared(
        request=request,
        project=project,
        contract=contract,
        models=models,
        facts=_facts(project, contract, plan, models),
        rules=rules,
        isolation=isolation,
        policy=script_policy(isolation, api_keys_in_environment(), allow_unisolated=request.allow_unisolated),
        limits=Limits(),
    )


def _fixture_rules(project: Project, models: Models, *, needed: bool) -> FixtureRules | None:
    providers = {parse_model(models.candidate)[0], parse_model(models.judge)[0]}
    if FIXTURE not in providers:
        return None
    rules = load_fixtures(project.root, project.contract)
    return require_rules(rules) if needed else rules


def load_fixtures(root: Path, contract: Contract) -> FixtureRules:
    """The authored answers that the contract names. Raises :class:`InputError` with all findings."""
    paths = sorted({path for glob in contract.fixtures for path in root.glob(glob) if path.is_file()})
    rules, findings = load_rules(paths, root=root)
    if rules is None:
        raise InputError("the fixtures cannot be used", hint="see docs/reference/fixtures.md", findings=findings)
    return rules


def _plan(project: Project, request: EvalRequest) -> Plan:
    cases = project.planned_cases()
    chosen = frozenset(
        (item.case.suite, item.case.id)
        for item in cases
        if _is_chosen(item.skill_path, request.skills) and (not request.cases or item.case.id in request.cases)
    )
    _refuse_unknown(request.cases, {item.case.id for item in cases}, "case")
    _refuse_unknown(request.skills, _called(project.usable), "skill")
    return build_plan(cases, chosen=chosen, modes=request.modes, repeats=request.repeats)


def _is_chosen(path: str, wanted: Sequence[str]) -> bool:
    return not wanted or path in wanted or path.rsplit("/", 1)[-1] in wanted


def _called(skills: Iterable[ReadySkill]) -> set[str]:
    return {name for ready in skills for name in (ready.path, ready.path.rsplit("/", 1)[-1])}


def _refuse_unknown(wanted: Iterable[str], known: set[str], what: str) -> None:
    for name in wanted:
        if name not in known:
            shown = ", ".join(sorted(known)[:20]) or "none"
            raise UsageError(f"there is no {what} {name!r}", hint=f"{what}s: {shown}")


def _facts(project: Project, contract: Contract, plan: Plan, models: Models) -> RunFacts:
    cases = project.cases
    graded: dict[str, int] = {}
    for path in project.case_skills.values():
        graded[path] = graded.get(path, 0) + 1
    providers = {parse_model(models.candidate)[0], parse_model(models.judge)[0]}
    return RunFacts(
        plan=plan,
        gate=contract.gate,
        is_fixture=FIXTURE in providers,
        estimated_tokens=parse_model(models.candidate)[0] == FIXTURE,
        critical_cases=frozenset((case.suite, case.id) for case in cases if case.critical),
        critical_criteria=frozenset((c.suite, c.id) for c in cases if any(item.critical for item in c.rubric)),
        graded_cases=graded,
        expected={
            (case.suite, case.id): Expectation(skills=case.expect_skills, scripts=case.expect_scripts)
            for case in cases
            if case.expect_skills is not None or case.expect_scripts is not None
        },
        slices={(case.suite, case.id): case.slice for case in cases if case.slice is not None},
    )


def moved_paths(prepared: Prepared) -> tuple[str, ...]:
    """Catalog skills, and suites with their cases' files, that are no longer what the run began with.

    No trial has seen the difference; but evidence would speak of files that are not there any more.
    """
    project, ignore = prepared.project, prepared.contract.lock.ignore
    moved = []
    for ready in project.usable:
        files, _, _ = read_files(str(project.root / ready.path), path=ready.path, ignore=ignore)
        if files is None or files.digest != ready.digest:
            moved.append(ready.path)
    planned = {trial.suite for trial in prepared.plan.trials}
    for suite in project.suites:
        if suite.name in planned:
            now = load_suite(project.root / suite.path, shown_as=suite.path).suite
            if now is None or now.digest != suite.digest:
                moved.append(suite.path)
    return tuple(moved)


def build_header(prepared: Prepared, *, run_id: str, created_at: str, models: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a record says about a run before it starts. Holds no key and no header of a request."""
    project, request = prepared.project, prepared.request
    return {
        "id": run_id,
        "created_at": created_at,
        "skillassay": skillassay.__version__,
        "contract": {"path": prepared.contract.path or f"defaults (no {CONTRACT_PATH})", "binding": prepared.binding},
        "binding_digest": digest_of(prepared.binding),
        "models": dict(models),
        "skills": {
            ready.path: {"name": ready.skill.name, "version": ready.skill.version, "digest": ready.digest}
            for ready in project.usable
        },
        "suites": {suite.name: {"version": suite.version, "digest": suite.digest} for suite in project.suites},
        "cases": {f"{case.suite}/{case.id}": case.digest for case in project.cases},
        "fixture_digest": prepared.rules.digest if prepared.rules is not None else None,
        "facts": facts_to_json(prepared.facts),
        "isolation": {"level": prepared.isolation.name.lower(), "scripts": prepared.policy.why},
        "settings": _settings(request),
        "git": git_state(project.root),
        "environment": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": {name: metadata.version(name) for name in PACKAGES},
            "host": socket.gethostname(),
            "cpus": os.cpu_count(),
        },
    }


def _settings(request: EvalRequest) -> dict[str, Json]:
    return {
        "given": {
            "skills": list(request.skills),
            "cases": list(request.cases),
            "modes": [mode.value for mode in request.modes],
            "model": request.model,
            "judge_model": request.judge_model,
            "quality_min": request.quality_min,
        },
        "jobs": request.jobs,
        "repeats": request.repeats,
        "allow_unisolated": request.allow_unisolated,
    }


def git_state(root: Path) -> dict[str, Json]:
    """Revision and dirty flag of the working tree; None for each where git or a repository is missing."""
    head = git(root, "rev-parse", "--verify", "-q", "HEAD")
    status = git(root, "status", "--porcelain", "--untracked-files=normal")
    revision = head.stdout.decode().strip() if head is not None and head.exit_code == 0 else None
    dirty = bool(status.stdout.strip()) if status is not None and status.exit_code == 0 else None
    return {"revision": revision, "dirty": dirty}
