"""Minimal data on other ways: another wire format, an agent, a kill; and what needs texts refuses."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillassay.isolation.process import Isolation, probe_isolation
from skillassay.runs.preparation import EvalRequest
from skillassay.runs.retention import HIDDEN
from skillassay.suites.routing import prepare_routing, run_routing
from tests.acceptance.every_byte import HEAD, TAIL, found_everywhere, mark
from tests.acceptance.house import MODES, PATIENCE_S, House, build
from tests.acceptance.marked_server import MarkedServer
from tests.models.wire_server import Canned, Seen, chat, chat_refusal
from tests.project import run_folder

needs_room = pytest.mark.skipif(
    probe_isolation().level is not Isolation.NAMESPACES, reason="a script below namespaces may outlive its run"
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[[str], House]]:
    """A house on a server that holds nothing, built when asked for."""
    with MarkedServer() as server:
        yield lambda name: build(tmp_path, server, "hash", names=(name,))


def test_a_run_that_is_whole_has_no_key(house: Callable[[str], House]) -> None:
    """From then on no text can be tried against its hashes; it is shown, gated and locked all the same."""
    here = house("plain")
    here.run("eval", "eval")
    assert {one["status"] for one in here.outcomes} == {"PASS"}
    names = {path.name for path in run_folder(here.root).iterdir()}
    assert names == {"run.json", "trials.jsonl", "events.jsonl", "result.json", "cases.json"}
    assert here.run("report", "report") == 0


def test_calls_of_a_request_are_told_by_names_of_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Routing keeps no record; what it gives to be printed holds nothing else."""
    with MarkedServer() as server:
        here = build(tmp_path, server, "hash")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k-held")
        request = EvalRequest(root=here.root, allow_unisolated=True)
        results = {result.case.id: result for result in run_routing(prepare_routing(request))}
    assert results["asks-reads"].calls == ("load_skill", "load_skill_resource")
    assert results["asks-reads"].answer == HIDDEN
    assert results["asks-refused"].answer is None


def in_workspace(house: House) -> bool:
    """Whether the slow script has written its text into its workspace, below the temporary folder."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if "workspace" in found_everywhere([house.top / "tmp"], {}, ["workspace"]):
            return True
        time.sleep(0.05)
    return False


@needs_room
def test_a_second_interrupt_leaves_no_workspace(house: Callable[[str], House]) -> None:
    """Dropped trials leave neither what their script wrote nor the run's copy of the skills."""
    here = house("workspace")
    running = here.start("eval", "--jobs", "2")
    assert in_workspace(here)
    running.send_signal(signal.SIGINT)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    assert here.end("eval", running) == 130
    assert list((here.top / "tmp").iterdir()) == []
    assert found_everywhere([here.top], here.said, ["workspace"]) == {}


@needs_room
def test_what_a_kill_leaves_the_next_run_removes(house: Callable[[str], House]) -> None:
    """Nobody can remove a folder when killed; it lies where the next run under ``hash`` finds it."""
    here = house("workspace")
    running = here.start("eval", "--jobs", "1")
    assert in_workspace(here)
    running.kill()
    here.end("eval", running)
    assert found_everywhere([here.top / "tmp"], {}, ["workspace"]) != {}
    (here.root / "evals/quality.json").write_text(
        (here.root / "evals/quality.json").read_text("utf-8").replace("workspace", "plain"), "utf-8"
    )
    here.run("next", "eval")
    assert list((here.top / "tmp").iterdir()) == []


class ChatServer(MarkedServer):
    """The other wire format: an answer, an error and a malformed call, by the case."""

    def answer(self, seen: Seen) -> Canned:
        """The response to one request."""
        text = seen.body.decode()
        if "You grade one answer" in text:
            entry = {"id": "says-hello", "reasoning": mark("reasoning"), "evidence": "hello", "verdict": "PASS"}
            return chat(json.dumps({"criteria": [entry]}))
        if "Greet errs." in text:
            return chat_refusal(400, mark("status"), mark("provider"))
        if "Greet calls." in text:
            function = {"name": mark("toolname"), "arguments": f"{{{mark('argument')}"}
            return chat(None, tool_calls=[{"id": mark("line"), "type": "function", "function": function}])
        return chat(f"hello {mark('answer')}")


