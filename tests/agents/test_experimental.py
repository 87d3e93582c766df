"""Agents that were never run here: their streams as documented, and that each end is told from the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillassay.agents.base import Ask, Told
from skillassay.agents.claude_code import CLAUDE_CODE
from skillassay.agents.codex import CODEX
from skillassay.transcript import ModelTurn


def lines(*events: dict[str, Any]) -> bytes:
    """A stream."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def claude(subtype: str, *, is_error: bool) -> Told:
    """A skill, then an answer, then this end."""
    use = {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "greeter"}}
    done = {"type": "tool_result", "tool_use_id": "1", "content": "ok"}
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}
    return CLAUDE_CODE.read(
        lines(
            {"type": "system", "subtype": "init", "model": "m", "tools": ["Skill", "Bash"]},
            {"type": "assistant", "message": {"content": [use]}},
            {"type": "user", "message": {"content": [done]}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "hello"}]}},
            {
                "type": "result",
                "subtype": subtype,
                "is_error": is_error,
                "result": "hello",
                "num_turns": 2,
                "usage": usage,
            },
        )
    )


def codex(*ends: dict[str, Any]) -> Told:
    """A command, a remark, an answer, then these ends."""
    command = {"id": "1", "type": "command_execution", "command": "ls", "aggregated_output": "a", "exit_code": 0}
    says = [{"type": "agent_message", "text": text} for text in ("let me look", "hello")]
    items = [command, *says]
    return CODEX.read(lines({"type": "thread.started"}, *({"type": "item.completed", "item": i} for i in items), *ends))


def test_claude_codes_answer_is_its_result() -> None:
    """With the tools that it told, the tokens and the model."""
    told = claude("success", is_error=False)
    assert (told.answer, told.tools, told.model, told.failure) == ("hello", ("Skill", "Bash"), "m", None)
    assert (told.usage.input_tokens, told.usage.total_tokens, told.usage.n_calls) == (5, None, 2)
    first = told.turns[0]
    assert isinstance(first, ModelTurn)
    assert first.calls[0].args == {"skill": "greeter"}


@pytest.mark.parametrize(("subtype", "is_error"), [("success", True), ("error_during_execution", True)])
def test_claude_codes_errors_are_no_answers(subtype: str, is_error: bool) -> None:
    """Not even an error that is named a success."""
    told = claude(subtype, is_error=is_error)
    assert told.answer is None
    assert told.failure is not None


def test_claude_codes_turn_limit_is_the_candidates_end() -> None:
    """Neither an answer nor a failure of the machine."""
    told = claude("error_max_turns", is_error=False)
    assert (told.answer, told.failure, told.turn_limit) == (None, None, True)


def test_codexs_answer_is_its_last_message() -> None:
    """A remark on the way is none."""
    told = codex({"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}})
    assert (told.answer, told.usage.input_tokens, told.failure) == ("hello", 5, None)


@pytest.mark.parametrize("ends", [(), ({"type": "turn.failed", "error": {"message": "no"}},)], ids=["none", "failed"])
def test_a_turn_of_codex_that_did_not_complete_is_no_answer(ends: tuple[dict[str, Any], ...]) -> None:
    """Though a message stands in the stream."""
    assert codex(*ends).answer is None


@pytest.mark.parametrize("agent", [CLAUDE_CODE, CODEX], ids=lambda agent: agent.name)
def test_a_query_is_behind_the_end_of_options(agent: Any) -> None:
    """One that begins with a hyphen is no option, to candidate and judge."""
    for launch in (agent.trial, agent.judge):
        arguments = launch(Ask(query="--help", settings="/agent")).arguments
        assert arguments[-2] == "--"
        assert arguments[-1].endswith("--help")
