"""A trial that is tried again on an answer that is there: what is asked, what stays, and what is counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from skillassay import checks
from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import Spent, TrialRecord, record_from_json, record_to_json
from skillassay.runs.trial import TrialParts, run_trial
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.suites.case import Behavior, Case, Criterion
from skillassay.transcript import ModelTurn, Usage

CHECK = {"id": "says", "type": "contains", "text": "hello"}
CASE = Case(
    id="one",
    skill="s",
    query="q",
    suite="q",
    checks=(CHECK,),
    rubric=(Criterion(id="greets", text="It greets."),),
    behavior=Behavior(action="assist", refused=False, required="helps", forbidden="scolds"),
)
PLANNED = PlannedTrial(
    trial_id="t", suite="q", case_id="one", skill_path="s", mode=Mode.NONE, repeat=1, n_criteria=6, n_judge_calls=2
)
ANSWER = json.dumps({"action": "assist", "response": "hello there", "refused": False})
PROSE = json.dumps({"explanation": "it helps", "required_met": True, "forbidden_absent": True})
RUBRIC = json.dumps(
    {"criteria": [{"id": "greets", "reasoning": "r", "evidence": "hello there", "verdict": "PASS"}]},
)


@dataclass(kw_only=True)
class Once:
    """A subject that answers once."""

    left: int = 1

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:  # noqa: ARG002 - the port's
        """Answer, or fail the test."""
        self.left -= 1
        assert self.left >= 0, "asked again"
        return SubjectResult(answer=ANSWER, spent=Spent(n_calls=3, n_attempts=4, usage=Usage(input_tokens=7)))


@dataclass(kw_only=True)
class Judge:
    """A judge that says what it is told, in order; an error is raised."""

    says: list[str | TrialError]
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self) -> ModelIdentity:
        """Somebody's."""
        return ModelIdentity(provider="p", name="n", endpoint=None, is_fixture=True)

    def generate(self, request: ModelRequest) -> ModelReply:
        """The next word."""
        self.asked.append("rubric" if "criteria" in request.system[:2000] and "rubric" in request.system else "prose")
        said = self.says.pop(0)
        if isinstance(said, TrialError):
            raise said
        return ModelReply(turn=ModelTurn(text=said), usage=Usage(input_tokens=10, n_calls=1), waited_s=0.25)

    def close(self) -> None:
        """Nothing."""


def broken() -> TrialError:
    """A judge that was not reached after two attempts."""
    return TrialError("no", reason=Reason.PROVIDER_ERROR, stage=Stage.JUDGE, kind="server", n_attempts=2)


def ran(judge: Judge, subject: Once, earlier: TrialRecord | None = None) -> TrialRecord:
    """One attempt, as it is read back from its line."""
    parts = TrialParts(
        subject=subject,
        judge=judge,
        judge_terms=JudgeTerms(),
        cases={("q", "one"): CASE},
        checks={("q", "one"): (checks.build_check(CHECK, where="here"),)},
    )
    return record_from_json(record_to_json(run_trial(PLANNED, parts, earlier)))


def test_only_what_failed_is_asked_again() -> None:
    """The prose was read, the rubric was not: the second attempt asks for the rubric alone and scores all six."""
    judge, subject = Judge(says=[PROSE, broken(), RUBRIC]), Once()
    first = ran(judge, subject)
    assert (first.outcome.status, len(first.marks)) == ("UNSCORED", 5)
    second = ran(judge, subject, first)
    assert judge.asked == ["prose", "rubric", "rubric"]
    assert (second.outcome.status, second.k, second.attempt, second.answer_attempt) == ("PASS", 6, 2, 1)
    assert second.marks[:5] == first.marks


def test_each_attempt_counts_its_own_judge_and_the_answer_counts_once() -> None:
    """The candidate's part is repeated word for word; the judge's is what this attempt asked and waited."""
    judge, subject = Judge(says=[broken(), PROSE, broken(), RUBRIC]), Once()
    first = ran(judge, subject)
    second = ran(judge, subject, first)
    third = ran(judge, subject, second)
    assert third.candidate == second.candidate == first.candidate
    assert [record.judge.n_calls for record in (first, second, third)] == [1, 2, 1]
    assert [record.judge.n_attempts for record in (first, second, third)] == [2, 3, 1]
    assert [record.judge.waited_s for record in (first, second, third)] == [0.0, 0.25, 0.25]
    assert [record.answer_attempt for record in (first, second, third)] == [None, 1, 1]
    assert third.outcome.status == "PASS"


def test_a_trial_without_an_answer_is_run_anew() -> None:
    """Nothing of the earlier attempt stays but its number."""
    earlier = ran(Judge(says=[broken()]), Once())
    judge, subject = Judge(says=[PROSE, RUBRIC]), Once()
    blank = record_from_json({**record_to_json(earlier), "answer": None, "marks": []})
    again = ran(judge, subject, blank)
    assert subject.left == 0
    assert (again.outcome.status, again.attempt, again.answer_attempt) == ("PASS", 2, None)
