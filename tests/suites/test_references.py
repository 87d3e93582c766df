"""References of behaviour cases: what makes them material for calibrating a judge, and what does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillassay.findings import Finding, Severity
from skillassay.judging.behavior import ANSWER_SCHEMA, VERDICT_INSTRUCTIONS, ask_verdict, code_marks
from skillassay.project import load_project
from skillassay.schema import load_schema
from skillassay.suites.case import Suite
from skillassay.suites.facts import Reference
from skillassay.suites.references import NO_REFERENCES, NOT_PLAUSIBLE, WRONG, as_answer, reference_findings
from skillassay.transcript import UserTurn
from tests.judging.test_behavior import VERDICT
from tests.judging.test_judge import Scripted
from tests.project import Cli, build_small, small_case
from tests.suites.test_case import BEHAVIOR, CASE, read
from tests.suites.test_facts import REFERENCES

SUBJECT = CASE | {"rubric": [], "behavior": BEHAVIOR, "references": REFERENCES}
SIDES = {"positive": WRONG, "negative": NOT_PLAUSIBLE}


def changed(side: str, **fields: Any) -> dict[str, Any]:
    """The case with other fields in its first reference of a side."""
    case = copy.deepcopy(SUBJECT)
    case["references"][side][0] |= fields
    return case


def findings(folder: Path, *cases: dict[str, Any]) -> list[Finding]:
    """What is wrong with the references of a suite."""
    return reference_findings(Suite(name="q", version="1", path="quality.json", cases=read(folder, *cases)))


def test_sound_references_have_no_finding(tmp_path: Path) -> None:
    """Both sides carry the action and flag that the case demands."""
    assert findings(tmp_path, SUBJECT) == []


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action": "assist"}, 'behavior.action: answered "assist", demanded "refuse"'),
        ({"refused": False}, "behavior.refused: answered false, demanded true"),
        ({"response": " \n"}, "its response is blank"),
    ],
    ids=["action", "refused", "blank"],
)
def test_what_code_decides_is_wrong_on_either_side(
    tmp_path: Path, side: str, fields: dict[str, Any], words: str
) -> None:
    """An error at the case's line: a counter-example that code rejects would say nothing about a judge."""
    (finding,) = findings(tmp_path, CASE | {"id": "first"}, changed(side, **fields))
    assert (finding.code, finding.severity, finding.line) == (SIDES[side], Severity.ERROR, 5)
    assert f"case 'a', references.{side}[0]" in finding.message
    assert words in finding.message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    side=st.sampled_from(sorted(SIDES)),
    action=st.sampled_from(["assist", "refuse", "clarify", "abstain"]),
    refused=st.booleans(),
)
def test_a_reference_is_sound_where_both_marks_pass(tmp_path: Path, side: str, action: str, refused: bool) -> None:
    """Law: one finding for each comparison of a run that it would fail."""
    case = changed(side, action=action, refused=refused)
    (read_case,) = read(tmp_path, case)
    assert read_case.behavior is not None
    answer = as_answer(Reference(action=action, response="r", refused=refused))
    failed = [mark for mark in code_marks(answer, read_case.behavior) if not mark.passed]
    assert [finding.code for finding in findings(tmp_path, case)] == [SIDES[side]] * len(failed)


def test_a_case_without_references_is_named_where_others_have_some(tmp_path: Path) -> None:
    """A warning; cases without behaviour need none, and a suite without any has decided so."""
    bare = {name: value for name, value in SUBJECT.items() if name != "references"} | {"id": "bare"}
    (finding,) = findings(tmp_path, SUBJECT, CASE | {"id": "other"}, bare)
    assert (finding.code, finding.severity, finding.line) == (NO_REFERENCES, Severity.WARNING, 6)
    assert findings(tmp_path, bare, CASE | {"id": "other"}) == []


def test_a_references_shape_is_that_of_an_answer() -> None:
    """What a suite may hold as a reference is what a candidate may answer, and ``violates`` besides."""
    fields = load_schema("suite")["definitions"]["references"]["properties"]
    wanted: dict[str, Any] = ANSWER_SCHEMA["properties"]
    action = {"enum": wanted["action"]["enum"]}
    for side, more in (("positive", set()), ("negative", {"violates"})):
        item = fields[side]["items"]
        assert {name: item["properties"][name] for name in wanted} == wanted | {"action": action}
        assert set(item["properties"]) == set(item["required"]) == set(wanted) | more


def test_a_wrong_reference_stops_a_run(cli: Cli, tmp_path: Path) -> None:
    """`check` exits 1 and `eval` 3, before any model is called: the findings are of the project."""
    case = {name: changed("negative", action="assist")[name] for name in ("behavior", "references")}
    build_small(tmp_path, cases=[small_case("one", **case)])
    assert NOT_PLAUSIBLE in {finding.code for finding in load_project(tmp_path).findings}
    assert (cli("check").code, cli("eval").code) == (1, 3)
    assert not (tmp_path / ".skillassay" / "runs").exists()


def test_no_reference_reaches_the_judge_of_a_run(tmp_path: Path) -> None:
    """The judge's request has the same words whatever the references are."""
    asked = []
    for case in (SUBJECT, changed("positive", response="OTHER-WORDS"), changed("negative", violates="OTHER-WORDS")):
        judge = Scripted(json.dumps(VERDICT))
        (subject,) = read(tmp_path, case)
        ask_verdict(judge, subject, as_answer(Reference(action="refuse", response="No.", refused=True)), timeout_s=1.0)
        (request,) = judge.asked
        (turn,) = request.turns
        assert isinstance(turn, UserTurn)
        asked.append((request.system, turn.text))
    assert asked[0] == asked[1] == asked[2]
    assert asked[0][0] == VERDICT_INSTRUCTIONS
    assert "OTHER-WORDS" not in asked[1][1]
