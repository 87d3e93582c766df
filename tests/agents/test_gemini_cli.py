"""The Gemini CLI's output, captured from the real program, and how it is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.base import Ask, Told
from skillassay.agents.gemini_cli import BUILT_IN_SKILLS, GEMINI_CLI, SETTINGS, SKILL_TOOL
from skillassay.errors import Reason
from skillassay.transcript import ModelTurn, ToolTurn

LOCK = Path(__file__).parents[2] / "requirements" / "gemini-cli" / "package-lock.json"
CAPTURES = Path(__file__).parents[1] / "data" / "gemini-cli-0.61.0"
FAILURES = {  # capture: reason and kind of what the server had answered
    "server-error": (Reason.PROVIDER_ERROR, "server"),
    "quota": (Reason.PROVIDER_ERROR, "quota"),
    "auth": (Reason.PROVIDER_ERROR, "auth"),
    "safety": (Reason.BLOCKED, "safety"),
    "blocked-prompt": (Reason.PROVIDER_ERROR, "empty"),
    "malformed-call": (Reason.CONTRACT_ERROR, "malformed_function_call"),
    "cut": (Reason.TRUNCATED, "max_tokens"),
    "empty": (Reason.PROVIDER_ERROR, "empty"),
}


def captured(name: str) -> bytes:
    """The bytes of a capture."""
    return (CAPTURES / f"{name}.jsonl").read_bytes()


def events(name: str) -> list[dict[str, Any]]:
    """The events of a capture, read by the standard library alone."""
    return [json.loads(line) for line in captured(name).splitlines()]


def read(name: str) -> Told:
    """A capture as the adapter reads it."""
    return GEMINI_CLI.read(captured(name))


def test_the_captures_are_of_the_version_that_is_installed() -> None:
    """And the lock file names a hash for it and the host of no index."""
    text = LOCK.read_text("utf-8")
    package = json.loads(text)["packages"]["node_modules/@google/gemini-cli"]
    assert f"gemini-cli-{package['version']}" == CAPTURES.name
    assert package["integrity"].startswith("sha512-")
    assert "://" not in text


def test_the_answer_is_the_text_after_the_last_result() -> None:
    """In one piece, as the pieces of the stream say."""
    stream = events("script")
    last = max(at for at, event in enumerate(stream) if event["type"] == "tool_result")
    pieces = [event["content"] for event in stream[last:] if event["type"] == "message"]
    assert len(pieces) == 2
    assert read("script").answer == "".join(pieces)


def test_turns_alternate_and_hold_every_call_with_its_result() -> None:
    """Activate, run, answer: three model turns, two of them with a call that the next turn answers by its id."""
    turns = read("script").turns
    assert [type(turn) for turn in turns] == [ModelTurn, ToolTurn, ModelTurn, ToolTurn, ModelTurn]
    calls = [call for turn in turns if isinstance(turn, ModelTurn) for call in turn.calls]
    results = [result for turn in turns if isinstance(turn, ToolTurn) for result in turn.results]
    assert [call.name for call in calls] == [SKILL_TOOL, "run_shell_command"]
    assert [(result.name, result.id) for result in results] == [(call.name, call.id) for call in calls]
    assert "Solde au 15/10/2026" in results[1].response["output"]


def test_tokens_are_those_of_the_last_event() -> None:
    """Whole-session counts, over as many calls as there were model turns; thought tokens are not told."""
    stats, usage = events("script")[-1]["stats"], read("script").usage
    assert (usage.input_tokens, usage.output_tokens) == (stats["input_tokens"], stats["output_tokens"])
    assert (usage.total_tokens, usage.cached_tokens, usage.n_calls) == (stats["total_tokens"], stats["cached"], 3)
    assert usage.thought_tokens is None


def test_the_model_is_the_one_that_answered() -> None:
    """By the service's name; the name that was asked for stands in the stream too."""
    assert read("no-skill").model == next(iter(events("no-skill")[-1]["stats"]["models"]))
    assert read("no-skill").model != events("no-skill")[0]["model"]


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_by_its_reason_and_is_no_answer(name: str) -> None:
    """Also those with which the program exits 0."""
    told = read(name)
    assert told.failure is not None
    assert (told.failure.reason, told.failure.kind) == FAILURES[name]
    assert told.answer is None
    assert not told.turn_limit


