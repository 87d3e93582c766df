"""A whole evaluation: open the models, run the plan into a record, assess it, write the result. Owns that order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.agents.about import agents_of
from skillassay.agents.known import own_model_of
from skillassay.calibration.references import judge_references, read_verdicts, references_spent
from skillassay.calibration.standing import load_standing
from skillassay.calibration.verdicts_read import read_verdicts_read, wrong_in
from skillassay.contract.frozen import require_whole
from skillassay.contract.groups import unstated
from skillassay.contract.limits import read_calibration
from skillassay.contract.terms import READ_MIN
from skillassay.gate.judge import JudgeFacts
from skillassay.gate.reading import ReadFacts
from skillassay.holdout.doubts import barred_cases, standing_doubt
from skillassay.holdout.withholding import Withholding
from skillassay.locks.proof import evidence_bodies
from skillassay.models.base import Model
from skillassay.people.adjudication import read_adjudications
from skillassay.people.approval import read_approvals
from skillassay.people.audit import use_waivers
from skillassay.people.governed import people_json
from skillassay.people.names import same_person
from skillassay.people.waiving import sound_waivers
from skillassay.report.base import RunView
from skillassay.runs.asking import Asked, open_models
from skillassay.runs.attempts import again_of, build_todo
from skillassay.runs.baseline import find_baseline
from skillassay.runs.header import build_header, kept_cases_bytes
from skillassay.runs.hushed import hushed
from skillassay.runs.identities import describe_models
from skillassay.runs.keeping import kept_words
from skillassay.runs.moving import moved_paths
from skillassay.runs.preparation import Prepared
from skillassay.runs.rebuild import refuse_other_run, refuse_unlike
from skillassay.runs.record import TrialRecord
from skillassay.runs.results import build_result
from skillassay.runs.retention import HASH, Retention, drop_key
from skillassay.runs.runner import Listener, execute, is_trial_running
from skillassay.runs.snapshot import Snapshot, take_snapshot
from skillassay.runs.store import (
    RunWriter,
    new_run_id,
    now_utc,
    read_header,
    read_records,
    read_result,
    records_changed,
    run_folder,
)
from skillassay.runs.trial import TrialParts
from skillassay.scoring.assessment import Assessment, Besides, RunFacts, assess
from skillassay.scoring.costs import costs_json, costs_of
from skillassay.scoring.facts import facts_from_json
from skillassay.scoring.regression import baseline_from_json, baseline_json
from skillassay.subjects.base import Subject
from skillassay.subjects.offering import Offering
from skillassay.subjects.opening import SubjectParts, open_subject, subject_notice
from skillassay.suites.kept import CASES_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a run begins: anew, as the run ``resume`` that goes on, or as a new one that must be the run ``like`` again.

    ``retry_unscored`` also tries again what of the run that is resumed may be (see :mod:`skillassay.runs.attempts`).
    """

    resume: str | None = None
    like: str | None = None
    retry_unscored: bool = False


ANEW = Start()


def evaluate(prepared: Prepared, listener: Listener, *, start: Start = ANEW) -> RunView:
    """Run (or go on with) an evaluation to its result. Raises :class:`StoreError` when the record cannot be written."""
    if prepared.request.with_waivers:
        sound_waivers(prepared.project.root)  # asked before anything is spent, not when it is over
    with ExitStack() as stack:
        if prepared.contract.retention == HASH or prepared.facts.holdout is not None:
            stack.enter_context(hushed(is_heard=is_trial_running))
        skills, cases = prepared.project.usable, prepared.cases
        frozen = stack.enter_context(take_snapshot(skills, cases, prepared.earlier, placebos=prepared.placebos))
        asked = stack.enter_context(open_models(prepared, warn=listener.warn))
        own = own_model_of(prepared.subject)
        second = None if asked.second is None else asked.second.identity
        models = describe_models(asked.candidate.identity, asked.judge.identity, own_model=own, second=second)
        for notice in filter(None, (subject_notice(prepared.subject), *prepared.notices)):
            listener.warn(notice)
        subject = stack.enter_context(open_subject(prepared.subject, _subject_parts(prepared, frozen, asked)))
        writer = _open_writer(prepared, models, start, _retention(prepared, frozen, models))
        asked.spend_for(writer.folder.name)
        with _closing(writer):
            todo = build_todo(prepared.plan, read_records(writer.folder), retry_unscored=start.retry_unscored)
            writer.event("run_started" if start.resume is None else "run_resumed", n_tried_again=len(todo.earlier))
            parts = replace(_parts(prepared, frozen, subject, asked), **_hidden(prepared, writer))
            jobs = prepared.request.jobs
            if prepared.facts.n_references:
                _show_references(prepared, asked.judge, writer)
            if start.retry_unscored and not todo.trials:
                listener.warn("nothing to try again: no trial lost its score to judge, provider or machine")
            interrupted = execute(todo, parts, writer, jobs=jobs, listener=listener, on_stop=asked.stop)
            view = _finish(prepared, writer, interrupted=interrupted)
            return view if interrupted else replace(view, recording=asked.save(writer.folder.name))


