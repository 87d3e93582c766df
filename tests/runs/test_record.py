"""The record of a trial: it reads back as written, refuses what it cannot mean, and its content has a digest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.canonical import parse_json
from skillassay.errors import Reason, Stage, StoreError
from skillassay.runs.record import Mark, Outcome, TrialRecord, content_digest, record_from_json, record_to_json
from tests.trials import plan_of, planned_case, scored, turn_limit, unscored

PLAN = plan_of(planned_case("a"), planned_case("b"), repeats=2)
TRIAL = PLAN.trials[0]
RECORDS = st.one_of(
    st.integers(0, 5).map(lambda k: scored(TRIAL, k)),
    st.builds(unscored, st.just(TRIAL), st.sampled_from(Reason), st.sampled_from(Stage), k=st.integers(0, 5)),
    st.just(turn_limit(TRIAL)),
)


def stored(record: TrialRecord) -> dict[str, Any]:
    """The record as a line of the log holds it."""
    value: dict[str, Any] = parse_json(json.dumps(record_to_json(record)))
    return value


@given(RECORDS, st.text(), st.text())
def test_a_record_reads_back(record: TrialRecord, answer: str, detail: str) -> None:
    """Law: what was written is what is read, whatever the texts."""
    outcome = replace(record.outcome, detail=detail)
    record = replace(record, answer=answer, outcome=outcome, activated=("s",), transcript=[{"who": "x"}])
    assert record_from_json(stored(record)) == record


@pytest.mark.parametrize(
    "change",
    [
        {"record": 2},
        {"record": 0},
        {"record": True},
        {"record": "1"},
        {"surprise": 1},
        {"outcome": None},
        {"outcome": {"status": "MAYBE"}},
        {"outcome": {"status": "UNSCORED"}},
        {"outcome": {"status": "PASS", "reason": "timeout"}},
        {"outcome": {"status": "FAIL", "reason": "no such reason"}},
        {"marks": None},
        {"marks": [{"id": "x"}]},
        {"candidate": {"usage": {"pounds": 1}}},
        {"judge": []},
        {"n_criteria": 4},
    ],
    ids=str,
)
def test_what_is_no_record_is_refused(change: dict[str, Any]) -> None:
    """Another version, field, status or reason is a StoreError, never a guess."""
    with pytest.raises(StoreError):
        record_from_json(stored(scored(TRIAL, 5)) | change)


@pytest.mark.parametrize(("k", "status"), [(4, "PASS"), (5, "FAIL"), (0, "PASS")])
def test_status_and_marks_say_one_thing(k: int, status: str) -> None:
    """PASS means k = n: a damaged line cannot pass with a failed mark, nor fail with all passed."""
    record = stored(scored(TRIAL, k))
    record["outcome"]["status"] = status
    with pytest.raises(StoreError, match="marks do not"):
        record_from_json(record)


@pytest.mark.parametrize(("status", "reason"), [("MAYBE", None), ("UNSCORED", None), ("PASS", Reason.TIMEOUT)])
def test_an_outcome_is_one_of_three(status: str, reason: Reason | None) -> None:
    """Unscored with a reason, or scored without one; there is no fourth."""
    with pytest.raises(ValueError, match="status"):
        Outcome(status=status, reason=reason)


def test_the_digest_does_not_hang_on_order_time_or_id() -> None:
    """Trials end in any order, at any time, under any id: the same content has the same digest."""
    records = [scored(trial, 5) for trial in PLAN.trials]
    moved = [replace(r, trial_id="x", started_at="2026-01-01T00:00:00Z", duration_s=9.0) for r in reversed(records)]
    assert content_digest(moved) == content_digest(records)


def test_the_digest_does_not_hang_on_the_order_of_twins() -> None:
    """Even two records of one trial and attempt are put in one order."""
    twins = [scored(TRIAL, 5), scored(TRIAL, 3)]
    assert content_digest(twins) == content_digest(twins[::-1])


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "other"},
        {"judge_reply": "other"},
        {"attempt": 2},
        {"mode": "eager"},
        {"activated": ("s",)},
        {"marks": ()},
    ],
    ids=str,
)
def test_the_digest_hangs_on_what_was_observed(change: dict[str, Any]) -> None:
    """Answers, verdicts, attempts: another content is another digest."""
    record = scored(TRIAL, 3)
    assert content_digest([replace(record, **change)]) != content_digest([record])


@pytest.mark.parametrize(
    ("check", "criterion", "explains", "lucky"),
    [
        ("PASS", "FAIL", "total", True),
        ("PASS", "PASS", "total", False),
        ("FAIL", "FAIL", "total", False),
        ("PASS", "FAIL", None, False),
        ("PASS", "FAIL", "other", False),
    ],
)
def test_a_lucky_pass(check: str, criterion: str, explains: str | None, lucky: bool) -> None:
    """The check passed while the criterion that explains it failed: the right figure for the wrong reason."""
    marks = (
        Mark(id="total", by="code", verdict=check, evidence="e"),
        Mark(id="cap", by="judge", verdict=criterion, evidence="e", explains=explains),
    )
    assert replace(scored(TRIAL, 3), marks=marks).lucky == ((("total", "cap"),) if lucky else ())


def test_modes_are_stored_by_their_words() -> None:
    """A record can be read without this version's enum."""
    assert {record_to_json(scored(trial, 5))["mode"] for trial in PLAN.trials} == {"progressive", "none", "eager"}