@pytest.mark.parametrize("name", ["server-error", "quota", "auth"])
def test_a_request_that_failed_has_no_known_tokens(name: str) -> None:
    """The program counts from zero, and a zero would say that nothing was billed."""
    assert events(name)[-1]["stats"]["total_tokens"] == 0
    assert read(name).usage.total_tokens is None


def test_the_turn_limit_is_no_failure_and_no_answer() -> None:
    """It is the candidate's own end."""
    told = read("turn-limit")
    assert told.turn_limit
    assert told.failure is None
    assert told.answer is None
    assert told.usage.n_calls == 2


def test_a_failed_command_looks_like_any_other() -> None:
    """The stream does not tell an exit code, which the documents must say."""
    (result,) = [
        result for turn in read("failed-command").turns if isinstance(turn, ToolTurn) for result in turn.results
    ]
    assert result.response == {"status": "success", "output": "no"}


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_torn_stream_is_no_answer(cut: int) -> None:
    """A last line that is cut makes it unreadable."""
    told = GEMINI_CLI.read(captured("no-skill").rstrip(b"\n")[:-cut])
    assert told.answer is None


def test_a_stream_without_an_end_is_no_answer() -> None:
    """All text may be there; that it was all, nobody said."""
    lines = captured("no-skill").splitlines(keepends=True)
    told = GEMINI_CLI.read(b"".join(lines[:-1]))
    assert (told.answer, told.failure) == (None, None)


def test_a_warning_that_the_program_calls_none_ends_the_answer() -> None:
    """A detected loop stops the conversation, and the result says success."""
    *before, end = captured("no-skill").splitlines(keepends=True)
    warning = b'{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}\n'
    told = GEMINI_CLI.read(b"".join([*before, warning, end]))
    assert told.answer is None
    assert told.failure is not None
    assert told.failure.kind == "finish"


@pytest.mark.parametrize("line", [b"npm warn", b"[]", b"\xff", b'{"type":"result","type":"result"}'])
def test_a_line_that_is_no_event_makes_the_output_unreadable(line: bytes) -> None:
    """Nothing is guessed from the others."""
    told = GEMINI_CLI.read(captured("no-skill") + line + b"\n")
    assert told.failure is not None
    assert told.failure.kind == "non_json"


def settings(*, offers_skills: bool, **fields: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings file of a trial's launch, and its arguments."""
    ask = Ask(query="--help\n/x", settings="/agent", model="m", offers_skills=offers_skills, **fields)
    launch = GEMINI_CLI.trial(ask)
    return json.loads(launch.files[SETTINGS]), launch.arguments


def test_the_query_is_one_argument_that_cannot_be_an_option() -> None:
    """It stands behind an equals sign."""
    assert settings(offers_skills=True)[1][-1] == "--prompt=--help\n/x"


def test_skills_are_off_with_their_tool_where_none_is_offered() -> None:
    """The tool's description alone would be a trace of skills; what comes with the program is off everywhere."""
    off, on = settings(offers_skills=False)[0], settings(offers_skills=True)[0]
    assert (off["skills"], off["tools"]) == ({"enabled": False}, {"exclude": [SKILL_TOOL]})
    assert (on["skills"], on["tools"]) == ({"disabled": list(BUILT_IN_SKILLS)}, {})
    assert {k: v for k, v in off.items() if k not in {"skills", "tools"}} == {
        k: v for k, v in on.items() if k not in {"skills", "tools"}
    }


def test_the_contracts_terms_reach_the_program() -> None:
    """Temperature, output limit, seed and turn limit."""
    told, _ = settings(offers_skills=True, temperature=0.0, max_output_tokens=7, seed=3, turn_limit=5)
    overrides = told["modelConfigs"]["customOverrides"]
    # By no name of a model, since it asks some as another; and also for what it asks again, as its own override does.
    assert [item["match"] for item in overrides] == [{"model": "chat-base"}, {"model": "chat-base", "isRetry": True}]
    for item in overrides:
        assert item["modelConfig"]["generateContentConfig"] == {"temperature": 0.0, "maxOutputTokens": 7, "seed": 3}
    assert told["model"] == {"maxSessionTurns": 5}
