"""What a judge can do wrong, and what a run with a fixture on one side alone may claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.cli.main import main
from tests.models.wire_server import Canned, WireServer, refusal, reply
from tests.project import HELLO, JUDGE_RULE, Cli, build_small, records, small_case, small_rules, verdicts

WRONG_REPLIES = {
    "text around": reply({"text": "Here: " + json.dumps({"criteria": []})}),
    "fenced": reply({"text": "```json\n" + json.dumps({"criteria": []}) + "\n```"}),
    "null": reply({"text": "null"}),
    "missing": reply({"text": json.dumps({"criteria": []})}),
    "unknown": verdicts(somebody="PASS"),
    "false in quotes": verdicts(says_hello="false"),
    "extra": reply({"text": json.dumps({"criteria": [], "total": 1})}),
    "cut": reply({"text": '{"criteria": ['}, finish="STOP"),
    "empty": reply({"text": ""}),
}


def judged(cli: Cli, monkeypatch: pytest.MonkeyPatch, *canned: Canned) -> dict[str, Any]:
    """The outcome of one trial whose answer is authored and whose judge replies so over the wire."""
    build_small(cli.root, rules=small_rules("one"), cases=[small_case("one")])
    with WireServer(*canned) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        cli("eval", "--mode", "progressive", "--judge-model", "gemini:judge")
    (record,) = records(cli.root)
    outcome: dict[str, Any] = record["outcome"]
    return outcome


@pytest.mark.parametrize("name", WRONG_REPLIES)
def test_a_judge_that_breaks_its_contract_decides_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Never PASS, never FAIL: contract_error at the judge's stage, whatever is wrong with the reply."""
    outcome = judged(cli, monkeypatch, WRONG_REPLIES[name])
    assert (outcome["status"], outcome["reason"], outcome["stage"]) == ("UNSCORED", "contract_error", "judge")


def test_a_judge_that_quotes_what_is_not_there_decides_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PASS on invented words is ungrounded."""
    entry = {"id": "says-hello", "reasoning": "r", "evidence": "hello Bob", "verdict": "PASS"}
    outcome = judged(cli, monkeypatch, reply({"text": json.dumps({"criteria": [entry]})}))
    assert (outcome["status"], outcome["reason"]) == ("UNSCORED", "ungrounded")


def test_a_judge_that_fails_is_the_judges_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage says whose provider it was."""
    outcome = judged(cli, monkeypatch, refusal(400, "INVALID_ARGUMENT", "no"))
    assert (outcome["reason"], outcome["stage"], outcome["kind"]) == ("provider_error", "judge", "request")


def test_a_judge_without_a_key_leaves_criteria_unscored(cli: Cli) -> None:
    """Checks still decide; the run says so beforehand and exits 3, never 0."""
    check = {"id": "greets", "type": "contains", "text": "hello"}
    build_small(cli.root, cases=[small_case(name, checks=[check]) for name in ("one", "two", "three")])
    ran = cli("eval", "--mode", "progressive", "--judge-model", "gemini:judge")
    assert ran.code == 3
    assert "warning: the judge cannot be asked, so criteria stay unscored: no key for the Gemini API" in ran.err
    record = records(cli.root)[0]
    assert [(mark["id"], mark["verdict"]) for mark in record["marks"]] == [("greets", "PASS")]
    assert (record["outcome"]["reason"], record["outcome"]["stage"]) == ("missing_required_capability", "judge")


MIXED = [
    (["--model", "gemini:some", "--judge-model", "fixture"], "FIXTURE JUDGE", (False, True)),
    (["--model", "fixture", "--judge-model", "gemini:some"], "FIXTURE CANDIDATE", (True, False)),
]


@pytest.mark.parametrize(("models", "notice", "authored"), MIXED)
def test_half_a_fixture_is_no_model_gate(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, models: list[str], notice: str, authored: tuple[bool, bool]
) -> None:
    """What is authored is said, what is not is not called a fixture, and only the fixture gate is passed."""
    build_small(cli.root)
    canned = reply({"text": "hello"}) if not authored[0] else verdicts(says_hello="PASS")
    with WireServer(canned) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        ran = cli("eval", *models, "--mode", "progressive")
    assert ran.out.startswith(notice)
    assert "no model was observed" not in ran.out
    assert "fixture_gate: " in ran.out
    result = json.loads(cli("report", "--format", "json").out)
    assert (result["subject"]["is_fixture"], result["judge"]["is_fixture"]) == authored
    assert result["decision"]["gate"] == "fixture_gate"
    trials, _, costs = ran.out.partition("case ")[2].partition("cost of ")
    assert ("~" in trials) == authored[0]
    assert [line.startswith("cost of ") and "~" in line for line in f"cost of {costs}".split("\n")[:1]] == [authored[0]]


def test_a_live_run_passes_no_gate_without_calibration(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model gate fails for an uncalibrated judge and without an approver, however good the answers: exit 1."""
    build_small(cli.root, cases=[small_case("one")])
    with WireServer(reply({"text": "hello"}), verdicts(says_hello="PASS")) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        ran = cli("eval", "--model", "gemini:some", "--mode", "progressive", "--jobs", "1")
    assert ran.code == 1
    assert "FIXTURE" not in ran.out
    assert "model_gate: FAILED" in ran.out
    assert "judge_calibrated" in ran.out


def test_the_helpers_agree(tmp_path: Path) -> None:
    """The small project passes as it stands, so that what a test changes is what it sees."""
    assert HELLO["id"] == JUDGE_RULE["criterion"]
    assert main(["--root", str(build_small(tmp_path)), "--quiet", "eval"]) == 0
