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
from skillassay.judging.judge import CriterionVerdict, ask_judge, parse_verdicts, ungrounded
from skillassay.models.base import Model, ModelReply
from skillassay.runs.attempts import Again, again_of
from skillassay.runs.plan import PlannedTrial
from skillassay.runs.record import Mark, Observed, Outcome, Spent, TrialRecord
from skillassay.runs.store import now_utc
from skillassay.scoring.scores import missing_record
from skillassay.subjects.base import InputFile, Subject, SubjectRequest, SubjectResult
from skillassay.suites.case import BEHAVIOR_MARKS, Case
from skillassay.suites.freshness import stale_outcome
from skillassay.transcript import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParts:
    """Everything a trial needs besides its plan. ``checks`` holds each case's built checks by (suite, case id).

    Of the cases ``barred`` it is known beforehand why they have no score: nobody is asked about them. Nor is anybody
    about a freshness case whose snapshot is past ``max_age_days`` on the day of its trial, which may be later than the
    one on which the run began. ``withholding`` is what is kept of hidden cases.
    """

    subject: Subject
    judge: Model
    judge_terms: JudgeTerms
    cases: Mapping[tuple[str, str], Case]
    checks: Mapping[tuple[str, str], Sequence[Check]]
    barred: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)
    max_age_days: int | None = None
    withholding: Withholding | None = None


@dataclass(slots=True)
class _Seen:
    """What a trial has observed so far. ``kept`` is an earlier attempt whose answer and checks stand."""

    kept: TrialRecord | None = None
    marks: list[Mark] = field(default_factory=list)
    answer: str | None = None
    observed: Observed | None = None
    produced: Mapping[str, Produced] = field(default_factory=dict)
    judge_reply: str | None = None
    judge: Spent = field(default_factory=Spent)
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
        if error.stage is Stage.JUDGE and error.n_attempts:
            n_calls, n_attempts = seen.judge.n_calls + 1, seen.judge.n_attempts + error.n_attempts
            seen.judge = replace(seen.judge, n_calls=n_calls, n_attempts=n_attempts)
            seen.judge = replace(seen.judge, usage=seen.judge.usage.plus(error.usage or Usage()))
            seen.judge = replace(seen.judge, waited_s=round(seen.judge.waited_s + error.waited_s, 3))
    except Exception as error:  # noqa: BLE001 - a bug of ours must not be booked on the candidate, nor end the run
        where = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        outcome = Outcome(status="UNSCORED", reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS, detail=detail)
    return replace(
        _answered(planned, seen),
        outcome=outcome,
        marks=tuple(seen.marks[: planned.n_criteria]),  # a record with more would count as damaged
        judge_reply=seen.judge_reply,
        judge=seen.judge,
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
    # Of an answer that is kept, the judge may have read the prose before it failed on the rubric.
    if structured is not None and not any(mark.id in BEHAVIOR_MARKS[2:] for mark in seen.marks):
        _read_prose(case, structured, parts, seen, slot=planned.slot)
    if case.rubric:
        _judge_rubric(case, text, parts, seen, slot=planned.slot)


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


def _read_prose(case: Case, structured: behavior.BehaviorAnswer, parts: TrialParts, seen: _Seen, *, slot: str) -> None:
    reply = behavior.ask_verdict(parts.judge, case, structured, timeout_s=parts.judge_terms.timeout_s, slot=slot)
    _book(reply, seen)
    seen.marks += behavior.judge_marks(reply.turn.text)


def _judge_rubric(case: Case, text: str, parts: TrialParts, seen: _Seen, *, slot: str) -> None:
    reply = ask_judge(parts.judge, case, text, parts.judge_terms, slot=slot)
    _book(reply, seen)
    verdicts = parse_verdicts(reply.turn.text, case.rubric)
    invented = ungrounded(verdicts, text)
    abstained = tuple(item.criterion.id for item in verdicts if item.verdict == "ABSTAIN")
    # What of one reply holds is kept, whatever else in it does not: nobody may decide over it later.
    seen.marks = [mark for mark in seen.marks if mark.id not in {item.id for item in case.rubric}]
    seen.marks += [_mark(item) for item in verdicts if item.criterion.id not in {*invented, *abstained}]
    if invented:
        message = f"the judge passed {', '.join(invented)} on words that do not stand in the answer"
        raise TrialError(message, reason=Reason.UNGROUNDED, stage=Stage.JUDGE)
    if abstained:
        message = f"the judge abstained on {', '.join(abstained)}"
        raise TrialError(message, reason=Reason.JUDGE_ABSTAINED, stage=Stage.JUDGE)


def _mark(item: CriterionVerdict) -> Mark:
    criterion = item.criterion
    return Mark(
        id=criterion.id,
        by="judge",
        verdict=item.verdict,
        evidence=item.evidence,
        critical=criterion.critical,
        explains=criterion.explains,
        text=criterion.text,
    )


def _book(reply: ModelReply, seen: _Seen) -> None:
    seen.judge = Spent(
        n_calls=seen.judge.n_calls + 1,
        n_attempts=seen.judge.n_attempts + reply.n_attempts,
        usage=seen.judge.usage.plus(reply.usage),
        model=reply.model or seen.judge.model,
        n_cached=seen.judge.n_cached + reply.cached,
        cached_usage=seen.judge.cached_usage.plus(reply.usage) if reply.cached else seen.judge.cached_usage,
        waited_s=round(seen.judge.waited_s + reply.waited_s, 3),
    )
    seen.judge_reply = reply.turn.text


def _unscored(error: TrialError) -> Outcome:
    detail = error.message
    return Outcome(status="UNSCORED", reason=error.reason, stage=error.stage, kind=error.kind, detail=detail)
