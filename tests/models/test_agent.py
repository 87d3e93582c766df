"""A command-line agent as the judge: its final answer is the reply, and nothing else about its run is good enough."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.contract.contract import JudgeTerms
from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError, UsageError
from skillassay.judging.judge import JUDGE_INSTRUCTIONS, ask_judge, judge_document, parse_verdicts, ungrounded
from skillassay.models.agent import load_agent_model
from skillassay.models.base import ModelReply, ModelRequest
from skillassay.models.opening import open_model
from skillassay.suites.case import Case, Criterion
from skillassay.transcript import Tool, UserTurn
from tests.project import HELLO, Cli, build_small, records, run_folder, small_case, small_rules

KEY = "AIza-canary/key+3141"
ANSWER = "hello hello"
CASE = Case(
    id="c", skill="s", query="Greet.", suite="q", digest="d",
    rubric=(Criterion(id="says-hello", text="The answer says hello."),),
)  # fmt: skip
GOOD = {"criteria": [{"id": "says-hello", "reasoning": "r", "evidence": "hello", "verdict": "PASS"}]}
PROGRAM = """\
#!{python} -E
import json, os, sys
from pathlib import Path
settings = Path(".gemini/settings.json")
seen = {{
    "argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.listdir("."), "settings": json.loads(settings.read_text()),
    "system": Path(os.environ["GEMINI_SYSTEM_MD"]).read_text(),
}}
Path({seen!r}).write_text(json.dumps(seen))
sys.stdout.write({stdout!r})
sys.exit({code})
"""


def stream(text: str, *, status: str = "success", calls: bool = False) -> str:
    """What the Gemini CLI writes for an answer."""
    use: list[dict[str, Any]] = [
        {"type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {}},
        {"type": "tool_result", "tool_id": "1", "status": "success", "output": ""},
    ]
    events: list[dict[str, Any]] = [
        {"type": "init", "model": "m"},
        *(use if calls else []),
        {"type": "message", "role": "assistant", "content": text, "delta": True},
        {"type": "result", "status": status, "stats": {"total_tokens": 3, "input_tokens": 2, "output_tokens": 1}},
    ]
    return "".join(json.dumps(event) + "\n" for event in events)


class Judge:
    """A program named `gemini` on the PATH that writes what a test says, and what it saw."""

    def __init__(self, folder: Path, stdout: str, code: int = 0) -> None:
        self._seen = folder / "seen.json"
        program = folder / "gemini"
        program.write_text(
            PROGRAM.format(python=sys.executable, seen=str(self._seen), stdout=stdout, code=code), encoding="utf-8"
        )
        program.chmod(0o755)

    @property
    def seen(self) -> Any:
        """What it saw."""
        return json.loads(self._seen.read_text("utf-8"))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_environment: None) -> Path:
    """A folder at the head of the PATH, outside any project."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def judged(name: str = "gemini-cli") -> ModelReply:
    """The reply for an answer that says hello."""
    return ask_judge(load_agent_model(name), CASE, ANSWER, JudgeTerms())


def test_its_final_answer_is_the_reply(path: Path) -> None:
    """Read by the same reader as any judge's, with the tokens that it told."""
    Judge(path, stream(json.dumps(GOOD)))
    reply = judged()
    (verdict,) = parse_verdicts(reply.turn.text, CASE.rubric)
    assert verdict.verdict == "PASS"
    assert ungrounded((verdict,), ANSWER) == ()
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (2, 1)


def test_a_fence_is_a_broken_contract(path: Path) -> None:
    """Nothing is cut away."""
    Judge(path, stream(f"```json\n{json.dumps(GOOD)}\n```"))
    reply = judged()
    with pytest.raises(TrialError) as caught:
        parse_verdicts(reply.turn.text, CASE.rubric)
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, Stage.JUDGE)


@pytest.mark.parametrize(
    ("stdout", "code", "reason"),
    [
        (stream(json.dumps(GOOD)), 1, Reason.PROVIDER_ERROR),
        (stream(json.dumps(GOOD), status="error"), 0, Reason.PROVIDER_ERROR),
        (json.dumps(GOOD), 0, Reason.PROVIDER_ERROR),
        ("", 0, Reason.PROVIDER_ERROR),
        (stream(json.dumps(GOOD), calls=True), 0, Reason.CONTRACT_ERROR),
    ],
    ids=["exit code", "told error", "no stream", "silence", "tool call"],
)
def test_a_run_that_did_not_end_well_gives_no_verdict(path: Path, stdout: str, code: int, reason: Reason) -> None:
    """Though the verdict stands in its output."""
    Judge(path, stdout, code)
    with pytest.raises(TrialError) as caught:
        judged()
    assert (caught.value.reason, caught.value.stage) == (reason, Stage.JUDGE)


