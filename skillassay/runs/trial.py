"""One trial from query to record: subject, then code checks, then judge, then outcome. Owns that order.

What was observed is never replaced: checks stay as they came out whatever the judge says, an answer stays as it was
given. A stage that could not decide makes the trial UNSCORED with its reason; the stages before it are kept.
"""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path

from skillassay import checks
from skillassay.checks.base import Check, CheckFault
from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.holdout.withholding import Withholding
from skillassay.isolation.process import remove_tree
from skillassay.isolation.produced import Produced, read_produced
from skillassay.judging import behavior
from skillassay.models.base import Model
from skillassay.runs.attempts import Again, again_of
from skillassay.runs.plan import PlannedTrial
from skillassay.runs.record import Mark, Observed, Outcome, TrialRecord
from skillassay.runs.store import now_utc
from skillassay.runs.verdicts import FIRST, PROSE, SECOND, Bench, Heard, judge_rubric, read_prose, refuse_left_open
from skillassay.scoring.scores import missing_record
from skillassay.subjects.base import InputFile, Subject, SubjectRequest, SubjectResult
from skillassay.suites.case import BEHAVIOR_MARKS, Case
from skillassay.suites.freshness import stale_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParts:
    """Everything a trial needs besides its plan. ``checks`` holds each case's built checks by (suite, case id).

    Of the cases ``barred`` it is known beforehand why they have no score: nobody is asked about them. Nor is anybody
    about a freshness case whose snapshot is past ``max_age_days`` on the day of its trial, which may be later than the
    one on which the run began. ``withholding`` is what is kept of hidden cases. ``second`` is a second judge.
    """

    subject: Subject
    judge: Model
    judge_terms: JudgeTerms
    cases: Mapping[tuple[str, str], Case]
    checks: Mapping[tuple[str, str], Sequence[Check]]
    barred: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)
    max_age_days: int | None = None
    withholding: Withholding | None = None
    second: Model | None = None

    @property
    def bench(self) -> Bench:
        """Who judges."""
        return Bench(judge=self.judge, terms=self.judge_terms, second=self.second)


@dataclass(slots=True)
class _Seen:
    """What a trial has observed so far. ``kept`` is an earlier attempt whose answer and checks stand."""

    kept: TrialRecord | None = None
    marks: list[Mark] = field(default_factory=list)
    answer: str | None = None
    observed: Observed | None = None
    produced: Mapping[str, Produced] = field(default_factory=dict)
    heard: Heard = field(default_factory=Heard)
    result: SubjectResult = field(default_factory=SubjectResult)


def run_trial(planned: PlannedTrial, parts: TrialParts, earlier: TrialRecord | None = None) -> TrialRecord:
    """Run one trial to its record. Never raises for anything that belongs to the trial.

    ``earlier`` is its last attempt, which may be tried again. Where the judge alone is, the answer stays, and with it
    whatever was seen of it.
    """
    started, clock = now_utc(), time.monotonic()
    if (barred := _barred(planned, parts, earlier, started)) is not None:
        n_before = 0 if earlier is None else earlier.attempt
        return replace(missing_record(planned), outcome=barred, attempt=n_before + 1, started_at=started)
    seen = _Seen()
    if earlier is not None and again_of(earlier) is Again.JUDGE:
        seen = _Seen(kept=earlier, answer=earlier.answer, marks=list(earlier.marks))
    try:
        outcome = _observe(planned, parts, seen)
    except TrialError as error:
        outcome = _unscored(error)
    except Exception as error:  # noqa: BLE001 - a bug of ours must not be booked on the candidate, nor end the run
        where = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        outcome = Outcome(status="UNSCORED", reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS, detail=detail)
    return replace(
        _answered(planned, seen),
        outcome=outcome,
        marks=tuple(seen.marks[: planned.n_criteria]),  # a record with more would count as damaged
        judge_reply=seen.heard.reply,
        judge=seen.heard.spent[FIRST],
        samples=tuple(seen.heard.samples),
        second=seen.heard.spent.get(SECOND),
        attempt=1 if earlier is None else earlier.attempt + 1,
        started_at=started,
        duration_s=round(time.monotonic() - clock, 3),
    )


def _barred(planned: PlannedTrial, parts: TrialParts, earlier: TrialRecord | None, started: str) -> Outcome | None:
    """Why nobody is asked. An answer that is kept was given while its facts held, so the judge may still be asked."""
    key = (planned.suite, planned.case_id)
    if key in parts.barred or (earlier is not None and again_of(earlier) is Again.JUDGE):
        return parts.barred.get(key)
    return stale_outcome(parts.cases[key], on=date.fromisoformat(started[:10]), max_age_days=parts.max_age_days)


def _answered(planned: PlannedTrial, seen: _Seen) -> TrialRecord:
    """The candidate's part of the record."""
    if seen.kept is not None:
        return replace(seen.kept, answer_attempt=seen.kept.answer_attempt or seen.kept.attempt)
    return replace(
        missing_record(planned),  # every planned trial begins as one; what was seen fills it
        answer=seen.answer,
        observed=seen.observed,
        transcript=[{"who": type(turn).__name__, **asdict(turn)} for turn in seen.result.transcript.turns],
        activated=seen.result.activated,
        scripts=seen.result.scripts,
        candidate=seen.result.spent,
        arm=seen.result.arm,
    )


