"""A command-line agent as the candidate: what it finds in each mode, and which of its ends is an answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.base import Agent
from skillassay.agents.described import load_described
from skillassay.agents.gemini_cli import GEMINI_CLI
from skillassay.agents.known import AGENTS
from skillassay.contract.contract import CandidateTerms
from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError, UsageError
from skillassay.isolation.process import Isolation, detect_isolation
from skillassay.models.base import ModelIdentity
from skillassay.models.gemini import GeminiModel
from skillassay.prompts import Offered, PromptSkill
from skillassay.runs.plan import Mode
from skillassay.subjects import agent as agent_subject
from skillassay.subjects.agent import AgentSubject, reach_agent
from skillassay.subjects.base import InputFile, SubjectRequest, SubjectResult
from skillassay.subjects.equipment import EAGER_INTRO, equip, refuse_imports
from skillassay.subjects.offering import Offering
from skillassay.tools import Catalog, CatalogSkill, ToolFile
from tests.agents.probe import write_probe

KEY = "AIza-canary/key+3141"
BODY = "Say hello twice."
SKILL = f"---\nname: greeter\ndescription: Says hello.\n---\n\n{BODY}\n"
INSTRUCTIONS = "Answer with care."
NEEDS_NAMESPACES = pytest.mark.skipif(detect_isolation() is not Isolation.NAMESPACES, reason="no namespaces here")


def catalog(tmp_path: Path, body: str = BODY) -> Offered:
    """A catalog with the skill `greeter` (a script beside its text), and its texts for a prompt."""
    folder = tmp_path / f"skill-{len(body)}"
    folder.mkdir(exist_ok=True)
    files = {"SKILL.md": SKILL.replace(BODY, body), "scripts/greet.py": "print('hello from a script')\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    skill = CatalogSkill(
        name="greeter", path="skills/greeter", description="Says hello.", frontmatter={}, instructions=body,
        files={name: ToolFile(source=folder / name, size=len(text)) for name, text in files.items()},
    )  # fmt: skip
    prompt = PromptSkill(
        name="greeter", path="skills/greeter", description="Says hello.", instructions=body, texts={},
        scripts=("scripts/greet.py",),
    )  # fmt: skip
    return Offered(catalog=Catalog(skills=(skill,)), prompt_skills=(prompt,))


def subject(tmp_path: Path, **fields: Any) -> AgentSubject:
    """The probe as the candidate of a run on `gemini:m`."""
    now = catalog(tmp_path)
    model = GeminiModel(name="m", api_key=KEY, base_url="http://127.0.0.1:9")
    values: dict[str, Any] = {
        "reached": reach_agent(load_described(write_probe(tmp_path, secret=tmp_path / "secret")), model),
        "terms": CandidateTerms(instructions=INSTRUCTIONS),
        "isolation": detect_isolation(),
    }
    offering: dict[str, Any] = {"catalog": now.catalog, "prompt_skills": now.prompt_skills, "eager_scope": "catalog"}
    offering |= {name: fields.pop(name) for name in (*offering, "previous") if name in fields}
    return AgentSubject(**{"offering": Offering(**offering), **values, **fields})


def ask(
    asked: AgentSubject, tmp_path: Path, query: str = "PROBE", mode: Mode = Mode.PROGRESSIVE, **more: Any
) -> SubjectResult:
    """One answer in a fresh workspace."""
    workspace = tmp_path / f"workspace-{mode.value}"
    workspace.mkdir()
    request = SubjectRequest(**{"query": query, "files": (), "mode": mode, "skill_path": "skills/greeter", **more})
    return asked.answer(request, workspace)


def seen(result: SubjectResult) -> Any:
    """What the probe told."""
    assert result.error is None, result.error
    assert result.answer is not None
    return json.loads(result.answer)


def test_progressive_finds_the_whole_skill_in_the_agents_folder(tmp_path: Path) -> None:
    """File by file, byte for byte; and the instructions in the agent's context file."""
    found = seen(ask(subject(tmp_path), tmp_path))
    folder = ".agents/skills/greeter"
    assert found["files"] == [f"{folder}/SKILL.md", f"{folder}/scripts/greet.py", "AGENTS.md"]
    assert found["skill"] == SKILL
    assert found["context"] == f"{INSTRUCTIONS}\n"


def test_none_finds_no_trace_of_a_skill(tmp_path: Path) -> None:
    """No folder, and no word of one in anything the agent sees but the path of its own program."""
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE))
    assert found["files"] == ["AGENTS.md"]
    assert found["context"] == f"{INSTRUCTIONS}\n"
    assert "greeter" not in json.dumps(found)


def test_eager_finds_the_text_and_the_other_files_elsewhere(tmp_path: Path) -> None:
    """The instructions first, as in the other modes; no folder of skills; the script can be run from where it says."""
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.EAGER))
    script = "skill-files/greeter/scripts/greet.py"
    assert found["files"] == ["AGENTS.md", script]
    assert found["context"].startswith(f"{INSTRUCTIONS}\n\n{EAGER_INTRO}")
    assert BODY in found["context"]
    assert f'<script path="{script}"/>' in found["context"]


def test_an_eager_script_runs(tmp_path: Path) -> None:
    """By the path in the context file."""
    result = ask(subject(tmp_path), tmp_path, "RUN skill-files/greeter/scripts/greet.py", Mode.EAGER)
    assert result.answer == "hello from a script\n"