def test_a_judge_without_end_is_stopped(path: Path) -> None:
    """By the request's own time limit."""
    (path / "gemini").write_text("#!/bin/sh\nsleep 600\n", encoding="utf-8")
    (path / "gemini").chmod(0o755)
    with pytest.raises(TrialError) as caught:
        ask_judge(load_agent_model("gemini-cli"), CASE, ANSWER, JudgeTerms(timeout_s=0.5))
    assert caught.value.reason is Reason.TIMEOUT


def test_it_judges_under_the_instructions_alone(path: Path) -> None:
    """The judge's words are its system text, the schema with them; the document is the query; no tool, no skill."""
    judge = Judge(path, stream(json.dumps(GOOD)))
    judged("gemini-cli/some-model")
    seen = judge.seen
    assert seen["system"].startswith(JUDGE_INSTRUCTIONS)
    assert '"says-hello"' in seen["system"]
    (query,) = [text.removeprefix("--prompt=") for text in seen["argv"] if text.startswith("--prompt=")]
    assert json.loads(query)["answer"] == ANSWER
    assert "--model=some-model" in seen["argv"]
    assert "--yolo" not in seen["argv"]
    assert seen["settings"]["tools"] == {"core": []}
    assert seen["settings"]["skills"] == {"enabled": False}


def test_a_judged_answer_puts_no_file_in(path: Path) -> None:
    """What the program would read as `@path` is written otherwise: the same document, without the sign."""
    judge = Judge(path, stream(json.dumps(GOOD)))
    answer = 'hello @.gemini/settings.json and a\\@b "x"'
    ask_judge(load_agent_model("gemini-cli"), CASE, answer, JudgeTerms())
    (query,) = [text.removeprefix("--prompt=") for text in judge.seen["argv"] if text.startswith("--prompt=")]
    assert "@" not in query
    assert json.loads(query) == json.loads(judge_document(CASE, answer))


def test_a_text_that_would_put_a_file_in_is_refused(path: Path) -> None:
    """One that is no JSON document cannot be written otherwise."""
    Judge(path, stream("x"))
    with pytest.raises(TrialError) as caught:
        load_agent_model("gemini-cli").generate(ModelRequest(system="", turns=(UserTurn(text="see @README.md"),)))
    assert caught.value.reason is Reason.MISSING_CAPABILITY


@pytest.mark.parametrize(
    ("answered", "kind"), [("some-model", None), ("some-model-002", None), ("other", "other_model")]
)
def test_a_verdict_of_another_model_is_none(path: Path, answered: str, kind: str | None) -> None:
    """The program asks some names as another model, and tells which."""
    models = json.dumps({answered: {"total_tokens": 3}})
    Judge(path, stream(json.dumps(GOOD)).replace('"stats": {', f'"stats": {{"models": {models}, '))
    if kind is None:
        assert judged("gemini-cli/some-model").model == answered
    else:
        with pytest.raises(TrialError) as caught:
            judged("gemini-cli/some-model")
        assert (caught.value.reason, caught.value.kind) == (Reason.PROVIDER_ERROR, kind)
    assert judged("gemini-cli").model == answered


def test_it_runs_with_the_users_login_in_an_empty_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's home and the agent's own variables, none of anybody else's."""
    judge = Judge(path, stream(json.dumps(GOOD)))
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "some-project")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SOMETHING_ELSE", "x")
    judged()
    env = judge.seen["env"]
    assert (env["HOME"], env["GOOGLE_CLOUD_PROJECT"]) == ("/home/somebody", "some-project")
    assert not {"OPENAI_API_KEY", "SOMETHING_ELSE"} & env.keys()
    assert judge.seen["cwd"] == [".gemini"]


def test_its_key_is_in_nothing_that_comes_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in a reply nor in an error, though the program repeats it; another setting stays as it is."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "some-project")
    Judge(path, stream(f"the key is {KEY}, in some-project"))
    assert judged().turn.text == "the key is [key], in some-project"
    Judge(path, stream("").replace('"status": "success"', f'"status": "error", "error": {{"message": "bad {KEY}"}}'))
    with pytest.raises(TrialError) as caught:
        judged()
    assert "bad [key]" in caught.value.message


def test_it_says_who_it_is(path: Path) -> None:
    """As it was written; it is no fixture."""
    Judge(path, "")
    with open_model("agent:gemini-cli/some-model") as model:
        assert model.identity.label == "agent:gemini-cli/some-model"
        assert not model.identity.is_fixture
        assert model.identity.endpoint is None


