"""A whole evaluation: open the models, run the plan into a record, assess it, write the result. Owns that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import skillassay
from skillassay.assessment import Assessment, RunFacts, assess, facts_from_json
from skillassay.errors import EnvironmentFault, InputError, Reason, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.opening import open_model, parse_model
from skillassay.plan import ALL_MODES, Mode
from skillassay.preparation import EvalRequest, Prepared, build_header, moved_paths
from skillassay.proof import evidence_bodies
from skillassay.report.base import RunView
from skillassay.results import build_result
from skillassay.runner import Listener, execute
from skillassay.snapshot import Snapshot, take_snapshot
from skillassay.store import (
    RunWriter,
    new_run_id,
    now_utc,
    read_header,
    read_records,
    read_result,
    run_folder,
)
from skillassay.subjects.loop import LoopSubject
from skillassay.trial import TrialParts

SIDES = ("candidate", "judge")


def evaluate(prepared: Prepared, listener: Listener, *, resume: str | None = None) -> RunView:
    """Run (or go on with) an evaluation to its result. Raises :class:`StoreError` when the record cannot be written."""
    with ExitStack() as stack:
        frozen = stack.enter_context(take_snapshot(prepared.project.usable, prepared.cases))
        candidate = stack.enter_context(open_model(prepared.models.candidate, rules=prepared.rules))
        judge = candidate
        if prepared.models.judge != prepared.models.candidate:
            judge = _open_judge(prepared, stack, listener)
        models = describe_models(candidate.identity, judge.identity)
        writer = _open_writer(prepared, models, resume)
        with _closing(writer):
            writer.event("run_started" if resume is None else "run_resumed")
            done = frozenset(record.trial_id for record in read_records(writer.folder))
            parts = _parts(prepared, frozen, candidate, judge)
            jobs = prepared.request.jobs
            interrupted = execute(prepared.plan, parts, writer, jobs=jobs, listener=listener, done=done)
            return _finish(prepared, writer, interrupted=interrupted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AbsentJudge:
    """Stands for a judge that this machine cannot reach: checks still decide, criteria stay unscored."""

    identity: ModelIdentity
    why: str

    def generate(self, request: ModelRequest) -> ModelReply:
        raise TrialError(self.why, reason=Reason.MISSING_CAPABILITY, stage=request.stage)

    def close(self) -> None:
        """Nothing to release."""


def _open_judge(prepared: Prepared, stack: ExitStack, listener: Listener) -> Model:
    try:
        return stack.enter_context(open_model(prepared.models.judge, rules=prepared.rules))
    except EnvironmentFault as fault:
        listener.warn(f"the judge cannot be asked, so criteria stay unscored: {fault.message}")
        provider, name = parse_model(prepared.models.judge)
        identity = ModelIdentity(provider=provider, name=name, endpoint=None, is_fixture=False)
        return _AbsentJudge(identity=identity, why=fault.message)


def resumed_request(request: EvalRequest, run: str) -> EvalRequest:
    """The request of a stored run; what is named again must be the same, which :func:`evaluate` checks."""
    header = read_header(run_folder(request.root, run))
    facts, given = header["facts"], header["settings"]["given"]
    return replace(
        request,
        skills=request.skills or tuple(given["skills"]),
        cases=request.cases or tuple(given["cases"]),
        modes=tuple(Mode(mode) for mode in facts["modes"]) if request.modes == ALL_MODES else request.modes,
        repeats=facts["repeats"] if request.repeats == 1 else request.repeats,
        model=request.model or header["models"]["candidate"]["label"],
        judge_model=request.judge_model or header["models"]["judge"]["label"],
        quality_min=request.quality_min or given["quality_min"],
    )


def _open_writer(prepared: Prepared, models: dict[str, Any], resume: str | None) -> RunWriter:
    if resume is None:
        header = build_header(prepared, run_id=new_run_id(), created_at=now_utc(), models=models)
        return RunWriter.create(prepared.project.root, header)
    folder = run_folder(prepared.project.root, resume)
    _refuse_other_run(prepared, models, read_header(folder), folder.name)
    return RunWriter.reopen(folder)


def _refuse_other_run(prepared: Prepared, models: Mapping[str, Any], header: Mapping[str, Any], name: str) -> None:
    """A run goes on only as the same experiment: same trials (skill bytes, cases, modes), models, gate and program."""
    facts = facts_from_json(header["facts"])
    old = {trial.trial_id for trial in facts.plan.trials}
    new = {trial.trial_id for trial in prepared.plan.trials}
    differs = []
    if old != new:
        differs.append(f"{len(old ^ new)} trials (skill files, cases, selection or modes)")
    catalog = {path: skill["digest"] for path, skill in header["skills"].items()}
    if catalog != {ready.path: ready.digest for ready in prepared.project.usable}:
        differs.append("skills of the catalog")
    if header["contract"]["binding"] != prepared.binding:
        differs.append("candidate, judge, gate or scorer")
    if header["fixture_digest"] != (prepared.rules.digest if prepared.rules else None):
        differs.append("the fixtures")
    differs += [_endpoint_words(side, header, models) for side in SIDES if header["models"][side] != models[side]]
    if header["skillassay"] != skillassay.__version__:
        differs.append(f"skillassay ({header['skillassay']}, now {skillassay.__version__})")
    if differs:
        hint = "resume with the same options and files, or start a new run"
        raise InputError(f"run {name} cannot be resumed: {', '.join(differs)} differ", hint=hint)


def _endpoint_words(side: str, header: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    old, new = (f"{model['label']} on {model['endpoint']}" for model in (header["models"][side], models[side]))
    return f"the {side} ({old}, now {new})"


@contextmanager
def _closing(writer: RunWriter) -> Iterator[None]:
    try:
        yield
    finally:
        writer.close()


def _parts(prepared: Prepared, frozen: Snapshot, candidate: Model, judge: Model) -> TrialParts:
    subject = LoopSubject(
        model=candidate,
        terms=prepared.contract.candidate,
        catalog=frozen.catalog,
        prompt_skills=frozen.prompt_skills,
        eager_scope=prepared.contract.eager_scope,
        isolation=prepared.isolation,
        policy=prepared.policy,
        limits=prepared.limits,
    )
    return TrialParts(
        subject=subject,
        judge=judge,
        judge_terms=prepared.contract.judge,
        cases={(case.suite, case.id): case for case in frozen.cases},
        checks=prepared.project.checks,
    )


def _finish(prepared: Prepared, writer: RunWriter, *, interrupted: bool) -> RunView:
    folder, header = writer.folder, read_header(writer.folder)
    records = tuple(read_records(folder))
    assessment = assess(prepared.facts, records, moved=moved_paths(prepared), interrupted=interrupted)
    occurred_at = now_utc()
    bodies, why_not = evidence_bodies(prepared, assessment, header=header, occurred_at=occurred_at)
    writer.event("run_finished", decision=assessment.decision.status.value)
    writer.finish(
        build_result(prepared.facts, assessment, header, occurred_at=occurred_at)
        | {"evidence": bodies, "no_evidence": why_not}
    )
    return _view(prepared.facts, assessment, header, folder, {"occurred_at": occurred_at, "no_evidence": why_not})


def load_view(root: Path, run_id: str | None) -> RunView:
    """A stored run, assessed anew from its records. Calls no model. Raises :class:`StoreError`."""
    folder = run_folder(root, run_id)
    header = read_header(folder)
    facts = facts_from_json(header["facts"])
    result = read_result(folder)
    moved = tuple(result["moved_skills"]) if result is not None else ()
    interrupted = result is None or bool(result["interrupted"])
    assessment = assess(facts, read_records(folder), moved=moved, interrupted=interrupted)
    ended = result or {"occurred_at": header["created_at"], "no_evidence": {}}
    return _view(facts, assessment, header, folder, ended)


def _view(
    facts: RunFacts, assessment: Assessment, header: Mapping[str, Any], folder: Path, ended: Mapping[str, Any]
) -> RunView:
    return RunView(
        facts=facts,
        assessment=assessment,
        header=header,
        place="/".join(folder.parts[-3:]),
        evidence=ended["no_evidence"],
        occurred_at=ended["occurred_at"],
    )


def describe_models(candidate: ModelIdentity, judge: ModelIdentity) -> dict[str, Any]:
    """Both models as a record says them. Independent means that neither model nor endpoint is shared."""

    def words(identity: ModelIdentity) -> dict[str, Any]:
        return {
            "label": identity.label,
            "provider": identity.provider,
            "name": identity.name,
            # A fixture's port is another one in every run and says nothing.
            "endpoint": "embedded" if identity.is_fixture else identity.endpoint,
            "is_fixture": identity.is_fixture,
        }

    shared_model = (candidate.provider, candidate.name) == (judge.provider, judge.name)
    shared_endpoint = candidate.provider == judge.provider and candidate.endpoint == judge.endpoint
    return {
        "candidate": words(candidate),
        "judge": words(judge),
        "independent": not (shared_model or shared_endpoint),
    }
