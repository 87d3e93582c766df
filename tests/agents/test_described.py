"""An agent described in a file: what it may say, and what its output is taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.agents.base import Ask
from skillassay.agents.described import load_described
from skillassay.agents.known import AGENTS, is_agent
from skillassay.errors import InputError, Reason

MINIMAL: dict[str, Any] = {
    "agent": 1,
    "name": "mine",
    "argv": ["./mine", "{query}"],
    "skills_folder": ".agents/skills",
    "context_file": "AGENTS.md",
    "output": "text",
}


def described(tmp_path: Path, **fields: Any) -> Any:
    """The agent of a file; a field of None is left out."""
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in {**MINIMAL, **fields}.items() if v is not None}), "utf-8")
    return load_described(path)


def test_a_program_with_a_slash_lies_beside_the_file(tmp_path: Path) -> None:
    """A bare name is looked for on the PATH."""
    assert described(tmp_path).program == str(tmp_path / "mine")
    assert described(tmp_path, argv=["mine", "{query}"]).program == "mine"


def test_placeholders_are_filled_in_once(tmp_path: Path) -> None:
    """A query that holds one is text; a query is one argument whatever is in it."""
    agent = described(tmp_path, argv=["./mine", "--ask={query}", "-m", "{model}", "{workspace}"])
    launch = agent.trial(Ask(query="a {model}; rm -rf {query}", settings="/agent", model="m"))
    assert launch.arguments == ("--ask=a {model}; rm -rf {query}", "-m", "m", "/trial")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"argv": ["./mine"]}, "{query}"),
        ({"argv": ["{query}", "x"]}, "{query}"),
        ({"argv": "mine {query}"}, "argv"),
        ({"skills_folder": "../up"}, "skills_folder"),
        ({"context_file": "/etc/x"}, "context_file"),
        ({"output": "json"}, "output"),
        ({"env": ["A=b"]}, "env[0]"),
        ({"reserved": ["a/b"]}, "reserved[0]"),
        ({"shell": True}, "unknown field"),
        ({"agent": 2}, "agent"),
        ({"name": None}, "missing field"),
    ],
)
def test_a_wrong_file_describes_no_agent(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    """Every problem is named with its field."""
    with pytest.raises(InputError) as caught:
        described(tmp_path, **fields)
    assert words in " ".join([caught.value.message, *(finding.message for finding in caught.value.findings)])


def test_a_text_answer_loses_its_line_end_alone(tmp_path: Path) -> None:
    """Nothing else is the terminal's; an empty output is no answer."""
    read = described(tmp_path).read
    assert read(b" two\n\nlines \n").answer == " two\n\nlines "
    assert read(b"\n").answer == ""
    assert read(b"").answer is None


def test_text_that_is_not_utf8_is_unreadable(tmp_path: Path) -> None:
    """It is an error, not an answer with holes."""
    told = described(tmp_path).read(b"\xff\n")
    assert told.answer is None
    assert told.failure.reason is Reason.PROVIDER_ERROR


def test_the_last_event_with_the_text_is_the_answer(tmp_path: Path) -> None:
    """By path, under the conditions."""
    read = described(tmp_path, output={"jsonl": "item.text", "where": {"item.type": "answer"}}).read
    first, last = (b'{"item": {"type": "answer", "text": "%b"}}\n' % text for text in (b"one", b"two"))
    thought = b'{"item": {"type": "thought", "text": "hm"}}\n{"item": []}\n'
    assert read(first + last + thought).answer == "two"
    assert read(thought).answer is None


def test_an_agent_that_is_told_no_model_says_so(tmp_path: Path) -> None:
    """The record's candidate would otherwise look like what answered."""
    assert "mine is told no model" in described(tmp_path).note
    assert described(tmp_path, key="MY_KEY").note == ""


def test_agents_that_nobody_ran_say_so() -> None:
    """Their notes name them experimental; the one that is tested has none."""
    assert {name for name, agent in AGENTS.items() if "experimental" in agent.note} == {"claude-code", "codex"}
    assert AGENTS["gemini-cli"].note == ""


@pytest.mark.parametrize(("kind", "expected"), [("codex", True), ("a/b.yaml", True), ("loop", False), ("adk", False)])
def test_names_and_files_are_agents(kind: str, expected: bool) -> None:
    """The built-in subjects are none."""
    assert is_agent(kind) is expected
