"""The real Gemini CLI against the real fixture server: what it asks in each mode, and what its ends are taken for."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.base import Ask
from skillassay.agents.gemini_cli import GEMINI_CLI, SETTINGS
from skillassay.agents.launching import find_program
from skillassay.canonical import Json
from skillassay.contract.contract import DEFAULT_INSTRUCTIONS, CandidateTerms
from skillassay.errors import TrialError
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from skillassay.isolation.process import Isolation, detect_isolation, run_command
from skillassay.judging.judge import JUDGE_INSTRUCTIONS
from skillassay.models.agent import load_agent_model
from skillassay.models.base import ModelRequest
from skillassay.models.gemini import GeminiModel
from skillassay.runs.plan import Mode
from skillassay.subjects.agent import AgentSubject, reach_agent
from skillassay.subjects.base import SubjectRequest
from skillassay.subjects.offering import Offering
from skillassay.tools import Catalog
from skillassay.transcript import UserTurn
from tests.project import Cli, Ran, build_small, records, small_case, write_json

KEY = "AIza-canary/key+3141"
NO_RULES = FixtureRules(subject=(), judge=(), digest="")
MODES = ("progressive", "none", "eager")
BODY, DESCRIPTION = "Say hello twice, as greeter does.", "Says hello the way greeter does."
SCRIPT = "print('hello from the script')\n"
NEEDS_NAMESPACES = pytest.mark.skipif(detect_isolation() is not Isolation.NAMESPACES, reason="no namespaces here")
ACTIVATE = {"calls": [{"name": "activate_skill", "args": {"name": "greeter"}}]}
GREET = "python3 .gemini/skills/greeter/scripts/greet.py"
RULES = [  # activate, run the script, and say what it said; without the skill something else
    {"id": "said", "when": {"prompt": ["hello from the script"]}, "reply": {"text": "hello hello"}},
    {
        "id": "run",
        "when": {"prompt": [BODY], "tools": ["activate_skill"]},
        "reply": {"calls": [{"name": "run_shell_command", "args": {"command": GREET}}]},
    },
    {"id": "shown", "when": {"prompt": [BODY]}, "reply": {"text": "hello hello"}},
    {"id": "activate", "when": {"tools": ["activate_skill"]}, "reply": ACTIVATE},
    {"id": "alone", "when": {"query": ["Greet"]}, "reply": {"text": "good day"}},
]


@pytest.fixture(autouse=True)
def _installed() -> None:
    assert shutil.which("gemini"), "make test-gemini-cli installs the program and puts it on the PATH"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_environment: None) -> Path:
    """A user's home: a login, which a judge needs, and instructions and a skill, which must reach nobody."""
    folder = tmp_path / "home"
    (folder / ".gemini" / "skills" / "spy").mkdir(parents=True)
    (folder / ".gemini" / "GEMINI.md").write_text("MARKER of the user", "utf-8")
    (folder / ".gemini" / "skills" / "spy" / "SKILL.md").write_text(
        "---\nname: spy\ndescription: MARKER of a skill.\n---\nMARKER\n", "utf-8"
    )
    write_json(folder / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    monkeypatch.setenv("HOME", str(folder))
    return folder


class NamedServer(FixtureServer):
    """Answers as the model that every test asks for, as a provider would: another name is another experiment."""

    answers_as = "some-model"

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        status, reply = super().answer(body)
        return status, {**reply, "modelVersion": self.answers_as} if isinstance(reply, dict) else reply


class Run:
    """One evaluation through the real program, with every request that the server got."""

    def __init__(self, ran: Ran, root: Path, bodies: Sequence[bytes]) -> None:
        assert (root / ".skillassay").exists(), ran.err
        self.ran = ran
        self.records = records(root)
        self.bodies = bodies
        self.requests = [json.loads(body) for body in bodies]

    @property
    def record(self) -> dict[str, Any]:
        """The only record."""
        (record,) = self.records
        return record

    def tools(self, at: int = 0) -> set[str]:
        """The names of the tools that a request offered."""
        return {d["name"] for tool in self.requests[at].get("tools", ()) for d in tool["functionDeclarations"]}


@pytest.fixture
def evaluate(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Evaluate one case in one mode by these rules; the judge is the embedded fixture."""

    def run(
        mode: str,
        rules: Sequence[Mapping[str, Any]] = RULES,
        *,
        asked: str = "gemini:some-model",
        given: Mapping[str, str] | None = None,
        **contract: Any,
    ) -> Run:
        root = cli.root / f"project-{mode}"
        files = {"skills/greeter/scripts/greet.py": SCRIPT, **{f"evals/{n}": text for n, text in (given or {}).items()}}
        case = small_case("one", **({"files": list(given)} if given else {}))
        build_small(root, rules=[], cases=[case], files=files, **contract)
        write_json(root / "rules.json", {"fixture": 1, "subject": list(rules)})
        own, findings = load_rules([root / "rules.json"])
        assert own is not None, findings
        with NamedServer(own, keep=50) as server:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
            monkeypatch.setenv("GEMINI_API_KEY", KEY)
            options = ("--subject", "gemini-cli", "--model", asked, "--judge-model", "fixture")
            ran = Cli(root, cli._capture)("eval", *options, "--mode", mode)
            return Run(ran, root, server.requests)

    return run


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


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


def test_the_shipped_requests_are_routed(cli: Cli, shipped: Path) -> None:
    """Nine requests through the program on the embedded fixture, each to its skill and script or to none."""
    ran = cli("e2e", "--subject", "gemini-cli")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1].startswith("9/9 passed in ")


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
