"""Minimal data: under ``retention: hash`` no text of candidate, judge or provider lands anywhere.

A marked text is planted wherever a model, its provider or a script can put one. A project with a home and a temporary
folder of its own goes through passes, failures, trials unscored for each reason, an interruption, a resume, and every
command that shows a run; then every byte is looked at. The same steps under ``retention: full`` find each of the texts:
that is the proof that the search can fail. What was written and removed meanwhile is not looked at, but for what a kill
leaves.
"""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Reason
from skillassay.isolation.process import Isolation, detect_isolation
from skillassay.runs.preparation import EvalRequest
from skillassay.runs.retention import HIDDEN
from skillassay.suites.routing import prepare_routing, run_routing
from tests.acceptance.every_byte import HEAD, TAIL, found_everywhere, found_in, mark
from tests.acceptance.marked_server import NAMES, PASSING, PLANTED, SCRIPT, SLOW_SCRIPT, MarkedServer, cases
from tests.models.wire_server import Canned, Seen, chat, chat_refusal
from tests.project import build_small, environment, run_folder, small_case, write_json

EVERY = PLANTED | PASSING
PATIENCE_S = 20.0
MODES = ("--mode", "progressive", "--mode", "none")
_START = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"
"""Ctrl-C reaches the command also where the tests run with it ignored."""


