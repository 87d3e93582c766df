"""Which of an agent's ends is an answer, and what its stream says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.gemini_cli import GEMINI_CLI
from skillassay.contract.contract import CandidateTerms
from skillassay.errors import EnvironmentFault, Reason, Stage
from skillassay.models.gemini import GeminiModel
from skillassay.runs.plan import Mode
from skillassay.subjects.agent import reach_agent
from tests.agents.candidate import INSTRUCTIONS, KEY, ask, subject


@pytest.mark.parametrize("query", ["EXIT 1", "EXIT 53"])
def test_another_exit_code_than_0_is_no_answer(tmp_path: Path, query: str) -> None:
    """Whatever was printed before."""
    result = ask(subject(tmp_path), tmp_path, query)
    assert result.answer is None
    assert result.error is not None
    assert (result.error.reason, result.error.stage) == (Reason.PROVIDER_ERROR, Stage.CANDIDATE)
    assert f"exit code {query[5:]}" in result.error.message


def test_no_output_is_no_answer(tmp_path: Path) -> None:
    """Exit code 0 alone says nothing."""
    result = ask(subject(tmp_path), tmp_path, "SILENT")
    assert result.answer is None
    assert result.error is not None
    assert (result.error.reason, result.error.kind) == (Reason.PROVIDER_ERROR, "empty")


def test_an_agent_without_end_is_stopped(tmp_path: Path) -> None:
    """After a time-out for each turn; what it had printed is no answer."""
    terms = CandidateTerms(instructions=INSTRUCTIONS, timeout_s=0.75, turn_limit=2)
    result = ask(subject(tmp_path, terms=terms), tmp_path, "SLEEP")
    assert result.answer is None
    assert result.error is not None
    assert (result.error.reason, result.error.stage) == (Reason.TIMEOUT, Stage.CANDIDATE)


def test_a_flood_is_stopped(tmp_path: Path) -> None:
    """It is cut while it is read, and nothing of it is an answer."""
    result = ask(subject(tmp_path), tmp_path, "FLOOD")
    assert result.answer is None
    assert result.error is not None
    assert (result.error.reason, result.error.kind) == (Reason.TRUNCATED, "output")


def test_a_query_that_fits_on_no_command_line_is_no_answer(tmp_path: Path) -> None:
    """The machine is to blame."""
    result = ask(subject(tmp_path), tmp_path, "PROBE " + "x" * (128 << 10))
    assert result.error is not None
    assert result.error.reason is Reason.MISSING_CAPABILITY


def test_a_query_that_the_agent_takes_as_a_command_is_refused(tmp_path: Path) -> None:
    """`/help` would be answered by the program itself."""
    asked = subject(tmp_path)
    reached = replace(asked.reached, agent=replace(asked.reached.agent, commands_at="/"))
    result = ask(replace(asked, reached=reached), tmp_path, "/help")
    assert result.error is not None
    assert result.error.reason is Reason.MISSING_CAPABILITY


def gemini_stream(model: str, **end: Any) -> str:
    """What the Gemini CLI writes for an answer of this model."""
    stats = {"total_tokens": 3, "models": {model: {"total_tokens": 3}}}
    events: list[dict[str, Any]] = [
        {"type": "message", "role": "assistant", "content": "hello"},
        {"type": "result", "status": "success", "stats": stats, **end},
    ]
    return "".join(json.dumps(event) + "\n" for event in events)


TURNS = {"status": "error", "error": {"type": "FatalTurnLimitedError", "message": "m"}}


@pytest.mark.parametrize("end", [{}, TURNS], ids=["answer", "turn limit"])
@pytest.mark.parametrize(
    ("model", "is_other"), [("m", False), ("m-001", False), ("m-lite", True), ("other", True), ("m, other", True)]
)
def test_the_answer_of_another_model_is_no_answer(
    tmp_path: Path, model: str, is_other: bool, end: dict[str, Any]
) -> None:
    """An agent may ask another one than it was told to: unscored, and no failure of the candidate's."""
    program = tmp_path / "told"
    stats = {"total_tokens": 3, "models": {name: {"total_tokens": 3} for name in model.split(", ")}}
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{gemini_stream(model, stats=stats, **end)}EOF\n", "utf-8")
    program.chmod(0o755)
    agent = replace(GEMINI_CLI, program=str(program))
    reached = reach_agent(agent, GeminiModel(name="m", api_key=KEY, base_url="http://127.0.0.1:9"))
    result = ask(subject(tmp_path, reached=reached), tmp_path, "Greet.", Mode.NONE)
    if is_other:
        assert result.error is not None
        assert (result.error.reason, result.error.kind) == (Reason.PROVIDER_ERROR, "other_model")
        assert (result.answer, result.turn_limit) == (None, False)
    else:
        assert (result.answer, result.turn_limit) == ((None, True) if end else ("hello", False))


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        ("python3 .gemini/skills/greeter/scripts/greet.py", True),
        ("cat .gemini/skills/greeter/scripts/greet.py", False),
        ("echo .gemini/skills/greeter/scripts/greet.py", False),
        ("python3 .gemini/skills/other/scripts/greet.py", False),
    ],
)
def test_a_script_ran_when_a_command_called_it(tmp_path: Path, command: str, ran: bool) -> None:
    """Not when one printed it, nor when a description of the call names it."""
    described = "Runs greeter scripts/greet.py with python3 .gemini/skills/greeter/scripts/greet.py"
    call: list[dict[str, Any]] = [
        {
            "type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1",
            "parameters": {"command": command, "description": described},
        },
        {"type": "tool_result", "tool_id": "1", "status": "success", "output": ""},
    ]  # fmt: skip
    program = tmp_path / "told"
    text = "".join(json.dumps(event) + "\n" for event in call) + gemini_stream("m")
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{text}EOF\n", "utf-8")
    program.chmod(0o755)
    agent = replace(GEMINI_CLI, program=str(program))
    reached = reach_agent(agent, GeminiModel(name="m", api_key=KEY, base_url="http://127.0.0.1:9"))
    result = ask(subject(tmp_path, reached=reached), tmp_path, "Greet.")
    assert result.scripts == (("greeter/scripts/greet.py",) if ran else ())


def test_a_program_that_is_not_there_is_the_machines_fault(tmp_path: Path) -> None:
    """Named, before any trial."""
    agent = replace(GEMINI_CLI, program=str(tmp_path / "nowhere"))
    with pytest.raises(EnvironmentFault, match="nowhere"):
        reach_agent(agent, GeminiModel(name="m", api_key=KEY, base_url=None))