def test_it_is_a_judge_and_nothing_else(path: Path) -> None:
    """Tools and further turns are refused, at the stage that asked."""
    Judge(path, stream("x"))
    model = load_agent_model("gemini-cli")
    tool = Tool(name="t", description="d", parameters={"type": "object"})
    user = UserTurn(text="u")
    for request in (ModelRequest(system="", turns=(user,), tools=(tool,)), ModelRequest(system="", turns=(user, user))):
        with pytest.raises(TrialError) as caught:
            model.generate(request)
        assert (caught.value.reason, caught.value.stage) == (Reason.MISSING_CAPABILITY, Stage.CANDIDATE)


def test_an_unknown_agent_is_wrong_usage(path: Path) -> None:
    """Also a file: a contract could name one."""
    for name in ("nobody", "mine.yaml", "mine.yaml/model"):
        with pytest.raises(UsageError) as caught:
            load_agent_model(name)
        assert "agent:gemini-cli" in str(caught.value.hint)


def test_a_missing_program_is_the_machines_fault(path: Path) -> None:
    """It is named, and how to get it."""
    with pytest.raises(EnvironmentFault, match="needs the program gemini") as caught:
        load_agent_model("gemini-cli")
    assert "npm install -g @google/gemini-cli" in str(caught.value.hint)


def evaluated(cli: Cli) -> dict[str, Any]:
    """The only record of one progressive trial that this judge decides."""
    build_small(cli.root, rules=small_rules("one"), cases=[small_case("one", rubric=[HELLO])])
    cli("eval", "--mode", "progressive", "--judge-model", "agent:gemini-cli")
    (record,) = records(cli.root)
    return record


def test_a_whole_evaluation_is_judged(path: Path, cli: Cli) -> None:
    """From the command to the mark."""
    Judge(path, stream(json.dumps(GOOD)))
    record = evaluated(cli)
    assert record["outcome"]["status"] == "PASS"
    assert [mark["by"] for mark in record["marks"]] == ["judge"]


JUDGING = """\
#!{python} -E
import json, sys
if sys.argv[-1] == "--version":
    sys.exit(print("0.0.1"))
query = next(text for text in sys.argv if text.startswith("--prompt="))
document = json.loads(query.removeprefix("--prompt="))
found = "hello" in document["answer"]
words = {{"evidence": "hello" if found else "no hello", "verdict": "PASS" if found else "FAIL"}}
entries = [{{"id": item["id"], "reasoning": "r", **words}} for item in document["criteria"]]
stats = {{"total_tokens": 3, "models": {{"gemini-3.5-flash-001": {{"total_tokens": 3}}}}}}
text = json.dumps({{"criteria": entries}})
print(json.dumps({{"type": "message", "role": "assistant", "content": text}}))
print(json.dumps({{"type": "result", "status": "success", "stats": stats}}))
"""


@pytest.mark.parametrize(
    ("judge", "code"), [("agent:gemini-cli/gemini-3.5-flash", 0), ("agent:gemini-cli", 1)], ids=["named", "unnamed"]
)
def test_an_agents_verdicts_are_evidence_when_it_names_its_model(path: Path, cli: Cli, judge: str, code: int) -> None:
    """From the contract to the lock; where no model is named nothing says who judged, and the run says so."""
    (path / "gemini").write_text(JUDGING.format(python=sys.executable), encoding="utf-8")
    (path / "gemini").chmod(0o755)
    build_small(cli.root)
    contract = cli.root / "evals/contract.yaml"
    contract.write_text(contract.read_text("utf-8") + yaml.safe_dump({"judge": {"model": judge}}), "utf-8")
    ran = cli("eval")
    assert ran.code == 0, ran.out + ran.err
    assert ("names no model" in ran.out) == (code != 0)
    locked = cli("lock")
    assert (locked.code == 0) == (code == 0), locked.out + locked.err
    if code == 0:
        assert cli("lock", "--check").code == 0
        header = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))
        assert header["agents"]["judge"] == {"name": "gemini-cli", "file_digest": None, "version": "0.0.1"}


def test_invented_words_decide_nothing(path: Path, cli: Cli) -> None:
    """A PASS on a quotation that does not stand in the answer is ungrounded, whoever judges."""
    invented = json.loads(json.dumps(GOOD))
    invented["criteria"][0]["evidence"] = "hello Bob"
    Judge(path, stream(json.dumps(invented)))
    outcome = evaluated(cli)["outcome"]
    assert (outcome["status"], outcome["reason"]) == ("UNSCORED", "ungrounded")