def _retention(prepared: Prepared, frozen: Snapshot, models: Mapping[str, Any]) -> Retention:
    """What this run keeps, and the names that its records may hold under any rule."""
    sides = [models[side] for side in ("candidate", "judge", "second") if side in models]
    asked = sides + [side.get("recorded", {}) for side in sides]
    catalogs = [frozen.catalog, *(older.catalog for older in frozen.previous.values())]
    names = kept_words(catalogs, subjects=[prepared.subject], models=filter(None, (m.get("name") for m in asked)))
    return Retention(rule=prepared.contract.retention, names=names)


def _open_writer(prepared: Prepared, models: dict[str, Any], start: Start, retention: Retention) -> RunWriter:
    root = prepared.project.root
    agents = agents_of(prepared.subject, prepared.models.judge, prepared.isolation)
    header = build_header(prepared, run_id=new_run_id(), created_at=now_utc(), models=models, agents=agents)
    if start.resume is not None:
        folder = run_folder(root, start.resume)
        refuse_other_run(header, read_header(folder))
        return RunWriter.reopen(folder, retention)
    header["baseline"] = None if (found := find_baseline(root, header)) is None else baseline_json(found)
    if start.like is not None:
        refuse_unlike(header, read_header(run_folder(root, start.like)))
    return RunWriter.create(root, header, retention, files={CASES_FILE: kept_cases_bytes(prepared)})


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
        offering=Offering(
            catalog=frozen.catalog,
            prompt_skills=frozen.prompt_skills,
            eager_scope=prepared.contract.eager_scope,
            previous=frozen.previous,
            placebo=frozen.placebo,
        ),
        isolation=prepared.isolation,
        policy=prepared.policy,
        limits=prepared.limits,
        answers=prepared.request.answers,
    )


def _parts(prepared: Prepared, frozen: Snapshot, subject: Subject, asked: Asked) -> TrialParts:
    return TrialParts(
        subject=subject,
        judge=asked.judge,
        second=asked.second,
        judge_terms=prepared.contract.judge,
        cases={(case.suite, case.id): case for case in frozen.cases},
        checks=prepared.project.checks,
        max_age_days=prepared.contract.freshness_max_age_days,
    )


def _hidden(prepared: Prepared, writer: RunWriter) -> dict[str, Any]:
    """What the trials must know of cases that are hidden or out of reach."""
    state, key = prepared.holdout, None
    if state is not None and state.holdout is not None:
        key = state.holdout.key
    rule = None
    if key is not None and state is not None and state.sealed is not None:
        rule = Withholding(suite=state.sealed.suite, key=key, names=writer.retention.names)
    return {"barred": barred_cases(state), "withholding": rule}


def _show_references(prepared: Prepared, judge: Model, writer: RunWriter) -> None:
    """Before a live run counts, its judge reads every reference of the planned cases."""
    n_asked = judge_references(
        judge,
        prepared.cases,
        writer.folder,
        timeout_s=prepared.contract.judge.timeout_s,
        jobs=prepared.request.jobs,
    )
    writer.event("references_judged", n_asked=n_asked)


