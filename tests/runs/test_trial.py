"""One trial: what must hold before it may be called PASS or FAIL, and what never decides it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from skillassay import checks
from skillassay.contract.contract import JudgeTerms
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import TrialRecord, record_from_json, record_to_json
from skillassay.runs.trial import TrialParts, run_trial
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.suites.case import Case

CHECK = {"id": "says", "type": "contains", "text": "hello"}
CASE = Case(id="one", skill="s", query="q", checks=(CHECK,), suite="q")
PLANNED = PlannedTrial(
    trial_id="t", suite="q", case_id="one", skill_path="s", mode=Mode.NONE, repeat=1, n_criteria=1, n_judge_calls=0
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """A subject with one answer, after doing something in its workspace."""

    result: SubjectResult
    first: Callable[[Path], object] = str

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:  # noqa: ARG002 - the port's
        """Answer."""
        self.first(workspace)
        return self.result


@dataclass(frozen=True, slots=True, kw_only=True)
class Nobody:
    """A judge that is never asked."""

    @property
    def identity(self) -> ModelIdentity:
        """Nobody's."""
        return ModelIdentity(provider="p", name="n", endpoint=None, is_fixture=True)

    def generate(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - the port's
        """Fail."""
        raise AssertionError

    def close(self) -> None:
        """Nothing."""


def ran(planned: PlannedTrial, subject: Says, *, n_checks: int = 1) -> TrialRecord:
    """The record of a trial whose case has ``n_checks`` built checks; it must be one that can be read again."""
    built = checks.build_check(CHECK, where="here")
    parts = TrialParts(
        subject=subject,
        judge=Nobody(),
        judge_terms=JudgeTerms(),
        cases={("q", "one"): CASE},
        checks={("q", "one"): (built,) * n_checks},
    )
    record = run_trial(planned, parts)
    assert record_from_json(record_to_json(record)).outcome == record.outcome
    return record


HELLO, BYE = SubjectResult(answer="hello"), SubjectResult(answer="bye")


@pytest.mark.parametrize(("result", "status"), [(HELLO, "PASS"), (BYE, "FAIL")])
def test_a_whole_score_decides(result: SubjectResult, status: str) -> None:
    """All verdicts that were planned."""
    assert ran(PLANNED, Says(result=result)).outcome.status == status


@pytest.mark.parametrize("result", [HELLO, BYE])
@pytest.mark.parametrize(("n_planned", "n_checks"), [(2, 1), (1, 0), (1, 2), (3, 0)])
def test_another_number_of_verdicts_than_planned_decides_nothing(
    result: SubjectResult, n_planned: int, n_checks: int
) -> None:
    """Neither PASS (of nothing, even) nor FAIL: a fault of the harness, in a record that can be read."""
    record = ran(replace(PLANNED, n_criteria=n_planned), Says(result=result), n_checks=n_checks)
    outcome = record.outcome
    assert (outcome.status, outcome.reason, outcome.stage) == ("UNSCORED", "harness_error", "harness")
    assert outcome.detail == f"{n_checks} verdicts for {n_planned} planned"


def test_the_turn_limit_needs_no_verdicts() -> None:
    """It is the candidate's own failure, 0 of n."""
    outcome = ran(replace(PLANNED, n_criteria=2), Says(result=SubjectResult(turn_limit=True))).outcome
    assert (outcome.status, outcome.kind) == ("FAIL", "turn_limit")


def dig(workspace: Path) -> None:
    """Leave a tree deeper than Python can follow."""
    handle = os.open(workspace, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def lock(workspace: Path) -> None:
    """Leave a folder that nobody may enter."""
    (workspace / "closed/inner").mkdir(parents=True)
    (workspace / "closed").chmod(0)


def remove(workspace: Path) -> None:
    """Leave nothing at all."""
    workspace.rmdir()


@pytest.mark.parametrize("first", [dig, lock, remove])
def test_what_is_left_in_the_workspace_decides_nothing(
    first: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is scored as ever, and the workspace is gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ran(PLANNED, Says(result=HELLO, first=first)).outcome.status == "PASS"
    assert list(tmp_path.iterdir()) == []