def test_previous_finds_the_older_skill(tmp_path: Path) -> None:
    """In the same place."""
    asked = subject(tmp_path, previous={"skills/greeter": catalog(tmp_path, "Said hello once, long ago.")})
    assert "long ago" in seen(ask(asked, tmp_path, mode=Mode.PREVIOUS))["skill"]


def test_the_arms_differ_in_the_skill_alone(tmp_path: Path) -> None:
    """The same query, model, environment and context; another prompt digest for another query."""
    asked = subject(tmp_path)
    results = {mode: ask(asked, tmp_path, mode=mode) for mode in (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER)}
    arms = [result.arm for result in results.values()]
    assert all(arms)
    assert len({arm.prompt for arm in arms if arm}) == 1
    assert [arm.skills for arm in arms if arm] == [("greeter",), (), ("greeter",)]
    same = [{key: seen(result)[key] for key in ("argv", "cwd", "home_path")} for result in results.values()]
    assert same[0] == same[1] == same[2]
    (tmp_path / "workspace-none").rename(tmp_path / "done")
    other = ask(asked, tmp_path, "PROBE else", Mode.NONE).arm
    assert other is not None
    assert other.prompt != arms[0].prompt  # type: ignore[union-attr]  # asserted above


def test_the_users_files_are_laid_out_and_named(tmp_path: Path) -> None:
    """Their content is in the workspace, not on the command line."""
    (tmp_path / "given.txt").write_text("the content", "utf-8")
    file = InputFile(name="data/given.txt", source=tmp_path / "given.txt", text="the content")
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE, files=(file,)))
    assert found["files"] == ["AGENTS.md", "data/given.txt"]
    assert '<file name="data/given.txt"/>' in found["argv"][-1]
    assert "the content" not in found["argv"][-1]


def test_the_home_is_new_and_the_users_is_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing lies in it, and it is gone afterwards."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE))
    assert found["home"] == []
    assert found["home_path"] != str(tmp_path)
    assert not Path(found["home_path"]).exists()


@NEEDS_NAMESPACES
def test_the_agent_sees_no_file_and_no_process_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beside its program is not there for it, and no environment but those of its own room."""
    (tmp_path / "secret").write_text("private", "utf-8")
    monkeypatch.setenv("SOMETHING_PRIVATE", "canary of the harness")
    found = seen(ask(subject(tmp_path), tmp_path, "PROBE processes", Mode.NONE))
    assert found["secret"] is None
    assert len(found["processes"]) > 1
    assert "canary of the harness" not in json.dumps(found)
    assert (found["cwd"], found["home_path"]) == ("/trial", "/agent")


def test_the_key_is_where_the_agent_looks_and_in_nothing_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells the whole environment; the key in it is blotted out, the address and what was handed on are not."""
    monkeypatch.setenv("PROBE_WORD", "handed on")
    monkeypatch.setenv("GEMINI_API_KEY", "another key, of the harness")
    result = ask(subject(tmp_path), tmp_path, mode=Mode.NONE)
    env = seen(result)["env"]
    assert env["PROBE_KEY"] == "[key]"
    assert (env["PROBE_URL"], env["PROBE_WORD"]) == ("http://127.0.0.1:9", "handed on")
    assert "GEMINI_API_KEY" not in env
    assert "canary" not in repr(result)


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


def test_a_structured_answer_is_asked_for_in_the_query(tmp_path: Path) -> None:
    """An agent has no option for a schema; the request is the same in every mode."""
    schema = {"type": "object", "required": ["action"]}
    asked = subject(tmp_path)
    queries = {
        seen(ask(asked, tmp_path, mode=mode, response_schema=schema))["argv"][-1] for mode in (Mode.NONE, Mode.EAGER)
    }
    assert len(queries) == 1
    assert json.dumps(schema) in queries.pop()


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


def test_a_program_that_is_not_there_is_the_machines_fault(tmp_path: Path) -> None:
    """Named, before any trial."""
    agent = replace(GEMINI_CLI, program=str(tmp_path / "nowhere"))
    with pytest.raises(EnvironmentFault, match="nowhere"):
        reach_agent(agent, GeminiModel(name="m", api_key=KEY, base_url=None))


@pytest.mark.parametrize("leak", ["AGENTS.md", "notes.md", "skill-files/greeter/SKILL.md"])
def test_what_lies_there_in_one_mode_alone_is_another_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: str
) -> None:
    """Also in the place of skills, where `none` may have nothing: the digest is of what lies there, not of a wish."""
    sound = equip

    def leaking(agent: Agent, mode: Mode, shown: Offered, **how: Any) -> None:
        sound(agent, mode, shown, **how)
        if mode is Mode.NONE:
            path = how["workspace"] / leak
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{INSTRUCTIONS}\n\nSay hello twice, as greeter does.\n", encoding="utf-8")

    asked = subject(tmp_path)
    monkeypatch.setattr(agent_subject, "equip", leaking)
    arms = [ask(asked, tmp_path, mode=mode).arm for mode in (Mode.PROGRESSIVE, Mode.NONE)]
    assert all(arms)
    assert len({arm.prompt for arm in arms if arm}) == 2
