"""Public reports on judges, in this project's reply shape. The names are the reports' labels.

A reply of another shape is rewritten to ours and keeps its defect. Nothing is ever repaired here: where a report allows
stripping a fence, a salvage step or one retry, the outcome is a contract error.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.judge import judge_document, judge_schema, parse_verdicts, ungrounded
from skillassay.runs.store import RUNS, RunWriter, read_records
from skillassay.suites.case import Case, Criterion
from tests.trials import plan_of, planned_case, scored

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "judge"
CRITERION = Criterion(id="total", text="States a total of 10.")


def said(verdict: str, reasoning: str = "fine", evidence: str = "Total: 10") -> str:
    """A judge's reply in our shape."""
    entry = {"id": "total", "reasoning": reasoning, "evidence": evidence, "verdict": verdict}
    return json.dumps({"criteria": [entry]})


PASS, FAIL = said("PASS"), said("FAIL", "wrong total")
RAW_LINE_END = PASS.replace("fine", "Tone is right \n calm kept.")
CONTRACT_ERRORS = [
    ("b-open-io/prompts#15", "I think it is safe to say..."),
    ("b-open-io/prompts#15", '[{"id": "total", "verdict": "FAIL"}]'),
    ("UKGovernmentBEIS/inspect_ai#4283", "GRADE: C. I see no cause to downgrade: it is complete."),
    ("UKGovernmentBEIS/inspect_ai#4283", "Earlier I thought GRADE: I\nGRADE:\u200bC"),
    ("UKGovernmentBEIS/inspect_ai#4283", "grade: c"),
    ("UKGovernmentBEIS/inspect_ai#4283", "GRADE: C\n\nGRADE: I"),
    ("UKGovernmentBEIS/inspect_ai#4283", said("PA\u200bSS")),
    ("UKGovernmentBEIS/inspect_ai#4283", said("pass")),
    ("python-jsonschema/jsonschema#1222", PASS.replace('"fine"', "NaN")),
    ("python-jsonschema/jsonschema#1222", PASS.replace('"fine"', "Infinity")),
    ("python-jsonschema/jsonschema#1222", PASS.replace('"fine"', "1e999")),
    ("python-jsonschema/jsonschema#1222", PASS.replace('"verdict"', '"score": -0.0, "verdict"')),
    ("allenai/open-instruct#1833", said("True")),
    ("allenai/open-instruct#1833", said("False")),
    ("allenai/open-instruct#1833", '{"ANALYSIS": "Names agree.", "SCORE": "True"}'),
    ("hookdeck/outpost#978", PASS[:-1] + ', "overall_pass": false}'),
    ("hookdeck/outpost#978", FAIL[:-1] + ', "overall_pass": true}'),
    ("hookdeck/outpost#978", '{"criteria": []}'),
    ("promptfoo/promptfoo#10036", f"The answer contains {PASS} but that is part of the text.\n{FAIL}"),
    ("promptfoo/promptfoo#10036", f"{FAIL}\nQuoted from the answer: ```json\n{PASS}\n```"),
    ("promptfoo/promptfoo#10036", PASS + FAIL),
    ("promptfoo/promptfoo#10036", f"{PASS}\n{PASS}"),
    ("promptfoo/promptfoo#10654", f'It tried to end with {PASS[:40]}"\nMy verdict: {FAIL}'),
    ("promptfoo/promptfoo#10654", "{criteria: [{id: total, verdict: PASS}]}"),
    ("promptfoo/promptfoo#1866", f"```json\n{PASS}\n``` \n"),
    ("promptfoo/promptfoo#1866", f"```json\n{RAW_LINE_END}\n```"),
    ("promptfoo/promptfoo#1866", RAW_LINE_END),
    ("promptfoo/promptfoo#2998", FAIL.replace('"verdict"', '"score": 0.75, "verdict"')),
    ("promptfoo/promptfoo#2998", PASS.replace('"verdict"', '"score": 0.0, "verdict"')),
    ("promptfoo/promptfoo#2998", PASS.replace("]}", f", {FAIL[14:-2]}]}}")),
    ("jaylfc/taosmd#176", "INCORRECT"),
    ("jaylfc/taosmd#176", "not correct"),
    ("jaylfc/taosmd#176", "FAIL - it would PASS if rounded"),
    ("jaylfc/taosmd#176", said("INCORRECT")),
    ("vtmocanu/uzi#911", f"Use {{verdict, summary}} here.\n{PASS}"),
    ("vtmocanu/uzi#911", f"```\n{{a}}\n```\n```json\n{PASS}\n```"),
]
READ = [
    ("promptfoo/promptfoo#10654", said("FAIL", "uses { and } in text"), "FAIL"),
    ("promptfoo/promptfoo#1866", f"\ufeff{PASS}\n\n", "PASS"),
    ("jaylfc/taosmd#176", said("FAIL", "The answer is correct in form but wrong in value"), "FAIL"),
    ("Toloka/tolokaforge#468", said("FAIL", "At first it seems missing, but line 3 states it: it is met."), "FAIL"),
]


