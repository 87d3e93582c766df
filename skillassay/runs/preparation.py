"""From a request to everything a run needs, without calling a model. Owns selection and refusals.

Every problem of skills, suites, contract and fixtures is shown at once, and any error stops here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.agents.known import own_model_of
from skillassay.calibration.references import references_of
from skillassay.calibration.rubrics import skill_rubrics
from skillassay.canonical import Json
from skillassay.contract.contract import Contract, Models, raised_quality_min
from skillassay.contract.limits import raised_samples
from skillassay.errors import InputError
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.holdout.doubts import (
    RELEASE,
    HoldoutState,
    asked_of,
    inspect_holdout,
    join_holdout,
    left_out_suite,
    use_of,
)
from skillassay.isolation.process import Isolation, Limits, require_isolation
from skillassay.locks.binding import FIXED_PROMPTS
from skillassay.models.naming import FIXTURE, MADE_ELSEWHERE, OFFLINE, parse_model
from skillassay.models.opening import api_keys_in_environment, require_rules
from skillassay.project import CaseKey, Project, load_project, require_usable
from skillassay.runs.keeping import refuse_keeping
from skillassay.runs.plan import ALL_MODES, Mode, Plan, PlannedCase, build_plan
from skillassay.runs.selection import Sample, draw, is_named, names_of, refuse_unknown
from skillassay.runs.snapshot import build_catalog
from skillassay.scoring.assessment import RunFacts
from skillassay.skills.earlier import Earlier, earlier_of
from skillassay.skills.placebo import Placebo, placebos_of
from skillassay.subjects.answers import Answers
from skillassay.subjects.opening import confirmed_subject
from skillassay.suites.case import Case
from skillassay.suites.expectation import Expectation
from skillassay.suites.terms import all_terms_json
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
    judge_samples: int | None = None
    second_judge_model: str | None = None
    second_judge_base_url: str | None = None
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
    sample: int | None = None
    seed: int | None = None
    answers: Answers | None = None


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
    placebos: Mapping[str, Placebo]
    holdout: HoldoutState | None = None
    notices: tuple[str, ...] = ()
    sample: Sample | None = None

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
    def cases(self) -> tuple[Case, ...]:
        """The cases that have a trial."""
        planned = {(trial.suite, trial.case_id) for trial in self.plan.trials}
        return tuple(case for case in self.project.cases if (case.suite, case.id) in planned)

    @property
    def binding(self) -> Json:
        """What evidence of this run is bound to besides bytes and cases."""
        suites = all_terms_json((suite.name, suite.terms) for suite in self.project.suites)
        return self.contract.binding(models=self.models, prompts=FIXED_PROMPTS) | suites


def prepare(request: EvalRequest) -> Prepared:
    """Load, select and plan. Raises :class:`InputError` with all findings, or :class:`UsageError`."""
    project = load_project(request.root)
    require_usable(project, "an evaluation")
    contract = _with_options(request, project.contract)
    models = chosen_models(request, contract)
    to = request.record_to
    refuse_keeping(contract, models, repeats=request.repeats, cache=request.cache, to=to, root=request.root)
    state = inspect_holdout(project)
    project = join_holdout(project, state)
    chosen = _choose(project, request, left_out=left_out_suite(state, wanted=request.holdout, purpose=request.purpose))
    earlier, notices = earlier_of(project, chosen.skills, base=request.base, by_name=Mode.PREVIOUS in request.modes)
    placebos = placebos_of(project, chosen.skills if Mode.PLACEBO in request.modes else ())
    plan = _plan(chosen, request, earlier, placebos)
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
        placebos=placebos,
        holdout=state if use is not None else None,
        notices=notices if chosen.sample is None else (*notices, chosen.sample.notice),
        sample=chosen.sample,
    )


def _with_options(request: EvalRequest, contract: Contract) -> Contract:
    """The contract with what options may change in it."""
    gate = replace(contract.gate, quality_min=raised_quality_min(contract.gate, request.quality_min))
    subject = confirmed_subject(request.subject, contract.candidate.subject)
    candidate = replace(contract.candidate, subject=subject)
    judge = replace(contract.judge, samples=raised_samples(contract.judge.samples, request.judge_samples))
    return replace(contract, gate=gate, candidate=candidate, judge=judge)


def chosen_models(request: EvalRequest, contract: Contract) -> Models:
    """Who is asked: what the request names, else the contract; a model that is named judges too, unless told.

    Where authored or recorded verdicts stand for the contract's judge, its second judge is not asked either.
    """
    judge = request.judge_model or request.model or contract.judge.model
    stands_in = judge != contract.judge.model and parse_model(judge)[0] in OFFLINE
    return Models(
        candidate=request.model or contract.candidate.model,
        judge=judge,
        second=request.second_judge_model or (None if stands_in else contract.judge.second),
    )


def _fixture_rules(project: Project, models: Models, *, needed: bool) -> FixtureRules | None:
    asked = filter(None, (models.candidate, models.judge, models.second))
    providers = {parse_model(model)[0] for model in asked}
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
    sample: Sample | None = None

    @property
    def skills(self) -> tuple[str, ...]:
        return tuple(sorted({item.skill_path for item in self.cases if (item.case.suite, item.case.id) in self.chosen}))


def _choose(project: Project, request: EvalRequest, *, left_out: str | None) -> _Choice:
    cases = project.planned_cases()
    refuse_unknown(request.cases, {item.case.id for item in cases}, "case")
    refuse_unknown(request.skills, names_of(ready.path for ready in project.usable), "skill")
    chosen = frozenset(
        (item.case.suite, item.case.id)
        for item in cases
        if is_named(item.skill_path, request.skills) and (not request.cases or item.case.id in request.cases)
        if item.case.suite != left_out
    )
    sample = draw(chosen, request.sample, request.seed)
    return _Choice(cases=cases, chosen=chosen if sample is None else sample.cases, sample=sample)


def _plan(
    choice: _Choice, request: EvalRequest, earlier: Mapping[str, Earlier], placebos: Mapping[str, Placebo]
) -> Plan:
    old, sham = ({path: state.ready.digest for path, state in of.items()} for of in (earlier, placebos))
    pairs = ((item, item.skill_path) for item in choice.cases)
    cases = [replace(item, previous_digest=old.get(path), placebo_digest=sham.get(path)) for item, path in pairs]
    modes = (*request.modes, Mode.PREVIOUS) if earlier and Mode.PREVIOUS not in request.modes else request.modes
    is_sample = choice.sample is not None
    plan = build_plan(cases, chosen=choice.chosen, modes=modes, repeats=request.repeats, is_sample=is_sample)
    if not plan.trials:
        raise InputError("nothing is planned: no skill has a case", hint="add cases to evals/quality.json")
    return plan


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
    chosen = [case for case in cases if (case.suite, case.id) in planned]
    hidden = None if contract.holdout is None else contract.holdout.suite
    return RunFacts(
        plan=plan,
        gate=contract.gate,
        is_fixture=is_fixture,
        n_references=0 if is_fixture else len(references_of(chosen)),
        rubrics={} if is_fixture else skill_rubrics(chosen, project.case_skills, hidden=hidden),
        estimated_tokens=own_model is None and parse_model(models.candidate)[0] == FIXTURE,
        own_model=own_model,
        critical_cases=frozenset((case.suite, case.id) for case in cases if case.critical),
        critical_criteria=frozenset((c.suite, c.id) for c in cases if any(item.critical for item in c.rubric)),
        graded_cases=graded,
        expected={
            (case.suite, case.id): Expectation(skills=case.expect_skills, scripts=case.expect_scripts)
            for case in (cases if own_model != MADE_ELSEWHERE else ())  # nobody saw what was activated there
            if case.expect_skills is not None or case.expect_scripts is not None
        },
        skill_names={ready.path: ready.skill.name for ready in project.usable},
        slices={(case.suite, case.id): case.slice for case in cases if case.slice is not None},
        parts={(case.suite, case.id): case.part for case in cases},
        traits={(case.suite, case.id): traits_of(case) for case in cases},
        slice_terms=contract.slices,
        unstated=contract.unstated,
        leakage=contract.dataset.leakage,
        suite_terms={suite.name: suite.terms for suite in project.suites},
    )