def _known(
    root: Path, folder: Path, facts: RunFacts, header: Mapping[str, Any], records: Collection[TrialRecord]
) -> Besides:
    """What a run is compared with, and what is known today of the judge of a live one."""
    known = Besides(run_id=header["id"], baseline=baseline_from_json(header.get("baseline")), cases=header["cases"])
    if facts.is_fixture:
        return known
    terms = header["contract"]["binding"]["judge"]
    standing = load_standing(root, header, records, read_calibration(terms.get("calibration", {})))
    reading = ReadFacts(reads=read_verdicts_read(root), read_min=terms.get("read_min", READ_MIN))
    judge = JudgeFacts(standing=standing, references=read_verdicts(folder), reading=reading)
    owner = header["contract"]["groups"]["identity"]["owner"]
    said = tuple(one for one in read_approvals(folder) if owner is None or not same_person(one.by, owner))
    return replace(known, judge=judge, approvals=said)


def _finish(prepared: Prepared, writer: RunWriter, *, interrupted: bool) -> RunView:
    folder, header = writer.folder, read_header(writer.folder)
    records = tuple(read_records(folder))
    moved, said = moved_paths(prepared), read_adjudications(folder)
    known = _known(prepared.project.root, folder, prepared.facts, header, records)
    assessment = assess(prepared.facts, records, moved=moved, interrupted=interrupted, besides=known)
    # What people said since the run was made counts for its evidence; its result is what was recorded.
    besides = replace(known, adjudications=said, wrong=wrong_in(known.judge.reading.reads, header["id"]))
    final = assess(prepared.facts, records, moved=moved, interrupted=interrupted, besides=besides)
    # Approved is what people made of it: the recorded decision alone is none that anybody was shown.
    assessment = replace(assessment, approval=final.approval)
    effective = None
    if prepared.request.with_waivers and not interrupted:
        effective = use_waivers(prepared.project.root, final.decision, header, command="eval")
    occurred_at = now_utc()
    bodies, why_not = evidence_bodies(prepared, final, header=header, occurred_at=occurred_at, effective=effective)
    costs = costs_json(costs_of(assessment.scores.rows, references_spent(folder), header), header)
    writer.event("run_finished", decision=assessment.decision.status.value)
    writer.finish(
        build_result(prepared.facts, assessment, header, occurred_at=occurred_at)
        | {"cost": costs, "evidence": bodies, "no_evidence": why_not, **people_json(final, effective)}
    )
    if not interrupted and not any(again_of(row.record) for row in assessment.scores.rows):
        drop_key(folder)  # nothing of the run is left to do
    view = _view(prepared.facts, final, header, folder, {"occurred_at": occurred_at, "no_evidence": why_not})
    return replace(view, effective=effective)


def load_view(root: Path, run_id: str | None) -> RunView:
    """A stored run, assessed anew from its records. Calls no model. Raises :class:`StoreError`."""
    folder = run_folder(root, run_id)
    header, result = read_header(folder), read_result(folder)
    groups = require_whole(header, result)
    stated = {"unstated": unstated(groups), "leakage": groups["dataset"]["leakage_status"]}
    facts = replace(facts_from_json(header["facts"]), **stated)
    moved = tuple(result["moved_skills"]) if result is not None else ()
    interrupted = result is None or bool(result["interrupted"])
    said = read_adjudications(folder)
    doubt = standing_doubt(root, facts.holdout)
    records = tuple(read_records(folder))
    known = _known(root, folder, facts, header, records)
    wrong = wrong_in(known.judge.reading.reads, header["id"])
    is_changed = records_changed(result, records)
    besides = replace(known, adjudications=said, voided=doubt, wrong=wrong, is_changed=is_changed)
    assessment = assess(facts, records, moved=moved, interrupted=interrupted, besides=besides)
    ended = result or {"occurred_at": header["created_at"], "no_evidence": {}}
    return replace(_view(facts, assessment, header, folder, ended), is_changed=is_changed)


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
        root=folder.parents[2],
        costs=costs_of(assessment.scores.rows, references_spent(folder), header),
    )
