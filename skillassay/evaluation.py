"""A whole evaluation: open the models, run the plan into a record, assess it, write the result. Owns that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import skillassay
from skillassay.asking import Asked, open_models
from skillassay.assessment import Assessment, RunFacts, assess, facts_from_json
from skillassay.attempts import build_todo
from skillassay.errors import InputError
from skillassay.header import build_header
from skillassay.models.base import Model, ModelIdentity
from skillassay.plan import ALL_MODES, Mode
from skillassay.preparation import EvalRequest, Prepared, moved_paths
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
from skillassay.subjects.base import Subject
from skillassay.subjects.opening import SubjectParts, open_subject, subject_notice
from skillassay.trial import TrialParts

SIDES = ("candidate", "judge")


def evaluate(
    prepared: Prepared, listener: Listener, *, resume: str | None = None, retry_unscored: bool = False
) -> RunView:
    """Run (or go on with) an evaluation to its result. Raises :class:`StoreError` when the record cannot be written.

    ``retry_unscored`` also tries again what of the run that is resumed may be (see :mod:`skillassay.attempts`).
    """
    with ExitStack() as stack:
        frozen = stack.enter_context(take_snapshot(prepared.project.usable, prepared.cases, prepared.earlier_skills))
        asked = stack.enter_context(open_models(prepared, warn=listener.warn))
        models = describe_models(asked.candidate.identity, asked.judge.identity)
        if notice := subject_notice(prepared.subject):
            listener.warn(notice)
        subject = stack.enter_context(open_subject(prepared.subject, _subject_parts(prepared, frozen, asked)))
        writer = _open_writer(prepared, models, resume)
        with _closing(writer):
            todo = build_todo(prepared.plan, read_records(writer.folder), retry_unscored=retry_unscored)
            writer.event("run_started" if resume is None else "run_resumed", n_tried_again=len(todo.earlier))
            parts = _parts(prepared, frozen, subject, asked.judge)
            jobs = prepared.request.jobs
            interrupted = execute(todo, parts, writer, jobs=jobs, listener=listener, on_stop=asked.stop)
            view = _finish(prepared, writer, interrupted=interrupted)
            return view if interrupted else replace(view, recording=asked.save())


def resumed_request(request: EvalRequest, run: str) -> EvalRequest:
    """The request of a stored run; what is named again must be the same, which :func:`evaluate` checks."""
    header = read_header(run_folder(request.root, run))
    facts, settings = header["facts"], header["settings"]
    given = settings["given"]
    return replace(
        request,
        skills=request.skills or tuple(given["skills"]),
        cases=request.cases or tuple(given["cases"]),
        modes=tuple(Mode(mode) for mode in facts["modes"]) if request.modes == ALL_MODES else request.modes,
        repeats=facts["repeats"] if request.repeats == 1 else request.repeats,
        model=request.model or header["models"]["candidate"]["label"],
        judge_model=request.judge_model or header["models"]["judge"]["label"],
        quality_min=request.quality_min or given["quality_min"],
        subject=request.subject or given["subject"],
        base=given["base"],
        rpm=request.rpm or settings.get("rpm"),
        tpm=request.tpm or settings.get("tpm"),
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
    old, new = (_whereabouts(model) for model in (header["models"][side], models[side]))
    return f"the {side} ({old}, now {new})"


def _whereabouts(model: Mapping[str, Any]) -> str:
    recorded = model.get("recorded")
    where = f"on {model['endpoint']}" if recorded is None else f"with the digest {recorded['digest'][:12]}"
    return f"{model['label']} {where}"


@contextmanager
def _closing(writer: RunWriter) -> Iterator[None]:
    try:
        yield
    finally:
        writer.close()


def _subject_parts(prepared: Prepared, frozen: Snapshot, asked: Asked) -> SubjectParts:
    return SubjectParts(
        model=asked.candidate,
        direct=asked.direct,
        terms=prepared.contract.candidate,
        catalog=frozen.catalog,
        prompt_skills=frozen.prompt_skills,
        eager_scope=prepared.contract.eager_scope,
        isolation=prepared.isolation,
        policy=prepared.policy,
        limits=prepared.limits,
        previous=frozen.previous,
    )


def _parts(prepared: Prepared, frozen: Snapshot, subject: Subject, judge: Model) -> TrialParts:
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
            "is_replay": identity.is_replay,
            **({"recorded": asdict(identity.recorded)} if identity.recorded is not None else {}),
        }

    # Of a recording those count whose answers it holds: two sides in one file need not be one model.
    first, second = candidate.recorded or candidate, judge.recorded or judge
    shared_model = (first.provider, first.name) == (second.provider, second.name)
    shared_endpoint = first.provider == second.provider and first.endpoint == second.endpoint
    return {
        "candidate": words(candidate),
        "judge": words(judge),
        "independent": not (shared_model or shared_endpoint),
    }
