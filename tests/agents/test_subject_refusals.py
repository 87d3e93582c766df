"""What of a case, a skill or an address an agent would take for its own: refused, or kept out of its reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.described import load_described
from skillassay.agents.gemini_cli import GEMINI_CLI
from skillassay.agents.known import AGENTS
from skillassay.errors import EnvironmentFault, Reason, TrialError, UsageError
from skillassay.models.base import ModelIdentity
from skillassay.models.gemini import GeminiModel
from skillassay.prompts import Offered
from skillassay.runs.plan import Mode
from skillassay.subjects.agent import reach_agent
from skillassay.subjects.base import InputFile
from skillassay.subjects.equipment import equip, refuse_imports
from skillassay.tools import Catalog
from tests.agents.candidate import KEY, ask, catalog, seen, subject
from tests.agents.probe import write_probe


@pytest.mark.parametrize(
    "name",
    [
        *("AGENTS.md", ".agents/skills/x/SKILL.md", "skill-files/x", "agents.md", "data/AGENTS.md"),
        *(".env", ".env.local", ".ENV", ".git/config", ".probe/settings.json"),
    ],
)
def test_a_users_file_in_the_place_of_a_skill_or_of_settings_is_refused(tmp_path: Path, name: str) -> None:
    """It would be read as one, take the place of the instructions, or lead the agent and its key elsewhere."""
    (tmp_path / "given").write_text("x", "utf-8")
    file = InputFile(name=name, source=tmp_path / "given", text="x")
    result = ask(subject(tmp_path), tmp_path, mode=Mode.NONE, files=(file,))
    assert result.error is not None
    assert result.error.reason is Reason.MISSING_CAPABILITY


@pytest.mark.parametrize(
    ("agent", "names"),
    [
        ("gemini-cli", [".gemini/settings.json", ".gemini/.env", "GEMINI.md", "docs/GEMINI.md", ".geminiignore"]),
        ("claude-code", [".claude/settings.json", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md", "a/CLAUDE.md"]),
        ("codex", [".codex/config.toml", "AGENTS.md", "AGENTS.override.md", ".agents/skills/x/SKILL.md"]),
    ],
)
def test_an_agents_own_files_are_refused(tmp_path: Path, agent: str, names: list[str]) -> None:
    """Whatever it reads settings, servers, hooks or instructions from."""
    (tmp_path / "given").write_text("x", "utf-8")
    for name in names:
        file = InputFile(name=name, source=tmp_path / "given", text="x")
        with pytest.raises(TrialError, match=r"where .* looks for"):
            equip(
                AGENTS[agent], Mode.NONE, Offered(catalog=Catalog(skills=()), prompt_skills=()),
                instructions="", files=(file,), workspace=tmp_path,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("Read @.gemini/settings.json.", True),
        ("See @GEMINI.md", True),
        ("See x@gemini.md", True),
        ("What is in @data/given.txt?", True),
        ('What is in @"data/given.txt"?', True),
        ("What is in @\\./data?", True),
        ("Print @/etc/passwd", True),
        ("Write to anna@example.org and @bob.", False),
        ("At @ 5 EUR", False),
    ],
)
def test_a_query_that_puts_a_file_in_is_refused(tmp_path: Path, query: str, refused: bool) -> None:
    """Of an agent that does so: of the user's files, of its own and by any path; an address of mail is none."""
    (tmp_path / "given.txt").write_text("x", "utf-8")
    files = (InputFile(name="data/given.txt", source=tmp_path / "given.txt", text="x"),)
    refuse_imports(AGENTS["codex"], query, files)
    if refused:
        with pytest.raises(TrialError, match="name of a file to put in") as caught:
            refuse_imports(GEMINI_CLI, query, files)
        assert caught.value.reason is Reason.MISSING_CAPABILITY
    else:
        refuse_imports(GEMINI_CLI, query, files)


def test_its_search_for_settings_ends_in_the_workspace(tmp_path: Path) -> None:
    """In every mode alike: a file of ours lies where the program would look first."""
    found = []
    for mode in (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER):
        workspace = tmp_path / mode.value
        workspace.mkdir()
        equip(GEMINI_CLI, mode, catalog(tmp_path), instructions="", files=(), workspace=workspace)
        found.append((workspace / ".gemini" / ".env").read_bytes())
    assert found == [b"", b"", b""]


