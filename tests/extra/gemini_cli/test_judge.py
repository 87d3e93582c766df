"""The real Gemini CLI as the judge: without tools, under our instructions, and out of reach of any folder."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from skillassay.errors import TrialError
from skillassay.fixture.rules import load_rules
from skillassay.judging.judge import JUDGE_INSTRUCTIONS
from skillassay.models.agent import load_agent_model
from skillassay.models.base import ModelRequest
from skillassay.transcript import UserTurn
from tests.extra.gemini_cli.program import KEY, NO_RULES, NamedServer
from tests.project import Cli, build_small, records, write_json


def test_it_judges_without_tools_and_under_our_instructions(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One request that offers no tool and knows no skill; its answer is the verdict.

    The user's own GEMINI.md cannot be kept from it, so that the run says so.
    """
    verdict = {"criteria": [{"id": "says-hello", "reasoning": "r", "evidence": "hello", "verdict": "PASS"}]}
    root = cli.root / "project"
    build_small(root, rules=[{"id": "a", "when": {"query": ["Greet"]}, "reply": {"text": "hello"}}])
    write_json(
        root / "judge.json",
        {
            "fixture": 1,
            "subject": [{"id": "v", "when": {"query": ["says-hello"]}, "reply": {"text": json.dumps(verdict)}}],
        },
    )
    rules, _ = load_rules([root / "judge.json"])
    assert rules is not None
    with NamedServer(rules, keep=10) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        asked = ("--mode", "progressive", "--case", "one", "--judge-model", "agent:gemini-cli/some-model")
        ran = Cli(root, cli._capture)("eval", "--model", "fixture", *asked)
        (request,) = (json.loads(body) for body in server.requests)
    (record,) = records(root)
    assert record["outcome"]["status"] == "PASS", record["outcome"]
    assert [tool for tool in request.get("tools", ()) if tool.get("functionDeclarations")] == []
    system = "".join(part["text"] for part in request["systemInstruction"]["parts"])
    assert system.startswith(JUDGE_INSTRUCTIONS.strip())
    assert "MARKER of the user" in system
    assert "GEMINI.md" in ran.err
    assert "MARKER of a skill" not in json.dumps(request)
    assert record["judge"]["usage"]["input_tokens"] is not None


def ask_judge_of(text: str) -> None:
    """One question, which no rule answers."""
    request = ModelRequest(system="OURS", turns=(UserTurn(text=text),))
    with pytest.raises(TrialError):
        load_agent_model("gemini-cli/some-model").generate(request)


@pytest.mark.parametrize("name", [".env", ".gemini/.env"])
def test_a_judge_takes_nothing_from_a_folder_above(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Who may write to the folder of temporary files would say key, address and proxy: here a key, which it has not."""
    above = cli.root / "temporary"
    (above / name).parent.mkdir(parents=True)
    (above / name).write_text(f"GEMINI_API_KEY={KEY}\n", "utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(above))
    with NamedServer(NO_RULES, keep=5) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        ask_judge_of("{}")
        assert server.requests == ()


def test_a_judged_answer_puts_no_file_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that says `@.gemini/settings.json` would have that file put behind it."""
    with NamedServer(NO_RULES, keep=5) as server:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        ask_judge_of('{"answer": "see @.gemini/settings.json for it"}')
        text = server.requests[0].decode()
    assert "OURS" in text
    assert "for it" in text
    assert "ignoreLocalEnv" not in text
