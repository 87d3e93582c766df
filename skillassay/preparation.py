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
from skillassay.contract import CONTRACT_PATH, Contract, Models, raised_quality_min
from skillassay.digest import read_files
from skillassay.errors import InputError, UsageError
from skillassay.expectation import Expectation
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.models.opening import FIXTURE, api_keys_in_environment, parse_model
from skillassay.plan import ALL_MODES, Mode, Plan, build_plan
from skillassay.process import Isolation, Limits, detect_isolation, git
from skillassay.project import Project, ReadySkill, load_project, require_usable
from skillassay.prompts import PromptSkill
from skillassay.tools import Catalog, CatalogSkill, ScriptPolicy, ToolFile, decode_text, script_policy

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that is settled before the first model call."""

    request: EvalRequest
    project: Project
    contract: Contract
    models: Models
    facts: RunFacts
    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]
    rules: FixtureRules | None
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.facts.plan

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
    rules = _fixture_rules(project, models)
    plan = _plan(project, request)
    if not plan.trials:
        raise InputError("nothing is planned: no skill has a case", hint="add cases to evals/quality.json")
    isolation = detect_isolation()
    catalog, shown = build_catalog(project.usable)
    return Prepared(
        request=request,
        project=project,
        contract=contract,
        models=models,
        facts=_facts(project, contract, plan, models),
        catalog=catalog,
        prompt_skills=shown,
        rules=rules,
        isolation=isolation,
        policy=script_policy(isolation, api_keys_in_environment(), allow_unisolated=request.allow_unisolated),
        limits=Limits(),
    )


def _fixture_rules(project: Project, models: Models) -> FixtureRules | None:
    providers = {parse_model(models.candidate)[0], parse_model(models.judge)[0]}
    return load_fixtures(project.root, project.contract) if FIXTURE in providers else None


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


def build_catalog(skills: Sequence[ReadySkill]) -> tuple[Catalog, tuple[PromptSkill, ...]]:
    """What a candidate may be offered: every readable skill, in the order of their names."""
    ordered = sorted(skills, key=lambda ready: (ready.skill.name, ready.path))
    catalog = Catalog(skills=tuple(_catalog_skill(ready) for ready in ordered))
    return catalog, tuple(_prompt_skill(skill) for skill in catalog.skills)


def _catalog_skill(ready: ReadySkill) -> CatalogSkill:
    skill = ready.skill
    return CatalogSkill(
        name=skill.name,
        path=ready.path,
        description=skill.description,
        frontmatter=skill.frontmatter,
        instructions=skill.body,
        files={entry.path: ToolFile(source=Path(entry.source), size=entry.size) for entry in ready.files.entries},
    )


def _prompt_skill(skill: CatalogSkill) -> PromptSkill:
    texts = {}
    for path, file in skill.files.items():
        if path.lower() == "skill.md" or path in skill.scripts:
            continue
        text = decode_text(file.source.read_bytes())
        if text is not None:
            texts[path] = text
    return PromptSkill(
        name=skill.name,
        path=skill.path,
        description=skill.description,
        instructions=skill.instructions,
        texts=texts,
        scripts=skill.scripts,
    )


def moved_skills(prepared: Prepared) -> tuple[str, ...]:
    """Paths of catalog skills whose bytes are no longer those the run began with."""
    moved = []
    for ready in prepared.project.usable:
        folder = prepared.project.root / ready.path
        files, _, _ = read_files(str(folder), path=ready.path, ignore=prepared.contract.lock.ignore)
        if files is None or files.digest != ready.digest:
            moved.append(ready.path)
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
        "settings": {
            "given": {"skills": list(request.skills), "cases": list(request.cases), "quality_min": request.quality_min},
            "jobs": request.jobs,
            "repeats": request.repeats,
            "allow_unisolated": request.allow_unisolated,
        },
        "git": git_state(project.root),
        "environment": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": {name: metadata.version(name) for name in PACKAGES},
            "host": socket.gethostname(),
            "cpus": os.cpu_count(),
        },
    }


def git_state(root: Path) -> dict[str, Json]:
    """Revision and dirty flag of the working tree; None for each where git or a repository is missing."""
    head = git(root, "rev-parse", "--verify", "-q", "HEAD")
    status = git(root, "status", "--porcelain", "--untracked-files=normal")
    revision = head.stdout.decode().strip() if head is not None and head.exit_code == 0 else None
    dirty = bool(status.stdout.strip()) if status is not None and status.exit_code == 0 else None
    return {"revision": revision, "dirty": dirty}
