"""Adjudications: how they are kept, whose word counts, and what they may change of a record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Reason, Stage, StoreError
from skillassay.gate.trials import Critical
from skillassay.people.adjudication import (
    ADJUDICATIONS,
    Adjudication,
    Target,
    append_adjudication,
    decided_record,
    decided_records,
    read_adjudications,
    trial_target,
    voices,
)
from skillassay.runs.plan import Mode
from skillassay.runs.record import Mark, Outcome, TrialRecord, content_digest, record_from_json, record_to_json
from skillassay.scoring.scores import score_run
from tests.trials import plan_of, planned_case, scored, unscored

TRIAL = next(trial for trial in plan_of(planned_case("a")).trials if trial.mode is Mode.PROGRESSIVE)
TARGET = Target(suite="q", case_id="a", mode="progressive", repeat=1)


def abstained(k: int = 3, **changes: Any) -> TrialRecord:
    """A trial of five criteria of which ``k`` passed and the judge left the others open."""
    marks = tuple(Mark(id=f"r{i}", by="judge", verdict="PASS", evidence="e") for i in range(k))
    record = unscored(TRIAL, Reason.JUDGE_ABSTAINED, Stage.JUDGE)
    return replace(record, **{"answer": "hello", "marks": marks, **changes})


def word(verdict: str, by: str = "Mika Sato", *, record: TrialRecord | None = None, **changes: Any) -> Adjudication:
    """One person's word on a record."""
    about = abstained() if record is None else record
    told: dict[str, Any] = {"target": TARGET, "reason": "I read it twice.", "at": "2026-12-01T00:00:00Z"} | changes
    return Adjudication(verdict=verdict, by=by, **{"record": content_digest((about,)), **told})


def test_they_come_back_as_they_were_said(tmp_path: Path) -> None:
    """Of a trial, of all repeats, of a case; in the order in which they were said."""
    said = [
        word("pass"),
        word("hold", target=Target(suite="q", case_id="a", mode="none")),
        word("oracle-invalid", target=Target(suite="q", case_id="a")),
    ]
    for item in said:
        append_adjudication(tmp_path, item)
    assert read_adjudications(tmp_path) == tuple(said)


BROKEN = {
    "no adjudication": {"adjudication": None},
    "newer": {"adjudication": 2},
    "nobody": {"by": "the judge"},
    "another verdict": {"verdict": "maybe"},
    "no record": {"record": None},
    "no repeat": {"repeat": "1"},
    "true for one": {"repeat": True},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_that_is_none_is_an_error(tmp_path: Path, name: str) -> None:
    """Exit 3 with file and line: nothing is passed over in silence."""
    append_adjudication(tmp_path, word("pass"))
    value = json.loads((tmp_path / ADJUDICATIONS).read_bytes()) | BROKEN[name]
    with (tmp_path / ADJUDICATIONS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")
    with pytest.raises(StoreError, match="line 2"):
        read_adjudications(tmp_path)


def test_of_one_person_the_last_word_counts() -> None:
    """However the name is spelled; of two people both are heard."""
    said = [word("pass"), word("fail", "Jo Berg"), word("hold", "MIKA  sato")]
    heard = voices(said, TARGET, content_digest((abstained(),)))
    assert sorted((item.by, item.verdict) for item in heard) == [("Jo Berg", "fail"), ("MIKA  sato", "hold")]


@pytest.mark.parametrize(
    ("by", "n_heard"), [("Dr. Mika Sato, QA lead", 1), ("Sato, Mika", 1), ("Sato", 2), ("M. Sato", 2)]
)
def test_a_lesser_name_silences_nobody(by: str, n_heard: int) -> None:
    """A title makes no second person; a name that may be another's does not take back what Mika Sato said."""
    assert len(voices([word("fail"), word("pass", by)], TARGET, content_digest((abstained(),)))) == n_heard


def test_a_word_is_about_one_record_only() -> None:
    """Not about another record of the trial, nor about another trial."""
    said = [word("pass")]
    assert voices(said, TARGET, content_digest((abstained(2),))) == ()
    assert voices(said, replace(TARGET, repeat=2), content_digest((abstained(),))) == ()


@pytest.mark.parametrize(("verdict", "status", "k"), [("pass", "PASS", 5), ("fail", "FAIL", 3)])
def test_what_the_judge_left_open_is_decided(verdict: str, status: str, k: int) -> None:
    """The open criteria get the person's verdict; what was decided stays, and the record is one that could be kept."""
    made = decided_record(abstained(), (word(verdict),))
    assert (made.outcome.status, made.k, len(made.marks)) == (status, k, 5)
    assert made.outcome.detail == "adjudicated by Mika Sato: I read it twice."
    assert made.marks[:3] == abstained().marks
    assert {mark.by for mark in made.marks[3:]} == {"person"}
    assert record_from_json(json.loads(json.dumps(record_to_json(made)))) == made


def test_an_open_criterion_that_failed_counts_as_critical() -> None:
    """In a case with a critical criterion nobody knows whether it was that one: the gate fails on it."""
    (row,) = score_run(plan_of(planned_case("a"), modes=(Mode.PROGRESSIVE,)), [abstained()], slices={}).rows
    critical = Critical(cases=frozenset(), criteria=frozenset({("q", "a")}))
    failed, passed = (decided_record(abstained(), (word(verdict),)) for verdict in ("fail", "pass"))
    assert critical.broken_in(replace(row, record=failed))
    assert not critical.broken_in(replace(row, record=passed))


FAILED_MARK = Mark(id="r0", by="code", verdict="FAIL", evidence="e")
UNTOUCHED = {
    "held": (abstained(), ("hold",)),
    "doubted": (abstained(), ("oracle-invalid",)),
    "disputed": (abstained(), ("pass", "pass", "fail")),
    "no answer": (abstained(answer=None), ("pass",)),
    "a failed check": (abstained(marks=(FAILED_MARK,)), ("pass",)),
    "a provider's error": (replace(unscored(TRIAL), answer="hello"), ("pass",)),
    "a score": (scored(TRIAL, 4), ("pass",)),
    "a full score": (scored(TRIAL, 5), ("fail",)),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_nothing_else_is_changed(name: str) -> None:
    """No score, no failed check, no trial without an answer, nothing that people dispute or hold."""
    record, verdicts = UNTOUCHED[name]
    said = tuple(word(v, f"Jo {chr(65 + i)}berg", record=record) for i, v in enumerate(verdicts))
    assert decided_record(record, said) is record


def test_only_the_record_that_was_meant_is_changed() -> None:
    """Of two attempts the one with the digest; the others stay the same objects, in their order."""
    first = replace(abstained(), outcome=Outcome(status="UNSCORED", reason=Reason.UNGROUNDED, stage=Stage.JUDGE))
    second = abstained(attempt=2)
    made = decided_records([first, second], [word("pass", record=second)])
    assert made[0] is first
    assert made[1].outcome.status == "PASS"
    assert trial_target(made[1]) == TARGET
