"""The judge: what it is sent, how its reply is read, and what is never guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.judge import (
    JUDGE_INSTRUCTIONS,
    ask_judge,
    judge_document,
    judge_schema,
    parse_verdicts,
    prompt_digest,
)
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.gemini_wire import ordered_schema
from skillassay.schema import schema_problems
from skillassay.suites.case import Case, Criterion
from skillassay.suites.files import CaseFile
from skillassay.transcript import ModelTurn, Usage, UserTurn

TOTAL, TONE = (
    Criterion(id="total", text="States a total of 10."),
    Criterion(id="tone", text="Is polite.", may_abstain=True),
)
CASE = Case(id="a", skill="s", query="How much?", rubric=(TOTAL, TONE))


def entry(name: str = "total", verdict: object = "PASS", **fields: object) -> dict[str, object]:
    """One entry of a reply."""
    return {"id": name, "reasoning": "r", "evidence": "e", "verdict": verdict} | fields


def reply(*entries: dict[str, object], **more: object) -> str:
    """A reply of these entries."""
    return json.dumps({"criteria": list(entries), **more})


@given(st.text())
def test_no_answer_can_leave_its_string(answer: str) -> None:
    """Law: whatever the answer's characters, the document holds exactly it and exactly our criteria."""
    document = json.loads(judge_document(CASE, answer))
    assert document["answer"] == answer
    assert document["query"] == "How much?"
    assert [item["id"] for item in document["criteria"]] == ["total", "tone"]
    assert set(document) == {"query", "answer", "criteria"}


@given(st.text())
def test_the_document_is_one_line(answer: str) -> None:
    """Law: no line of the answer can stand as a line of the document."""
    assert "\n" not in judge_document(CASE, answer)


def test_what_the_judge_is_told() -> None:
    """Files with text, the reference and the marks of criteria; neither mode, skill, id of the case nor checks."""
    source = CaseFile(path="a.txt", sha256="0", source=None, text="text")  # type: ignore[arg-type]
    case = Case(
        id="secret-id",
        skill="secret-skill",
        query="q",
        files=(source, CaseFile(path="b.png", sha256="0", source=None, text=None)),  # type: ignore[arg-type]
        checks=({"id": "secret-check", "type": "contains"},),
        rubric=(Criterion(id="x", text="t", absence=True, critical=True, explains="secret-check"), TONE),
        reference="ref",
    )
    text = judge_document(case, "answer")
    assert json.loads(text) == {
        "query": "q",
        "files": [{"name": "a.txt", "content": "text"}],
        "answer": "answer",
        "reference": "ref",
        "criteria": [
            {"id": "x", "text": "t", "absence": True},
            {"id": "tone", "text": "Is polite.", "may_abstain": True},
        ],
    }
    assert "secret" not in text


def test_the_example_in_the_prompt_fits_the_schema() -> None:
    """allenai/open-instruct#1833: a judge that copies the example obeys the contract."""
    example = json.loads(JUDGE_INSTRUCTIONS[JUDGE_INSTRUCTIONS.index('{"criteria"') :])
    criterion = Criterion(id=example["criteria"][0]["id"], text="t")
    assert schema_problems(example, judge_schema([criterion])) == []
    (verdict,) = parse_verdicts(json.dumps(example), [criterion])
    assert verdict.verdict == "PASS"


def test_reasoning_and_evidence_come_before_the_verdict() -> None:
    """Toloka/tolokaforge#468: the verdict is written last, in the schema and in what is sent to the service."""
    schema = judge_schema([TOTAL])
    assert list(entry_of(schema)["properties"]) == ["id", "reasoning", "evidence", "verdict"]
    assert entry_of(ordered_schema(schema))["propertyOrdering"] == ["id", "reasoning", "evidence", "verdict"]


def entry_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of one entry."""
    inner: dict[str, Any] = schema["properties"]["criteria"]["items"]
    return inner


def test_no_derived_field_is_asked_for() -> None:
    """hookdeck/outpost#978: a judge is never asked for a total, a score or an overall flag."""
    schema = judge_schema([TOTAL])
    assert list(schema["properties"]) == ["criteria"]
    assert set(entry_of(schema)["properties"]) == {"id", "reasoning", "evidence", "verdict"}
    for word in ("score", "overall", "total verdict"):
        assert word not in JUDGE_INSTRUCTIONS.lower()