@dataclass(kw_only=True)
class House:
    """A project, a home, a temporary folder and a summary file, and all that commands in it said."""

    top: Path
    server: MarkedServer
    said: dict[str, bytes] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project."""
        return self.top / "project"

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        """Begin a command in the project, with every switch on that makes libraries talk."""
        (self.top / "home").mkdir(exist_ok=True)
        (self.top / "tmp").mkdir(exist_ok=True)
        loud = {"PYTHONWARNINGS": "always", "PYTHONASYNCIODEBUG": "1", "OPENAI_LOG": "debug"}
        own = {"HOME": str(self.top / "home"), "TMPDIR": str(self.top / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        summary = {"GITHUB_STEP_SUMMARY": str(self.top / "summary.md")}
        address = {"GOOGLE_GEMINI_BASE_URL": self.server.base_url, "GEMINI_API_KEY": "k-held"}
        return subprocess.Popen(
            [sys.executable, "-c", _START, sys.executable, "-m", "skillassay", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=environment(**loud, **own, **summary, **address, **more),
        )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> int:
        """Wait for a command and keep what it said under a name."""
        out, err = process.communicate(timeout=60)
        self.said[f"{name} stdout"], self.said[f"{name} stderr"] = out, err
        self.codes[name] = process.returncode
        return process.returncode

    def run(self, name: str, *arguments: str, **more: str) -> int:
        """Run a command to its end; ``more`` is added to its environment."""
        return self.end(name, self.start(*arguments, **more))

    @property
    def places(self) -> dict[str, set[str]]:
        """Where each planted text is found now."""
        return found_everywhere([self.top], self.said, EVERY)

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """The outcomes on record."""
        lines = (run_folder(self.root) / "trials.jsonl").read_bytes().split(b"\n")
        return [json.loads(line)["outcome"] for line in lines if line]


def build(top: Path, server: MarkedServer, retention: str, *, names: tuple[str, ...] = ()) -> House:
    """A house with all cases, or with plain ones of these names."""
    files = {
        "skills/greeter/scripts/echo.py": SCRIPT,
        "skills/greeter/scripts/slow.py": SLOW_SCRIPT,
        "skills/greeter/references/how.md": "Say hello.\n",
    }
    candidate = {"model": "gemini:held", "timeout_s": 1.0, "turn_limit": 3}
    # Where it is held, the first cases are over and most are still to come.
    made = [small_case(name) for name in names] or [*cases()[:4], small_case("held"), *cases()[4:]]
    build_small(top / "project", cases=made, files=files, retention=retention, candidate=candidate)
    with (top / "project/evals/contract.yaml").open("a", encoding="utf-8") as contract:
        contract.write("judge: {model: 'gemini:held', timeout_s: 1.0}\n")
    expect = {"skills": ["greeter"], "scripts": [], "answer": ["hello"]}
    routing = [
        {"id": f"asks-{name}", "query": f"Greet {name}.", "expect": expect} for name in ("passes", "reads", "refused")
    ]
    write_json(top / "project/evals/routing.json", {"suite": "routing", "version": "1.0.0", "cases": routing})
    return House(top=top, server=server)


@dataclass(frozen=True, kw_only=True)
class Lived:
    """A house after all steps: where texts were found after the interruption, and at the end."""

    house: House
    after_interrupt: dict[str, set[str]]
    at_end: dict[str, set[str]]


def live(top: Path, retention: str) -> Lived:
    """Evaluate, interrupt, resume, show in every way, try again, route, check, lock."""
    with MarkedServer(held="held") as server:
        house = build(top, server, retention)
        running = house.start("--debug", "eval", "--jobs", "4", "--allow-unisolated", *MODES)
        is_holding = server.is_holding.wait(PATIENCE_S)
        running.send_signal(signal.SIGINT)
        time.sleep(0.2)
        server.release()
        house.end("eval", running)
        assert is_holding, house.said
        interrupted = house.places
        run = run_folder(house.root).name
        house.run("resume", "--debug", "eval", "--resume", run, "--allow-unisolated")
        for form in ("table", "json"):  # Markdown is in the summary
            house.run(f"report {form}", "--debug", "report", run, "--format", form)
        house.run("gate", "gate", run, "--format", "json")
        house.run("retry", "--debug", "eval", "--retry-unscored", run, "--allow-unisolated", "--format", "json")
        house.run("e2e", "--debug", "e2e", "--allow-unisolated")
        house.run("lock", "--debug", "lock")
        return Lived(house=house, after_interrupt=interrupted, at_end=house.places)


needs_room = pytest.mark.skipif(
    detect_isolation() is not Isolation.NAMESPACES, reason="a script below namespaces may outlive its run"
)


@pytest.fixture(scope="module")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The steps under ``hash``."""
    return live(tmp_path_factory.mktemp("hashed"), "hash")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The steps under ``full``."""
    return live(tmp_path_factory.mktemp("full"), "full")


def test_no_byte_holds_a_text(hashed: Lived) -> None:
    """Neither files nor names of files, nor what any command said, at the end."""
    assert hashed.at_end == {}


def test_no_byte_holds_a_text_after_an_interruption(hashed: Lived) -> None:
    """Stopped with Ctrl-C in the middle, with trials under way."""
    assert hashed.after_interrupt == {}


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_the_same_search_finds_what_is_kept(full: Lived, name: str) -> None:
    """Under ``full`` each text is found in the record, so that each was planted and each is looked for."""
    record = run_folder(full.house.root) / "trials.jsonl"
    assert str(record.relative_to(full.house.top)) in full.at_end[name]


@pytest.mark.parametrize("place", ["summary.md", "eval stdout", "report json stdout", "e2e stdout"])
def test_the_search_looks_at_every_kind_of_place(full: Lived, place: str) -> None:
    """Under ``full`` something is found in the step summary, and in what commands print."""
    assert any(place in places for places in full.at_end.values())


def test_the_steps_went_through_every_kind_of_end(hashed: Lived) -> None:
    """Passed, failed, and unscored for each reason that a model, a provider or a judge can be at."""
    seen = {(one["status"], one["reason"]) for one in hashed.house.outcomes}
    wanted = {
        Reason.CONTRACT_ERROR,
        Reason.PROVIDER_ERROR,
        Reason.BLOCKED,
        Reason.TRUNCATED,
        Reason.TIMEOUT,
        Reason.UNGROUNDED,
        Reason.JUDGE_ABSTAINED,
    }
    assert seen >= {("PASS", None), ("FAIL", None), *(("UNSCORED", reason.value) for reason in wanted)}
    assert "turn_limit" in {one["kind"] for one in hashed.house.outcomes}


def test_both_rules_decide_alike(hashed: Lived, full: Lived) -> None:
    """The same exit codes, and the same outcome of each trial, whatever is kept of it."""
    assert hashed.house.codes == full.house.codes
    assert hashed.house.codes["eval"] == 130

    def decided(lived: Lived) -> dict[tuple[str, str], tuple[Any, ...]]:
        trials = json.loads(lived.house.said["report json stdout"])["trials"]
        return {(one["case"], one["mode"]): (one["status"], one["reason"], one["k"], one["n"]) for one in trials}

    assert decided(hashed) == decided(full)


def test_a_report_says_in_place_of_evidence_that_it_is_hidden(hashed: Lived) -> None:
    """With the rule at its foot; under ``full`` the foot says that raw answers are kept."""
    table = hashed.house.said["report table stdout"].decode()
    assert "hidden under retention hash" in table
    assert table.rstrip().endswith("retention: hash: no answer or judge reply is kept, only hashes and labels")


def test_under_full_the_report_states_the_rule(full: Lived) -> None:
    """Raw answers are kept under a stated rule only, in the header too."""
    foot = "retention: full: raw answers and judge replies are kept in the record"
    assert full.house.said["report table stdout"].decode().rstrip().endswith(foot)
    assert json.loads((run_folder(full.house.root) / "run.json").read_bytes())["retention"] == "full"


def test_a_hashed_record_keeps_numbers_and_authored_words(hashed: Lived) -> None:
    """Tokens, calls, ids, verdicts, criteria, and the tools of the catalog by name."""
    lines = (run_folder(hashed.house.root) / "trials.jsonl").read_bytes().split(b"\n")
    records = [json.loads(line) for line in lines if line]
    one = next(r for r in records if r["case_id"] == "runs" and r["mode"] == "progressive")
    assert one["transcript"] == [
        {"who": "UserTurn"},
        {"who": "ModelTurn", "calls": ["run_skill_script"]},
        {"who": "ToolTurn", "results": ["warning"]},
        {"who": "ModelTurn"},
    ]
    assert one["scripts"] == ["greeter/scripts/echo.py"]
    assert one["candidate"]["n_calls"] == 2
    assert [(m["id"], m["verdict"], m["text"]) for m in one["marks"]] == [
        ("says-hello", "PASS", "The answer says hello.")
    ]
    assert len(one["hashes"]["answer"]) == 64


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[[str], House]]:
    """A house on a server that holds nothing, built when asked for."""
    with MarkedServer() as server:
        yield lambda name: build(tmp_path, server, "hash", names=(name,))


def test_equal_answers_have_equal_hashes_over_an_interruption(hashed: Lived) -> None:
    """One key for the run, which stays while something can be tried again."""
    folder = run_folder(hashed.house.root)
    records = [json.loads(line) for line in (folder / "trials.jsonl").read_bytes().splitlines()]
    events = [json.loads(line) for line in (folder / "events.jsonl").read_bytes().splitlines()]
    resumed = next(number for number, event in enumerate(events) if event["event"] == "run_resumed")
    before = {event["trial"] for event in events[:resumed] if event["event"] == "trial_done"}
    same = ("named", "headed", "judged-named")
    hashes = {r["trial_id"]: r["hashes"]["answer"] for r in records if r["case_id"] in same}
    assert before & hashes.keys()
    assert hashes.keys() - before
    assert len(set(hashes.values())) == 1
    assert (folder / "hash.key").stat().st_size == 32


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


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        str.lower,
        lambda text: text.encode("utf-16").decode("latin-1"),
        lambda text: text.encode("utf-32-be").decode("latin-1"),
        lambda text: text.encode().hex(),
        lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
        lambda text: "".join(f"%{ord(char):02X}" for char in text),
        lambda text: f"{text[:9]}\n    {text[9:]}",
        *(
            lambda text, before=before: base64.b64encode(f"{before}{text} and more".encode()).decode()
            for before in ("", "a", "ab", "abc")
        ),
    ],
)
def test_the_search_knows_the_forms_of_a_text(form: Callable[[str], str]) -> None:
    """Encodings, escapes, and lines that a terminal broke."""
    data = f"before {form(mark('sample'))} after".encode("latin-1")
    assert found_in(data, ["sample", "other"]) == {"sample"}


def test_every_case_of_the_scenario_has_a_name_of_its_own() -> None:
    """Answers are found by it."""
    assert len(set(NAMES)) == len(NAMES)