def _observe(planned: PlannedTrial, parts: TrialParts, seen: _Seen) -> Outcome:
    case = parts.cases[planned.suite, planned.case_id]
    if seen.kept is None:
        _ask_candidate(case, planned, parts, seen)
    if seen.answer is None:
        # The limit is part of the candidate's task: it had its turns and gave no answer. 0 of n.
        n_calls = seen.result.spent.n_calls
        return Outcome(status="FAIL", kind="turn_limit", detail=f"turn_limit: no answer after {n_calls} model calls")
    _decide(case, planned, parts, seen)
    if len(seen.marks) != planned.n_criteria:
        message = f"{len(seen.marks)} verdicts for {planned.n_criteria} planned"
        raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS)
    return Outcome(status="PASS" if all(mark.passed for mark in seen.marks) else "FAIL")


def _ask_candidate(case: Case, planned: PlannedTrial, parts: TrialParts, seen: _Seen) -> None:
    workspace = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        seen.result = parts.subject.answer(_subject_request(case, planned), workspace)
        wanted = {check.file for check in parts.checks[planned.suite, planned.case_id] if check.file is not None}
        seen.produced = read_produced(workspace, sorted(wanted))
    finally:
        remove_tree(workspace)  # gives up in silence: what a script left behind is no part of the outcome
    if seen.result.error is not None:
        raise seen.result.error
    seen.answer = None if seen.result.turn_limit else seen.result.answer


def _decide(case: Case, planned: PlannedTrial, parts: TrialParts, seen: _Seen) -> None:
    """Every verdict on the answer that there is none on yet."""
    text = seen.answer or ""
    structured = behavior.parse_answer(text) if case.behavior is not None else None
    if structured is not None:
        text = structured.response
        seen.observed = Observed(action=structured.action, refused=structured.refused)
    if seen.kept is None:
        if structured is not None and case.behavior is not None:
            seen.marks += behavior.code_marks(structured, case.behavior)
        _run_checks(parts.checks[planned.suite, planned.case_id], text, seen)
    _ask_judges(case, planned, parts, seen, structured)


def _ask_judges(
    case: Case, planned: PlannedTrial, parts: TrialParts, seen: _Seen, structured: behavior.BehaviorAnswer | None
) -> None:
    """What the judges decide. What they ruled on counts as seen, whatever else is left open or fails."""
    heard, text = seen.heard, seen.answer or ""
    try:
        # Of an answer that is kept, the judge may have read the prose before it failed on the rubric.
        if structured is not None and not _keep_prose(seen):
            read_prose(case, structured, parts.bench, heard, slot=planned.slot)
        if case.rubric:
            text = text if structured is None else structured.response
            judge_rubric(case, text, parts.bench, heard, slot=planned.slot)
    finally:
        ruled = {*(mark.id for mark in heard.marks), *heard.left_open}
        seen.marks = [mark for mark in seen.marks if mark.id not in ruled] + heard.marks
    refuse_left_open(heard)


def _keep_prose(seen: _Seen) -> bool:
    """Whether an earlier attempt has the whole verdict on the prose; half of one is asked for again."""
    if seen.kept is None or not {mark.id for mark in seen.marks}.issuperset(BEHAVIOR_MARKS[2:]):
        return False
    seen.heard.samples += [one for one in seen.kept.samples if one.part == PROSE]
    return True


def _subject_request(case: Case, planned: PlannedTrial) -> SubjectRequest:
    """What the candidate gets of a case: the query and its files, nothing else."""
    is_behavior = case.behavior is not None
    return SubjectRequest(
        query=case.query,
        files=tuple(InputFile(name=file.path, source=file.source, text=file.text) for file in case.files),
        mode=planned.mode,
        skill_path=planned.skill_path,
        response_schema=behavior.ANSWER_SCHEMA if is_behavior else None,
        max_output_tokens=behavior.MAX_OUTPUT_TOKENS if is_behavior else None,
        slot=planned.slot,
        is_valid=behavior.is_valid_answer if is_behavior else None,
    )


def _run_checks(built: Sequence[Check], text: str, seen: _Seen) -> None:
    faults = []
    for check in built:
        try:
            produced = None if check.file is None else seen.produced[check.file]
            result = checks.evaluate(check, text) if produced is None else checks.evaluate_file(check, produced)
        except CheckFault as fault:
            faults.append(f"{check.check_id}: {fault}")
            continue
        verdict, evidence = result.verdict.value, result.evidence
        seen.marks.append(Mark(id=check.check_id, by="code", verdict=verdict, evidence=evidence, file=check.file))
    if faults:
        raise TrialError("; ".join(faults), reason=Reason.CHECK_ERROR, stage=Stage.CHECK)


def _unscored(error: TrialError) -> Outcome:
    detail = error.message
    return Outcome(status="UNSCORED", reason=error.reason, stage=error.stage, kind=error.kind, detail=detail)
