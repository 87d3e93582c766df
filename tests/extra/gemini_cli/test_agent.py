"""The real Gemini CLI against the real fixture server: what it asks in each mode, and what its ends are taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.contract import DEFAULT_INSTRUCTIONS
from tests.extra.gemini_cli.program import BODY, DESCRIPTION, NamedServer
from tests.project import Cli

MODES = ("progressive", "none", "eager")


def test_progressive_activates_the_skill_and_says_so(evaluate: Any) -> None:
    """The first request names the skill and does not hold its text; the text comes by activation, the script runs."""
    run = evaluate("progressive")
    assert run.record["outcome"]["status"] == "PASS"
    assert run.record["activated"] == ["greeter"]
    assert run.record["scripts"] == ["greeter/scripts/greet.py"]
    assert (run.record["arm"]["skills"], run.record["arm"]["skill_tools"]) == (["greeter"], ["activate_skill"])
    first, second, third = (body.decode() for body in run.bodies)
    assert DESCRIPTION in first
    assert BODY not in first
    assert BODY in second
    assert "hello from the script" not in second
    assert "hello from the script" in third
    assert "activate_skill" in run.tools()


def test_none_sends_no_trace_of_a_skill(evaluate: Any) -> None:
    """Not its name, not a tool, not the word: in none of the requests, byte for byte."""
    run = evaluate("none")
    assert run.record["outcome"]["status"] == "FAIL"
    assert run.record["answer"] == "good day"
    assert run.bodies
    for body in run.bodies:
        assert b"greeter" not in body.lower()
        # Without namespaces the paths are real ones, which begin with our own name.
        assert b"skill" not in body.lower().replace(b"skillassay-", b"")


def test_eager_sends_the_text_at_once(evaluate: Any) -> None:
    """In the context before the query, without a tool to activate it."""
    run = evaluate("eager")
    assert run.record["outcome"]["status"] == "PASS"
    assert run.record["activated"] == []
    assert BODY.encode() in run.bodies[0]
    assert b"skill-files/greeter/scripts/greet.py" in run.bodies[0]
    assert "activate_skill" not in run.tools()


def test_the_modes_differ_in_the_skill_alone(evaluate: Any) -> None:
    """The rest is equal: query, parameters, instructions, other tools; of none and eager also the system text."""
    runs = {mode: evaluate(mode) for mode in MODES}
    first = {mode: run.requests[0] for mode, run in runs.items()}
    assert len({json.dumps(request["generationConfig"], sort_keys=True) for request in first.values()}) == 1
    assert len({run.record["arm"]["prompt"] for run in runs.values()}) == 1
    assert runs["progressive"].tools() - {"activate_skill"} == runs["none"].tools() == runs["eager"].tools()
    for request in first.values():
        context, query = (part["text"] for part in request["contents"][0]["parts"])
        assert query == "Greet one."
        assert DEFAULT_INSTRUCTIONS in context
    assert first["none"]["systemInstruction"] == first["eager"]["systemInstruction"]


def test_the_contracts_terms_are_on_the_wire(evaluate: Any) -> None:
    """Temperature, output limit and seed, as our own loop sends them."""
    terms = {"model": "fixture", "temperature": 0.25, "max_output_tokens": 77, "seed": 5}
    config = evaluate("none", candidate=terms).requests[0]["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"], config["seed"]) == (0.25, 77, 5)


def test_a_name_that_it_asks_as_another_model_is_no_experiment(evaluate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks gemini-3.5-flash as a newer one: under the contract's terms all the same, and unscored."""
    monkeypatch.setattr(NamedServer, "answers_as", "gemini-3.8-flash")
    terms = {"model": "fixture", "temperature": 0.25, "max_output_tokens": 77, "seed": 5}
    run = evaluate("none", candidate=terms, asked="gemini:gemini-3.5-flash")
    config = run.requests[0]["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"], config["seed"]) == (0.25, 77, 5)
    outcome = run.record["outcome"]
    assert (outcome["status"], outcome["reason"], outcome["kind"]) == ("UNSCORED", "provider_error", "other_model")
    assert "gemini-3.8-flash" in outcome["detail"]


BAD_KEY = {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid."}

ENDS = {
    "http 500": ({"error": {"code": 500, "status": "INTERNAL", "message": "m"}}, "provider_error", "server"),
    "no key": ({"error": BAD_KEY}, "provider_error", "auth"),
    "blocked": ({"finish": "SAFETY"}, "blocked", "safety"),
    "blocked prompt": ({"finish": "BLOCKED_PROMPT"}, "provider_error", "empty"),
    "cut": ({"finish": "MAX_TOKENS"}, "truncated", "max_tokens"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_an_error_is_no_answer(evaluate: Any, name: str) -> None:
    """Also one with which the program exits 0: unscored, with its reason, at the candidate's stage."""
    reply, reason, kind = ENDS[name]
    run = evaluate("none", [{"id": "end", "when": {"query": ["Greet"]}, "reply": reply}])
    outcome = run.record["outcome"]
    assert (outcome["status"], outcome["reason"], outcome["stage"]) == ("UNSCORED", reason, "candidate")
    assert outcome["kind"] == kind
    assert run.record["answer"] is None


def test_turns_without_end_are_the_candidates_failure(evaluate: Any) -> None:
    """It is told the contract's limit and stops at it: 0 of n."""
    calls = {"calls": [{"name": "run_shell_command", "args": {"command": "echo again"}}]}
    rules = [{"id": "again", "when": {"query": ["Greet"]}, "reply": calls}]
    run = evaluate("none", rules, candidate={"model": "fixture", "turn_limit": 2})
    assert (run.record["outcome"]["status"], run.record["outcome"]["kind"]) == ("FAIL", "turn_limit")
    assert len(run.bodies) == 2


def test_the_shipped_requests_are_routed(cli: Cli, shipped: Path) -> None:
    """Nine requests through the program on the embedded fixture, each to its skill and script or to none."""
    ran = cli("e2e", "--subject", "gemini-cli")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1].startswith("9/9 passed in ")