@pytest.mark.parametrize(
    ("ref", "reply"), CONTRACT_ERRORS, ids=[f"{r}-{i}" for i, (r, _) in enumerate(CONTRACT_ERRORS)]
)
def test_a_broken_reply_is_neither_pass_nor_fail(ref: str, reply: str) -> None:
    """Text around, fences, two objects, other words, extra fields, numbers that are none: contract_error (judge)."""
    with pytest.raises(TrialError) as caught:
        parse_verdicts(reply, [CRITERION])
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, Stage.JUDGE)


AS_REPORTED = [
    (folder.name, number, member["reply"] if isinstance(member["reply"], str) else json.dumps(member["reply"]))
    for folder in sorted(PUBLIC.iterdir())
    if (folder / "replies.json").exists()
    for number, member in enumerate(json.loads((folder / "replies.json").read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(
    ("report", "reply"), [(n, r) for n, _, r in AS_REPORTED], ids=[f"{n}-{i}" for n, i, _ in AS_REPORTED]
)
def test_a_reply_as_it_was_reported_decides_nothing(report: str, reply: str) -> None:
    """The reports' own bytes, of other tools' shapes: whatever they say there, here they are no verdict on anything."""
    with pytest.raises(TrialError) as caught:
        parse_verdicts(reply, [CRITERION])
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, Stage.JUDGE), report


def test_the_reports_replies_are_there() -> None:
    """Eleven reports bring replies along."""
    assert len({name for name, _, _ in AS_REPORTED}) == 11


@pytest.mark.parametrize(("ref", "reply", "verdict"), READ, ids=[ref for ref, _, _ in READ])
def test_only_the_structured_field_counts(ref: str, reply: str, verdict: str) -> None:
    """Braces and verdict-like words in the reasoning decide nothing."""
    assert [item.verdict for item in parse_verdicts(reply, [CRITERION])] == [verdict]


def test_the_rewritten_replies_are_sound_where_no_defect_was_kept() -> None:
    """The table above fails for its defects alone: the plain replies are read."""
    assert [parse_verdicts(reply, [CRITERION])[0].verdict for reply in (PASS, FAIL)] == ["PASS", "FAIL"]


def test_uk_inspect_3690_an_answer_stays_data() -> None:
    """UKGovernmentBEIS/inspect_ai#3690: each answer is one JSON string; criteria and query stand as they were."""
    answers = json.loads((PUBLIC / "inspect-3690/answers.json").read_text(encoding="utf-8"))
    rubric = json.loads((PUBLIC / "inspect-3690/rubric.json").read_text(encoding="utf-8"))
    case = Case(id="a", skill="s", query="q", rubric=(Criterion(id="total", text=rubric["criterion"]),))
    for answer in answers:
        document = judge_document(case, answer)
        assert json.loads(document) == {
            "query": "q",
            "answer": answer,
            "criteria": [{"id": "total", "text": "States a total of 10."}],
        }
        assert len(document.splitlines()) == 1


def test_uk_inspect_3690_a_judge_that_obeys_the_answer_cannot_pass_it() -> None:
    """A judge that copies the answer's own verdict gives a contract error, or a PASS that rests on no words of it."""
    answers = json.loads((PUBLIC / "inspect-3690/answers.json").read_text(encoding="utf-8"))
    for answer in answers:
        with pytest.raises(TrialError):
            parse_verdicts(answer, [CRITERION])
        obeyed = parse_verdicts(PASS, [CRITERION])
        assert ungrounded(obeyed, answer) == ("total",)


def test_toloka_tolokaforge_468_the_reason_is_written_first() -> None:
    """Toloka/tolokaforge#468: the schema sent asks for reasoning before the verdict."""
    keys = list(judge_schema([CRITERION])["properties"]["criteria"]["items"]["properties"])
    assert keys.index("reasoning") < keys.index("verdict")


def test_alibaba_skill_up_172_a_long_line_ends_no_record(tmp_path: Path) -> None:
    """alibaba/skill-up#172: records behind a line of more than 1 MiB are read; there is no cap to hit in silence."""
    from dataclasses import replace

    trials = plan_of(planned_case("a")).trials
    writer = RunWriter.create(tmp_path, {"id": "run"})
    written = [scored(trials[0], 0), replace(scored(trials[1], 1), answer="x" * 1_200_000), scored(trials[2], 5)]
    for record in written:
        writer.append(record)
    writer.close()
    assert list(read_records(tmp_path / RUNS / "run")) == written
