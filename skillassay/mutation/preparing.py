"""From a request to the mutants and trials of a mutation test, without calling a model. Owns selection and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.agents.known import is_agent
from skillassay.canonical import Json
from skillassay.errors import InputError, UsageError
from skillassay.holdout.doubts import TUNING
from skillassay.models.naming import REPLAY, parse_model
from skillassay.mutation.choosing import Chosen, Wanted, choose
from skillassay.mutation.mutants import Kind, Mutant, Source, derive_mutants
from skillassay.mutation.placing import mutant_digest, mutated_skill, read_source
from skillassay.mutation.session import mutants_json, read_session, session_folder
from skillassay.mutation.verdicts import CaseKey
from skillassay.project import ReadySkill
from skillassay.runs.plan import Mode, Plan, PlannedTrial, build_plan
from skillassay.runs.preparation import EvalRequest, Prepared, prepare
from skillassay.runs.store import read_header, run_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class MutateRequest:
    """What a command asks for. ``evaluation`` names the one skill, and who answers and judges.

    ``baseline`` is a stored run whose trials of the unmutated skill count; ``max_calls`` is what this command may call.
    """

    evaluation: EvalRequest
    wanted: Wanted
    baseline: str | None = None
    max_calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationPlan:
    """All that is settled before the first model call. ``mutants`` are by the digest that the skill has as each."""

    request: MutateRequest
    prepared: Prepared
    ready: ReadySkill
    source: Source
    chosen: Chosen
    mutants: Mapping[str, Mutant]
    n_same: int
    n_not_viable: int

    @property
    def trials(self) -> tuple[PlannedTrial, ...]:
        """The trials of the unmutated skill."""
        return self.prepared.plan.trials

    def trials_of(self, digest: str, cases: Iterable[CaseKey]) -> Plan:
        """The trials of these cases on the skill of this digest."""
        chosen = frozenset(cases)
        planned = [
            replace(item, skill_digest=digest)
            for item in self.prepared.project.planned_cases()
            if (item.case.suite, item.case.id) in chosen
        ]
        repeats = self.request.evaluation.repeats
        return build_plan(planned, chosen=chosen, modes=(Mode.PROGRESSIVE,), repeats=repeats, is_sample=True)

    @property
    def highest(self) -> Plan:
        """Every trial that there can be: of the unmutated skill, and of each mutant with all cases."""
        cases = {(trial.suite, trial.case_id) for trial in self.trials}
        plans = [self.trials_of(digest, cases) for digest in self.mutants]
        return replace(self.prepared.plan, trials=(*self.trials, *(trial for plan in plans for trial in plan.trials)))

    @property
    def told(self) -> dict[str, Json]:
        """The part ``mutation`` of a header."""
        prepared = self.prepared
        return {
            "skill": {"path": self.ready.path, "name": self.ready.skill.name, "digest": self.ready.digest},
            "cases": sorted(trial.trial_id for trial in self.trials),
            "fixture": None if prepared.rules is None else prepared.rules.digest,
            "mutants": mutants_json(self.mutants),
            "viable": self.chosen.n_viable,
            "not_viable": self.n_not_viable,
            "same_as_another": self.n_same,
            "asked": asked_json(self.request),
        }


def prepare_mutation(request: MutateRequest) -> MutationPlan:
    """Load, derive and select. Raises :class:`InputError` with all findings, or :class:`UsageError`."""
    if request.baseline is not None:
        header = read_header(run_folder(request.evaluation.root, request.baseline))
        request = replace(request, evaluation=replace(request.evaluation, repeats=header["facts"]["repeats"]))
    prepared = prepare(request.evaluation)
    _refuse(request, prepared)
    ready = next(one for one in prepared.project.usable if one.path == prepared.plan.skills[0])
    source = read_source(ready)
    derived = derive_mutants(source)
    viable = [one for one in derived.mutants if mutated_skill(ready, one) is not None]
    chosen = choose(viable, request.wanted)
    if not chosen.mutants:
        raise InputError(f"{ready.path} has no such mutant", hint="--dry-run without --kind lists what there is")
    return MutationPlan(
        request=request,
        prepared=prepared,
        ready=ready,
        source=source,
        chosen=chosen,
        mutants={mutant_digest(ready, one): one for one in chosen.mutants},
        n_same=derived.n_same,
        n_not_viable=len(derived.mutants) - len(viable),
    )


def _refuse(request: MutateRequest, prepared: Prepared) -> None:
    skills = prepared.plan.skills
    if len(skills) != 1:
        raise UsageError(f"one skill at a time, and {len(skills)} are named so: {', '.join(skills)}")
    models = (prepared.models.candidate, prepared.models.judge, prepared.models.second)
    if REPLAY in {parse_model(model)[0] for model in models if model is not None}:
        message = "a recording holds no answer to a damaged skill"
        raise UsageError(message, hint="name the fixture or a live model with --model")
    if request.max_calls is not None and is_agent(prepared.subject):
        message = f"how often {prepared.subject} asks its model is not known before, so --max-calls cannot hold"
        raise UsageError(message, hint="leave out --max-calls, and --max the number of mutants")


def most_calls(prepared: Prepared, trials: Sequence[PlannedTrial]) -> int:
    """How often models can be asked for some trials, retries apart."""
    n_judges = 1 if prepared.models.second is None else 2
    n_judged = prepared.contract.judge.samples * n_judges * sum(trial.n_judge_calls for trial in trials)
    return prepared.contract.candidate.turn_limit * len(trials) + n_judged


_OF_EVALUATION = ("cases", "repeats", "model", "judge_model", "judge_samples", "second_judge_model", "subject")


def asked_json(request: MutateRequest) -> dict[str, Json]:
    """What of a request makes it the same one when it goes on."""
    evaluation, wanted = request.evaluation, request.wanted
    given = {name: getattr(evaluation, name) for name in _OF_EVALUATION}
    return given | {
        "skills": list(evaluation.skills),
        "cases": list(evaluation.cases),
        "kinds": [kind.value for kind in wanted.kinds],
        "only": list(wanted.only),
        "max": wanted.most,
        "seed": wanted.seed,
        "baseline": request.baseline,
    }


def resumed_request(request: MutateRequest, name: str) -> MutateRequest:
    """The request of a stored session with this one's ways (jobs, quotas, endpoints, limits of calls)."""
    asked: Mapping[str, Any] = read_session(session_folder(request.evaluation.root, name))["mutation"]["asked"]
    own = {key: asked[key] for key in _OF_EVALUATION if key != "cases"}
    evaluation = replace(request.evaluation, **own, skills=tuple(asked["skills"]), cases=tuple(asked["cases"]))
    wanted = Wanted(
        kinds=tuple(map(Kind, asked["kinds"])), only=tuple(asked["only"]), most=asked["max"], seed=asked["seed"]
    )
    return replace(request, evaluation=evaluation, wanted=wanted, baseline=asked["baseline"])


def skill_request(root: Path, skill: str | None, **options: Any) -> EvalRequest:
    """An evaluation of one skill in progressive: for tuning, so without the holdout."""
    skills = () if skill is None else (skill.rstrip("/") or skill,)
    return EvalRequest(root=root, skills=skills, modes=(Mode.PROGRESSIVE,), purpose=TUNING, holdout=False, **options)