@pytest.mark.parametrize(
    ("retention", "found"),
    [("hash", set()), ("full", {"answer", "reasoning", "status", "provider", "argument", "toolname"})],
)
def test_it_holds_for_the_other_wire_format_and_a_library_told_to_log(
    tmp_path: Path, retention: str, found: set[str]
) -> None:
    """`OPENAI_LOG=debug` makes the SDK write to stderr under ``full``, and under ``hash`` not a line."""
    pytest.importorskip("openai", reason="needs the extra openai")
    with ChatServer() as server:
        here = build(tmp_path, server, retention, names=("says", "errs", "calls"))
        address = {"OPENAI_BASE_URL": f"{server.base_url}/v1", "OPENAI_API_KEY": "k-chat"}
        assert here.run("eval", "--debug", "eval", "--model", "openai:chat-x", *MODES, **address) == 3
    assert set(here.places) == found
    assert (b"openai._base_client" in here.said["eval stderr"]) == (retention == "full")


AGENT = f"""\
#!{sys.executable} -E
import os, pathlib, sys
if sys.argv[-1] == "--version":
    sys.exit(print("teller 1.0"))
text = "{HEAD}" + "script" + "{TAIL}"
for folder in (".", os.environ["HOME"]):
    pathlib.Path(folder, text).write_text(text)
print(text, file=sys.stderr)
print("hello", text)
sys.exit(7 * ("errs" in sys.argv[-1]))
"""

DESCRIBED = """\
agent: 1
name: teller
argv: [./teller, "{query}"]
skills_folder: .agents/skills
context_file: AGENTS.md
output: text
key: TELLER_KEY
base_url: TELLER_URL
"""


@needs_room
@pytest.mark.parametrize(("retention", "found"), [("hash", set()), ("full", {"script"})])
def test_it_holds_for_a_command_line_agent(tmp_path: Path, retention: str, found: set[str]) -> None:
    """Which answers, fails with words on stderr, and writes into its home and its workspace."""
    with MarkedServer() as server:
        here = build(tmp_path, server, retention, names=("says", "errs"))
        (tmp_path / "teller").write_text(AGENT, "utf-8")
        (tmp_path / "teller").chmod(0o755)
        (tmp_path / "teller.yaml").write_text(DESCRIBED, "utf-8")
        agent = str(tmp_path / "teller.yaml")
        here.run("eval", "--debug", "eval", "--subject", agent, "--model", "gemini:held", "--judge-model",
                 "gemini:held", *MODES)  # fmt: skip
        assert {one["status"] for one in here.outcomes} == {"PASS", "UNSCORED"}
    assert set(here.places) == found


@pytest.mark.parametrize(
    ("arguments", "what"),
    [(("record",), "a recording"), (("eval", "--cache"), "--cache")],
    ids=["record", "cache"],
)
def test_what_needs_texts_refuses(house: Callable[[str], House], arguments: tuple[str, ...], what: str) -> None:
    """Exit 2 before a model is asked, saying why, and nothing is written."""
    here = house("plain")
    assert here.run("refused", *arguments) == 2
    assert f"{what} needs the texts of candidate and judge" in here.said["refused stderr"].decode()
    assert not (here.root / ".skillassay").exists()
    assert here.server.seen == []


@pytest.mark.parametrize(("begun", "now"), [("hash", "full"), ("full", "hash")])
def test_a_run_goes_on_under_its_own_rule_only(tmp_path: Path, begun: str, now: str) -> None:
    """The contract's rule may change; a run that was begun keeps the one in its header."""
    with MarkedServer() as server:
        here = build(tmp_path, server, begun, names=("plain",))
        here.run("eval", "eval")
        contract = here.root / "evals/contract.yaml"
        contract.write_text(contract.read_text("utf-8").replace(f"retention: {begun}", f"retention: {now}"), "utf-8")
        before = (run_folder(here.root) / "trials.jsonl").read_bytes()
        assert here.run("resume", "eval", "--resume", run_folder(here.root).name) == 3
    assert f"the retention ({begun}, now {now})" in here.said["resume stderr"].decode()
    assert (run_folder(here.root) / "trials.jsonl").read_bytes() == before
