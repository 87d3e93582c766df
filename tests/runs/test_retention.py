"""What a record keeps under ``retention: hash``: words of this program and of authors alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import Reason, Stage, StoreError
from skillassay.runs.attempts import Again, again_of
from skillassay.runs.record import (
    Arm,
    Outcome,
    Said,
    Sample,
    Spent,
    TrialRecord,
    record_from_json,
    record_to_json,
)
from skillassay.runs.retention import (
    CODES,
    HASH,
    HIDDEN,
    KINDS,
    OTHER,
    OTHER_MODEL,
    STATUSES,
    Retention,
)
from skillassay.runs.store import RunWriter
from tests.runs.spoken import HIDING, NAMES, spoken


def sample(evidence: str, kind: str | None) -> Sample:
    """One sample of a judge."""
    words = (Said(id="x", verdict="PASS", evidence=evidence),)
    return Sample(side="second", part="rubric", number=2, words=words, kind=kind)


@given(st.text(min_size=6, alphabet=st.characters(exclude_characters='"\\\\', min_codepoint=33)))
def test_no_text_is_left_whatever_it_is(text: str) -> None:
    """Of a record with the text in every place nothing holds it, unless the record's own words do anyway."""
    line = json.dumps(record_to_json(HIDING.keep(spoken(text))), ensure_ascii=False)
    bare = json.dumps(record_to_json(HIDING.keep(spoken("."))), ensure_ascii=False)
    assert text not in line or text in bare or text in KINDS | CODES | STATUSES  # fixed words of ours


@given(st.text())
def test_what_is_kept_passes_the_stores_own_look(text: str) -> None:
    """The second look finds nothing in what the first one made, and it reads back as it was written."""
    kept = HIDING.keep(spoken(text))
    HIDING.refuse_text(kept)
    assert record_from_json(json.loads(json.dumps(record_to_json(kept)))) == kept


SPOILED: dict[str, Callable[[TrialRecord], TrialRecord]] = {
    "answer": lambda r: replace(r, answer="said"),
    "judge_reply": lambda r: replace(r, judge_reply="said"),
    "marks.evidence": lambda r: replace(r, marks=(replace(r.marks[0], evidence="said"), *r.marks[1:])),
    "marks.verdict": lambda r: replace(r, marks=(replace(r.marks[0], verdict="said"), *r.marks[1:])),
    "outcome.detail": lambda r: replace(r, outcome=replace(r.outcome, detail="said")),
    "outcome.kind": lambda r: replace(r, outcome=replace(r.outcome, kind="said")),
    "transcript.text": lambda r: replace(r, transcript=[{"who": "ModelTurn", "text": "said"}]),
    "transcript.key": lambda r: replace(r, transcript=[{"said": None}]),
    "transcript.calls": lambda r: replace(r, transcript=[{"who": "ModelTurn", "calls": ["said"]}]),
    "activated": lambda r: replace(r, activated=("said",)),
    "scripts": lambda r: replace(r, scripts=("greeter/said",)),
    "candidate.model": lambda r: replace(r, candidate=Spent(model="said")),
    "judge.model": lambda r: replace(r, judge=Spent(model="gemini-x-said")),
    "samples.words.evidence": lambda r: replace(r, samples=(sample("said", None),)),
    "samples.kind": lambda r: replace(r, samples=(sample(HIDDEN, "said"),)),
    "second.model": lambda r: replace(r, second=Spent(model="said")),
    "arm.tools": lambda r: replace(r, arm=r.arm and replace(r.arm, tools=("said",))),
    "arm.skill_tools": lambda r: replace(r, arm=r.arm and replace(r.arm, skill_tools=("said",))),
    "hashes.answer": lambda r: replace(r, hashes=r.hashes and replace(r.hashes, answer="said")),
    "hashes.turns": lambda r: replace(r, hashes=r.hashes and replace(r.hashes, turns=("said",))),
}


@pytest.mark.parametrize("place", SPOILED)
def test_the_store_refuses_a_record_with_a_text(tmp_path: Path, place: str) -> None:
    """Whoever made it, and the message names the place and not the text; under ``full`` it is written."""
    spoiled = SPOILED[place](HIDING.keep(spoken("x")))
    writer = RunWriter.create(tmp_path, {"id": "r"}, Retention(rule=HASH, names=NAMES))
    with pytest.raises(StoreError) as caught:
        writer.append(spoiled)
    writer.close()
    assert "may hold a text" in str(caught.value)
    assert place in str(caught.value)
    assert "said" not in str(caught.value)
    assert (writer.folder / "trials.jsonl").read_bytes() == b""
    whole = RunWriter.create(tmp_path, {"id": "full"})
    whole.append(spoiled)
    whole.close()
    assert b"said" in (whole.folder / "trials.jsonl").read_bytes()


def test_a_whole_record_is_refused_at_its_first_text(tmp_path: Path) -> None:
    """One that nobody made fit."""
    writer = RunWriter.create(tmp_path, {"id": "r"}, Retention(rule=HASH, names=NAMES))
    with pytest.raises(StoreError):
        writer.append(spoken("said"))
    writer.close()


def test_fields_of_an_event_that_nobody_vouches_for_are_left_out(tmp_path: Path) -> None:
    """Under ``hash``; the event itself is written."""
    writer = RunWriter.create(tmp_path, {"id": "r"}, Retention(rule=HASH))
    writer.event("trial_done", trial="t1", status="PASS", said="said")
    writer.close()
    (line,) = (writer.folder / "events.jsonl").read_text("utf-8").splitlines()
    assert {"event": "trial_done", "trial": "t1", "status": "PASS"}.items() <= json.loads(line).items()
    assert "said" not in line


