"""From a request to everything a run needs, without calling a model. Owns selection and refusals.

Every problem of skills, suites, contract and fixtures is shown at once, and any error stops here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.agents.known import own_model_of
from skillassay.calibration.references import references_of
from skillassay.canonical import Json
from skillassay.contract.contract import Contract, Models, raised_quality_min
from skillassay.errors import InputError, UsageError
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.holdout.doubts import (
    RELEASE,
    HoldoutState,
    asked_of,
    inspect_holdout,
    join_holdout,
    left_out_suite,
    moved_holdout,
    use_of,
)
from skillassay.isolation.process import Isolation, Limits, require_isolation
from skillassay.locks.binding import FIXED_PROMPTS
from skillassay.models.naming import FIXTURE, OFFLINE, parse_model
from skillassay.models.opening import api_keys_in_environment, require_rules
from skillassay.project import CaseKey, Project, ReadySkill, load_project, require_usable
from skillassay.runs.keeping import refuse_keeping
from skillassay.runs.plan import ALL_MODES, Mode, Plan, PlannedCase, build_plan
from skillassay.runs.snapshot import build_catalog
from skillassay.scoring.assessment import RunFacts
from skillassay.skills.digest import read_files
from skillassay.skills.earlier import Earlier, earlier_of
from skillassay.subjects.opening import confirmed_subject
from skillassay.suites.case import Case, load_suite
from skillassay.suites.expectation import Expectation
from skillassay.suites.traits import traits_of
from skillassay.tools import ScriptPolicy, script_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What a command asks for. Empty selections mean everything; None means what the contract says.

    Whether the contract's ``holdout`` is planned; None leaves it to the purpose: a run for tuning does not. ``base``
    adds the mode ``previous`` for the skills that have another state there, and asks for it where ``modes`` has it.
    """

    root: Path
    skills: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ALL_MODES
    repeats: int = 1
    jobs: int = 4
    model: str | None = None
    judge_model: str | None = None
    quality_min: str | None = None
    subject: str | None = None
    base_url: str | None = None
    judge_base_url: str | None = None
    base: str | None = None
    rpm: int | None = None
    tpm: int | None = None
    cache: bool = False
    record_to: str | None = None
    require_isolation: str | None = None
    allow_unisolated: bool = False
    dry_run: bool = False
    with_waivers: bool = False
    purpose: str = RELEASE
    holdout: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that is settled before the first model call. ``notices`` are to be told before it."""

    request: EvalRequest
    project: Project
    contract: Contract
    models: Models
    facts: RunFacts
    rules: FixtureRules | None
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    earlier: Mapping[str, Earlier]
    holdout: HoldoutState | None = None
    notices: tuple[str, ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.facts.plan

    @property
    def hidden_suite(self) -> str | None:
        """The suite of which no text may be kept."""
        return None if self.facts.holdout is None else self.facts.holdout.suite

    @property
    def subject(self) -> str:
        """What answers."""
        return self.contract.candidate.subject

    @property
    def earlier_skills(self) -> dict[str, ReadySkill]:
        """The earlier states that the mode ``previous`` is about, by path."""
        return {path: earlier.ready for path, earlier in self.earlier.items()}

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
    subject = confirmed_subject(request.subject, contract.candidate.subject)
    candidate = replace(contract.candidate, subject=subject)
    contract = replace(contract, gate=gate, candidate=candidate)
    models = chosen_models(request, contract)
    to = request.record_to
    refuse_keeping(contract, models, repeats=request.repeats, cache=request.cache, to=to, root=request.root)
    state = inspect_holdout(project)
    project = join_holdout(project, state)
    chosen = _choose(project, request, left_out=left_out_suite(state, wanted=request.holdout, purpose=request.purpose))
    by_name = Mode.PREVIOUS in request.modes
    earlier, notices = earlier_of(project, chosen.skills, base=request.base, by_name=by_name)
    plan = _plan(chosen, request, earlier)
    if not plan.trials:
        raise InputError("nothing is planned: no skill has a case", hint="add cases to evals/quality.json")
    use = use_of(state, plan, purpose=request.purpose, is_recorded=to is not None)
    asked = asked_of(state, plan, wanted=request.holdout, purpose=request.purpose)
    rules = _fixture_rules(project, models, needed=not request.dry_run)
    probe = require_isolation(request.require_isolation)
    keys, allow = api_keys_in_environment(), request.allow_unisolated
    build_catalog(project.usable)  # refuses two skills of one name; the files are copied when the run begins
    return Prepared(
        request=request,
        project=project,
        contract=contract,
        models=models,
        facts=replace(_facts(project, contract, plan, models), holdout=use, holdout_asked=asked),
        rules=rules,
        isolation=probe.level,
        policy=script_policy(probe.level, keys, allow_unisolated=allow, unbounded=probe.unbounded),
        limits=Limits(),
        earlier=earlier,
        holdout=state if use is not None else None,
        notices=notices,
    )


def chosen_models(request: EvalRequest, contract: Contract) -> Models:
    """Who is asked: what the request names, else the contract; a model that is named judges too, unless told."""
    return Models(
        candidate=request.model or contract.candidate.model,
        judge=request.judge_model or request.model or contract.judge.model,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """All cases, and which of them are to run."""

    cases: tuple[PlannedCase, ...]
    chosen: frozenset[CaseKey]

    @property
    def skills(self) -> tuple[str, ...]:
        return tuple(sorted({item.skill_path for item in self.cases if (item.case.suite, item.case.id) in self.chosen}))


def _choose(project: Project, request: EvalRequest, *, left_out: str | None) -> _Choice:
    cases = project.planned_cases()
    _refuse_unknown(request.cases, {item.case.id for item in cases}, "case")
    _refuse_unknown(request.skills, _called(project.usable), "skill")
    chosen = frozenset(
        (item.case.suite, item.case.id)
        for item in cases
        if _is_chosen(item.skill_path, request.skills) and (not request.cases or item.case.id in request.cases)
        if item.case.suite != left_out
    )
    return _Choice(cases=cases, chosen=chosen)


def _plan(choice: _Choice, request: EvalRequest, earlier: Mapping[str, Earlier]) -> Plan:
    digests = {path: state.ready.digest for path, state in earlier.items()}
    cases = [replace(item, previous_digest=digests.get(item.skill_path)) for item in choice.cases]
    modes = (*request.modes, Mode.PREVIOUS) if earlier and Mode.PREVIOUS not in request.modes else request.modes
    return build_plan(cases, chosen=choice.chosen, modes=modes, repeats=request.repeats)


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
    own_model = own_model_of(contract.candidate.subject)
    # An agent with a model of its own asks no other: whatever was named as the candidate did not answer.
    asked = [models.judge] if own_model is not None else [models.candidate, models.judge]
    is_fixture = not OFFLINE.isdisjoint(parse_model(model)[0] for model in asked)
    planned = {(trial.suite, trial.case_id) for trial in plan.trials}
    shown = references_of(case for case in cases if (case.suite, case.id) in planned)
    return RunFacts(
        plan=plan,
        gate=contract.gate,
        is_fixture=is_fixture,
        n_references=0 if is_fixture else len(shown),
        estimated_tokens=own_model is None and parse_model(models.candidate)[0] == FIXTURE,
        own_model=own_model,
        critical_cases=frozenset((case.suite, case.id) for case in cases if case.critical),
        critical_criteria=frozenset((c.suite, c.id) for c in cases if any(item.critical for item in c.rubric)),
        graded_cases=graded,
        expected={
            (case.suite, case.id): Expectation(skills=case.expect_skills, scripts=case.expect_scripts)
            for case in cases
            if case.expect_skills is not None or case.expect_scripts is not None
        },
        skill_names={ready.path: ready.skill.name for ready in project.usable},
        slices={(case.suite, case.id): case.slice for case in cases if case.slice is not None},
        parts={(case.suite, case.id): case.part for case in cases},
        traits={(case.suite, case.id): traits_of(case) for case in cases},
        slice_terms=contract.slices,
        unstated=contract.unstated,
        leakage=contract.dataset.leakage,
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
    moved += moved_holdout(project, prepared.holdout)
    for suite in project.suites:
        if suite.name in planned and suite.name != prepared.hidden_suite:
            now = load_suite(project.root / suite.path, shown_as=suite.path).suite
            if now is None or now.digest != suite.digest:
                moved.append(suite.path)
    return tuple(moved)