@pytest.mark.parametrize("criteria", [[TOTAL], [TOTAL, TONE]])
def test_abstaining_is_offered_only_where_it_is_allowed(criteria: list[Criterion]) -> None:
    """ABSTAIN stands in the schema when one criterion allows it."""
    words = entry_of(judge_schema(criteria))["properties"]["verdict"]["enum"]
    assert words == ["PASS", "FAIL", *(["ABSTAIN"] if TONE in criteria else [])]


@pytest.mark.parametrize("turned", [False, True])
def test_verdicts_come_in_the_criterias_order(turned: bool) -> None:
    """The reply's order does not count; reasoning is dropped, evidence kept."""
    entries = [entry("total", "FAIL", evidence="no total"), entry("tone", "ABSTAIN")]
    verdicts = parse_verdicts(reply(*entries[:: -1 if turned else 1]), CASE.rubric)
    assert [(v.criterion.id, v.verdict, v.evidence) for v in verdicts] == [
        ("total", "FAIL", "no total"),
        ("tone", "ABSTAIN", "e"),
    ]


BOTH = (entry(), entry("tone"))


@pytest.mark.parametrize(
    "text",
    [
        reply(),
        reply(entry()),
        reply(entry(), entry()),
        reply(*BOTH, entry("extra")),
        reply(entry(), entry("other")),
        reply(*BOTH, BOTH[0]),
        reply(*BOTH, overall=True),
        reply(entry(score=1), BOTH[1]),
        reply(entry(verdict="pass"), BOTH[1]),
        reply(entry(verdict=True), BOTH[1]),
        reply(entry(verdict="true"), BOTH[1]),
        reply(entry(verdict="false"), BOTH[1]),
        reply(entry(verdict=None), BOTH[1]),
        reply(entry(verdict="PASS "), BOTH[1]),
        reply(entry(verdict="NOT PASS"), BOTH[1]),
        reply(entry(verdict="PA\u200bSS"), BOTH[1]),
        reply(entry(verdict="ABSTAIN"), BOTH[1]),
        reply(entry(verdict=["PASS"]), BOTH[1]),
        reply(entry(evidence=""), BOTH[1]),
        reply(entry(evidence=" \n"), BOTH[1]),
        reply(entry(evidence=None), BOTH[1]),
        reply(entry(evidence="e" * 4001), BOTH[1]),
        reply(entry(reasoning=None), BOTH[1]),
        reply(entry("Total"), BOTH[1]),
        reply(entry() | {"id": 1}, BOTH[1]),
        reply({"id": "total", "verdict": "PASS"}, BOTH[1]),
        json.dumps([entry(), entry("tone")]),
        json.dumps({"criteria": {"total": "PASS", "tone": "PASS"}}),
        json.dumps({"criteria": None}),
        reply(*BOTH).replace('"r"', "NaN", 1),
    ],
)
def test_any_departure_is_a_contract_error(text: str) -> None:
    """Missing, doubled, unknown, null, extra or renamed: neither PASS nor FAIL, and the judge's fault."""
    with pytest.raises(TrialError) as caught:
        parse_verdicts(text, CASE.rubric)
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, Stage.JUDGE)


class Scripted:
    """A judge that gives one reply and keeps what it was asked."""

    identity = ModelIdentity(provider="scripted", name="scripted", endpoint=None, is_fixture=True)

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[ModelRequest] = []

    def generate(self, request: ModelRequest) -> ModelReply:
        """The reply."""
        self.asked.append(request)
        return ModelReply(turn=ModelTurn(text=self.text), usage=Usage())

    def close(self) -> None:
        """Nothing to release."""


def test_the_request_is_strict() -> None:
    """One user turn, no tool, temperature 0, the schema that the reader uses, booked on the judge."""
    judge = Scripted("{}")
    ask_judge(judge, CASE, "the answer", JudgeTerms(max_output_tokens=77, timeout_s=3.0))
    (request,) = judge.asked
    assert request.system == JUDGE_INSTRUCTIONS
    assert request.turns == (UserTurn(text=judge_document(CASE, "the answer")),)
    assert request.response_schema == judge_schema(CASE.rubric)
    assert (request.tools, request.temperature, request.stage) == ((), 0.0, Stage.JUDGE)
    assert (request.max_output_tokens, request.timeout_s) == (77, 3.0)


def test_another_prompt_is_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest that evidence binds follows the instructions."""
    before = prompt_digest()
    monkeypatch.setattr("skillassay.judging.judge.JUDGE_INSTRUCTIONS", "Be kind.")
    assert prompt_digest() != before