def test_numbers_and_authored_words_stay() -> None:
    """All fields but those that hold texts are as they were."""
    record, changed = spoken("said"), set()
    kept = HIDING.keep(record)
    for part in fields(record):
        if getattr(record, part.name) != getattr(kept, part.name):
            changed.add(part.name)
    assert changed == {
        *("outcome", "marks", "answer", "judge_reply", "transcript", "activated", "scripts", "candidate", "arm"),
        "hashes",
    }
    assert (kept.k, kept.lucky) == (record.k, record.lucky)
    assert [mark.evidence for mark in kept.marks] == [HIDDEN, HIDDEN]


def test_a_transcript_is_told_in_fixed_words() -> None:
    """Who spoke, which tool of the catalog was called, how it ended."""
    calls = [{"name": "load_skill", "args": {"skill_name": "said"}}, {"name": "said", "args": {}}]
    results = [
        {"name": "load_skill", "response": {"error": "said", "error_code": "SKILL_NOT_FOUND"}},
        {"name": "said", "response": {"error": "said", "error_code": "INVALID_ARGUMENTS"}},
        {"name": "run_skill_script", "response": {"stdout": "said", "status": "success"}},
        {"name": "load_skill", "response": {"instructions": "said"}},
    ]
    turns: Any = [
        {"who": "UserTurn", "text": "said"},
        {"who": "ModelTurn", "text": "said", "calls": calls},
        {"who": "ToolTurn", "results": results},
    ]
    assert HIDING.keep(replace(spoken("x"), transcript=turns)).transcript == [
        {"who": "UserTurn"},
        {"who": "ModelTurn", "calls": ["load_skill", OTHER]},
        {"who": "ToolTurn", "results": ["SKILL_NOT_FOUND", "INVALID_ARGUMENTS", "success", "done"]},
    ]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (None, None),
        ("gemini-x", "gemini-x"),
        ("models/gemini-x", "models/gemini-x"),
        ("gemini-x-001", "gemini-x-001"),
        ("gemini-x-preview-09-2025", "gemini-x-preview-09-2025"),
        ("gemini-x-lite", OTHER_MODEL),
        ("gemini-x-1 the answer is 42", OTHER_MODEL),
        ("gemini-x-123456789", OTHER_MODEL),
        ("the answer is 42", OTHER_MODEL),
        ("", OTHER_MODEL),
    ],
)
def test_a_model_is_told_under_a_name_that_was_asked_for(told: str | None, kept: str | None) -> None:
    """Or a revision of it in numbers and known words; a server may answer with anything in its place."""
    assert HIDING.keep(replace(spoken("x"), candidate=Spent(model=told))).candidate.model == kept


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_words_of_its_own(reason: Reason) -> None:
    """An error's message is never kept, and the record says which reason it was."""
    kept = HIDING.keep(spoken("said", status="UNSCORED", reason=reason)).outcome
    assert (kept.reason, kept.kind) == (reason, OTHER)
    assert kept.detail
    assert "said" not in kept.detail


def test_a_kind_stays_and_is_told_with_the_reason() -> None:
    """It is one of a fixed set."""
    outcome = Outcome(
        status="UNSCORED", reason=Reason.PROVIDER_ERROR, stage=Stage.JUDGE, kind="quota_day", detail="HTTP 429: said"
    )
    kept = HIDING.keep(replace(spoken("x"), outcome=outcome)).outcome
    assert (kept.kind, kept.detail) == ("quota_day", "the provider gave no usable reply (quota_day)")


def test_kinds_are_those_of_the_port() -> None:
    """Every kind of a provider error that the documentation of records names is known here."""
    page = (Path(__file__).parents[2] / "docs/reference/records.md").read_text("utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `provider_error` | quota"))
    named = row.split("|")[2].split("(")[0].replace(" ", "").split(",")
    assert len(named) > 10
    assert set(named) <= KINDS


def test_tools_that_only_an_agent_knows_stay_apart() -> None:
    """Arms are compared by their tools, so two unknown ones are not one."""
    arm = Arm(skills=(), files=(), tools=("one", "two", "load_skill"), skill_tools=(), prompt="p")
    kept = HIDING.keep(replace(spoken("x"), arm=arm)).arm
    assert kept is not None
    assert len(set(kept.tools)) == 3
    assert kept.tools[2] == "load_skill"
    assert kept == HIDING.keep(replace(spoken("y"), arm=arm)).arm


def test_what_was_kept_once_is_kept_as_it_is() -> None:
    """A hash of the words that stand for a text would be in the place of the text's own."""
    kept = HIDING.keep(spoken("yes"))
    assert HIDING.keep(kept) == kept


def test_full_keeps_the_record_as_it_is() -> None:
    """And needs no key."""
    record = spoken("yes")
    assert Retention().keep(record) is record


JUDGE_FAILED = Outcome(status="UNSCORED", reason=Reason.UNGROUNDED, stage=Stage.JUDGE)

HARNESS_FAILED = Outcome(status="UNSCORED", reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS)


@pytest.mark.parametrize(
    ("outcome", "full", "hashed"),
    [(JUDGE_FAILED, Again.JUDGE, Again.WHOLE), (HARNESS_FAILED, None, None)],
    ids=["judge", "after an answer"],
)
def test_a_judge_cannot_be_asked_again_about_an_answer_that_is_gone(
    outcome: Outcome, full: Again | None, hashed: Again | None
) -> None:
    """Then the whole trial is; what may not be tried again under ``full`` may not be here either."""
    record = replace(spoken("x"), outcome=outcome)
    assert again_of(record) == full
    assert again_of(HIDING.keep(record)) == hashed
