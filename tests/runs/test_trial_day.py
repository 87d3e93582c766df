"""On which day the facts of a freshness case are held against its limit: that of its trial, and of no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest

from skillassay import checks
from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage
from skillassay.runs.record import Outcome, TrialRecord, record_from_json, record_to_json
from skillassay.runs.trial import TrialParts, run_trial
from skillassay.suites.facts import SourceSnapshot
from tests.runs.test_trial_again import CASE, CHECK, PLANNED, PROSE, RUBRIC, Judge, Once, broken

TAKEN = date(2026, 3, 1)
FRESH = replace(CASE, part="freshness", source_snapshot=SourceSnapshot(source="price list", taken_at=TAKEN))
LIMIT = 30
KEY = ("q", "one")


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make it so many days after the snapshot, at the last second of that day in UTC."""

    def move(days: int) -> None:
        told = f"{(TAKEN + timedelta(days=days)).isoformat()}T23:59:59Z"
        monkeypatch.setattr("skillassay.runs.trial.now_utc", lambda: told)

    return move


def ran(
    subject: Once,
    judge: Judge,
    earlier: TrialRecord | None = None,
    *,
    barred: Mapping[tuple[str, str], Outcome] | None = None,
) -> TrialRecord:
    """One attempt at the case under a limit of 30 days, as it is read back from its line."""
    parts = TrialParts(
        subject=subject,
        judge=judge,
        judge_terms=JudgeTerms(),
        cases={KEY: FRESH},
        checks={KEY: (checks.build_check(CHECK, where="here"),)},
        barred=barred or {},
        max_age_days=LIMIT,
    )
    return record_from_json(record_to_json(run_trial(PLANNED, parts, earlier)))


@pytest.mark.parametrize(("days", "is_asked"), [(-2, False), (-1, True), (0, True), (LIMIT, True), (LIMIT + 1, False)])
def test_the_day_of_the_trial_counts(after: Callable[[int], None], days: int, is_asked: bool) -> None:
    """Nobody is asked past the limit, nor about a snapshot of a day to come; the record says on which day."""
    after(days)
    subject = Once()
    record = ran(subject, Judge(says=[PROSE, RUBRIC]))
    assert (subject.left == 0) == is_asked
    if is_asked:
        assert record.outcome.status == "PASS"
    else:
        assert (record.outcome.status, record.outcome.reason) == ("UNSCORED", Reason.STALE)
        assert f"on {record.started_at[:10]}, " in (record.outcome.detail or "")


def test_what_bars_a_case_otherwise_is_said_first(after: Callable[[int], None]) -> None:
    """A case that cannot be reached has that reason, however old it is."""
    after(LIMIT + 1)
    void = Outcome(status="UNSCORED", reason=Reason.VOIDED, stage=Stage.HARNESS, detail="seen")
    assert ran(Once(), Judge(says=[]), barred={KEY: void}).outcome == void


def test_an_answer_from_before_the_limit_is_still_judged(after: Callable[[int], None]) -> None:
    """The judge failed while the facts held; past the limit it is asked about that answer, and nobody answers anew."""
    after(LIMIT)
    judge, subject = Judge(says=[broken(), PROSE, RUBRIC]), Once()
    first = ran(subject, judge)
    after(LIMIT + 1)
    second = ran(subject, judge, first)
    assert (first.outcome.status, second.outcome.status, second.answer_attempt) == ("UNSCORED", "PASS", 1)


def test_a_trial_without_an_answer_ages_on(after: Callable[[int], None]) -> None:
    """Tried again past the limit it has no answer that the old facts could measure."""
    after(LIMIT)
    earlier = record_from_json(
        {**record_to_json(ran(Once(), Judge(says=[broken()]))), "answer": None, "marks": []},
    )
    after(LIMIT + 1)
    subject = Once()
    again = ran(subject, Judge(says=[]), earlier)
    assert (subject.left, again.outcome.reason, again.attempt) == (1, Reason.STALE, 2)
