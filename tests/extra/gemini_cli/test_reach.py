"""The real Gemini CLI: what it reads, writes and sends of the user, of a case and of the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.base import Ask
from skillassay.agents.gemini_cli import GEMINI_CLI, SETTINGS
from skillassay.agents.launching import find_program
from skillassay.contract.contract import CandidateTerms
from skillassay.fixture.rules import load_rules
from skillassay.isolation.process import Isolation, run_command
from skillassay.models.gemini import GeminiModel
from skillassay.runs.plan import Mode
from skillassay.subjects.agent import AgentSubject, reach_agent
from skillassay.subjects.base import SubjectRequest
from skillassay.subjects.offering import Offering
from skillassay.tools import Catalog
from tests.extra.gemini_cli.program import KEY, NEEDS_NAMESPACES, NO_RULES, RULES, NamedServer, files_of
from tests.project import Cli, write_json


@pytest.mark.parametrize("name", [".env", ".gemini/.env"])
def test_a_cases_file_leads_the_key_nowhere(evaluate: Any, name: str) -> None:
    """It would say another address or proxy: refused, before anything is asked."""
    text = "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nHTTPS_PROXY=http://127.0.0.1:9\n"
    run = evaluate("none", given={name: text})
    assert run.record["outcome"]["reason"] == "missing_required_capability"
    assert run.bodies == ()


@pytest.mark.parametrize(
    ("leads", "ignored", "blind", "read"),
    [
        (".env", False, False, True),
        (".env", True, False, False),
        (".gemini/.env", True, False, True),
        (".gemini/.env", True, True, False),
    ],
)
def test_its_search_for_an_environment_ends_in_its_folder(
    tmp_path: Path, home: Path, leads: str, ignored: bool, blind: bool, read: bool
) -> None:
    """What each of our two measures does in the real program, alone: a folder above gives the key that it has not."""
    program, above, folder = find_program(GEMINI_CLI), tmp_path / "above", tmp_path / "above" / "folder"
    launch = GEMINI_CLI.trial(Ask(query="q", settings=str(folder), model="some-model"))
    settings = json.loads(launch.files[SETTINGS])
    settings["advanced"] = {"ignoreLocalEnv": settings["advanced"]["ignoreLocalEnv"] and ignored}
    write_json(folder / SETTINGS, settings)
    files = {above / leads: f"GEMINI_API_KEY={KEY}\n"}
    files |= {folder / name: text for name, text in GEMINI_CLI.blinds.items()} if blind else {}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with NamedServer(NO_RULES, keep=1) as server:
        own = {"HOME": str(home), "PATH": program.search_path, "GOOGLE_GEMINI_BASE_URL": server.base_url}
        argv = [program.path, *launch.arguments]
        run_command(argv, cwd=folder, env={**launch.env, **own}, timeout_s=60, max_output_bytes=1 << 20)
        assert bool(server.requests) is read


def test_the_users_home_is_neither_read_nor_written(evaluate: Any, home: Path) -> None:
    """None of its instructions and skills in a request, and not a byte of it changed."""
    before = files_of(home)
    run = evaluate("progressive")
    assert files_of(home) == before
    assert not any(b"MARKER" in body for body in run.bodies)


@NEEDS_NAMESPACES
def test_a_command_of_the_agent_sees_nothing_of_the_user(evaluate: Any, home: Path) -> None:
    """It runs what a model writes, so the user's home is not there for it."""
    command = f"cat {home}/.gemini/GEMINI.md; ls {home.parent}; echo end"
    rules = [
        {"id": "done", "when": {"prompt": ["Process Group PGID"]}, "reply": {"text": "done"}},
        {
            "id": "look",
            "when": {"query": ["Greet"]},
            "reply": {"calls": [{"name": "run_shell_command", "args": {"command": command}}]},
        },
    ]
    run = evaluate("none", rules)
    output = json.dumps(run.record["transcript"])
    assert "No such file or directory" in output
    assert "MARKER" not in output


def test_the_key_is_on_the_wire_and_in_nothing_else(evaluate: Any, cli: Cli) -> None:
    """Though a command reads it from the program's own environment and prints it."""
    command = "env; tr '\\0' '\\n' < /proc/$PPID/environ; echo end"
    rules = [
        {"id": "done", "when": {"prompt": ["GEMINI_CLI"]}, "reply": {"text": "done"}},
        {
            "id": "look",
            "when": {"query": ["Greet"]},
            "reply": {"calls": [{"name": "run_shell_command", "args": {"command": command}}]},
        },
    ]
    run = evaluate("none", rules)
    assert "GEMINI_CLI" in json.dumps(run.record["transcript"])
    texts = [text.decode("utf-8", "replace") for text in files_of(cli.root).values()]
    assert not any("canary" in text for text in [*texts, run.ran.out, run.ran.err])


def test_without_namespaces_its_settings_hold_too(home: Path, tmp_path: Path) -> None:
    """It skips some settings files by where they lie, in silence: skills would then be on in every mode."""
    write_json(tmp_path / "rules.json", {"fixture": 1, "subject": RULES[-1:]})
    rules, _ = load_rules([tmp_path / "rules.json"])
    assert rules is not None
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with NamedServer(rules, keep=5) as server:
        subject = AgentSubject(
            reached=reach_agent(GEMINI_CLI, GeminiModel(name="some-model", api_key=KEY, base_url=server.base_url)),
            terms=CandidateTerms(temperature=0.25),
            offering=Offering(catalog=Catalog(skills=()), prompt_skills=(), eager_scope="skill"),
            isolation=Isolation.PROCESS,
        )
        result = subject.answer(
            SubjectRequest(query="Greet one.", files=(), mode=Mode.NONE, skill_path="skills/greeter"), workspace
        )
        (body,) = server.requests
    assert result.answer == "good day", result.error
    assert b"activate_skill" not in body
    assert b"MARKER" not in body
    assert json.loads(body)["generationConfig"]["temperature"] == 0.25