@pytest.mark.parametrize(
    ("url", "told"), [(None, "https://generativelanguage.googleapis.com"), ("http://127.0.0.1:9", "http://127.0.0.1:9")]
)
def test_the_address_is_always_said(tmp_path: Path, url: str | None, told: str) -> None:
    """Also the provider's own: a program that is told none looks for one in the files of a project."""
    described = load_described(write_probe(tmp_path))
    for agent in (described, replace(GEMINI_CLI, program=described.program)):
        reached = reach_agent(agent, GeminiModel(name="m", api_key=KEY, base_url=url))
        assert agent.url_variable is not None
        assert reached.access.env[agent.url_variable] == told


def test_the_password_of_an_address_is_in_nothing_that_comes_back(tmp_path: Path) -> None:
    """Of the model's address and of any that was handed on, as it stands and as it is meant."""
    model = GeminiModel(name="m", api_key=KEY, base_url="http://me:pa%2Fss@127.0.0.1:9/?token=query-canary")
    asked = subject(tmp_path, reached=reach_agent(load_described(write_probe(tmp_path)), model))
    env = seen(ask(asked, tmp_path, mode=Mode.NONE))["env"]
    assert env["PROBE_URL"] == "http://me:[key]@127.0.0.1:9/?token=[key]"


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("Ask @nobody.", True),
        ("See @./references/a.md first.", True),
        ("Write to a@example.org, or use `@decorator`.", False),
        ("```\n@dataclass\nclass A: ...\n```", False),
        ("At @ 5 EUR", False),
    ],
)
def test_text_that_the_agent_would_rewrite_is_refused(tmp_path: Path, body: str, refused: bool) -> None:
    """The Gemini CLI replaces @path in its context file, outside code, by the file or by a complaint."""
    shown = catalog(tmp_path, body)
    layout = shown
    workspace = tmp_path / "workspace"
    workspace.mkdir()

    def lay_out() -> None:
        equip(GEMINI_CLI, Mode.EAGER, layout, instructions="Be brief.", files=(), workspace=workspace)

    if refused:
        with pytest.raises(TrialError, match=r"GEMINI\.md"):
            lay_out()
    else:
        lay_out()
        assert body in (workspace / "GEMINI.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", ".."])
def test_a_name_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    """A skill's name is somebody's text and becomes no path."""
    (skill,) = catalog(tmp_path).catalog.skills
    shown = Offered(catalog=Catalog(skills=(replace(skill, name=name),)), prompt_skills=())
    with pytest.raises(TrialError, match="not the name of a folder"):
        equip(GEMINI_CLI, Mode.PROGRESSIVE, shown, instructions="", files=(), workspace=tmp_path)


class Named:
    """A model that has a name and no address."""

    def __init__(self, provider: str, name: str) -> None:
        self.identity = ModelIdentity(provider=provider, name=name, endpoint=None, is_fixture=False)


def test_an_agent_asks_no_model_of_another_kind(tmp_path: Path) -> None:
    """The record would name a model that nobody asked."""
    described = load_described(write_probe(tmp_path))
    gemini, own = (replace(AGENTS[name], program=described.program) for name in ("gemini-cli", "claude-code"))
    with pytest.raises(UsageError, match="cannot ask agent:codex"):
        reach_agent(gemini, Named("agent", "codex"))  # type: ignore[arg-type]  # all that is looked at
    with pytest.raises(UsageError, match="asks its own models"):
        reach_agent(own, GeminiModel(name="m", api_key=KEY, base_url=None))


def test_an_agent_with_its_own_models_needs_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name it looks for; its model is the one behind its name."""
    agent = replace(AGENTS["claude-code"], program=load_described(write_probe(tmp_path)).program)
    model: Any = Named("agent", "claude-code/some")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(EnvironmentFault, match="ANTHROPIC_API_KEY"):
        reach_agent(agent, model)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    reached = reach_agent(agent, model)
    public = {"ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
    assert (reached.model, dict(reached.access.env)) == ("some", {"ANTHROPIC_API_KEY": KEY, **public})
    assert KEY not in repr(reached)
