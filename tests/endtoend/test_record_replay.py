"""A run is recorded on a live wire, the service goes away, and the replay is the same run, also elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import Json, parse_json
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer, error_body
from tests.endtoend.held_server import PATIENCE_S, HeldServer, live_environment, wait_until
from tests.project import (
    JUDGE_RULE,
    REPOSITORY,
    SETTINGS,
    Cli,
    Ran,
    build_small,
    command,
    edit,
    environment,
    rule,
    run_folder,
    small_case,
    small_rules,
    write_json,
)

KEY = "AIza-canary/key+2718"
TAPE = "evals/recordings/all.jsonl"
TOLD = "told by the script"
CALL = {
    "calls": [
        {"name": "load_skill", "args": {"skill_name": "greeter"}},
        {"name": "run_skill_script", "args": {"skill_name": "greeter", "file_path": "scripts/tell.py"}},
    ]
}


class LiveServer(FixtureServer):
    """Plays a service: no two answers are the same, one judge breaks its contract, and one query it refuses."""

    def __init__(self, root: Path) -> None:
        rules, _ = load_rules(sorted(root.glob("evals/fixtures/*.json")))
        assert rules is not None
        super().__init__(rules)
        self._lock, self.n_answers = threading.Lock(), 0

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        with self._lock:
            self.n_answers += 1
            number = self.n_answers
        text = body.decode()
        if "Greet refused." in text:
            return error_body(400, "INVALID_ARGUMENT", f"refused, key {KEY}")
        status, reply = super().answer(body)
        parts = _parts(reply)
        if "responseJsonSchema" in text and "Greet broken." in text:
            parts[0]["text"] = "I would say PASS."
        elif "responseJsonSchema" not in text and "text" in parts[0]:
            parts[0]["text"] += f" {number}"
        else:
            parts[0]["thoughtSignature"] = f"c2ln{number}"
        return status, {**reply, "modelVersion": "live-001"}


def _parts(reply: Any) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = reply["candidates"][0]["content"]["parts"]
    return parts


def build(root: Path) -> Path:
    """Cases that pass with the skill and fail without, one by a script, one misjudged, one refused."""
    names = ("one", "broken", "refused", "script")
    script = [
        rule("script", CALL, tools=["run_skill_script"], absent=[TOLD]),
        rule("script", {"text": "hello hello"}, prompt=[TOLD]),
        rule("script", {"text": "good day"}, no_tools=True),
    ]
    rules = [made for name in names[:3] for made in small_rules(name)] + script
    return build_small(
        root,
        cases=[small_case(name) for name in names],
        rules=rules,
        judge=[JUDGE_RULE],
        files={"skills/greeter/scripts/tell.py": f"print({TOLD!r})\n"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The recorded project; ``out`` and ``err`` are what the command printed. To be read only."""

    root: Path
    code: int
    out: str
    err: str
    n_answers: int


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """One recording for all tests, its service shut down."""
    root = build(tmp_path_factory.mktemp("live") / "project")
    with pytest.MonkeyPatch.context() as patch, LiveServer(root) as server:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        patch.setenv("GEMINI_API_KEY", KEY)
        patch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        done = subprocess.run(
            command(root, "record", "--model", "gemini:live", "--to", TAPE, "--repeats", "2", "--jobs", "4"),
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            timeout=60,
        )
    return Live(root=root, code=done.returncode, out=done.stdout, err=done.stderr, n_answers=server.n_answers)


@pytest.fixture
def elsewhere(live: Live, tmp_path: Path, quiet_environment: None) -> Path:
    """Another working copy, without the run's record."""
    shutil.copytree(live.root, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".skillassay"))
    return tmp_path


def replayed(cli: Cli, *arguments: str, tape: str = TAPE) -> Ran:
    """The same evaluation on the recording."""
    return cli("eval", "--model", f"replay:{tape}", "--repeats", "2", *arguments)


def result_of(root: Path) -> dict[str, Any]:
    """The canonical result of the only run."""
    value: dict[str, Any] = json.loads((run_folder(root) / "result.json").read_text("utf-8"))
    return value


def trial_table(out: str) -> list[str]:
    """The report's trials and totals: all before the gate, whose name differs, and behind the words on models."""
    lines = out.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("case "))
    end = next(i for i, line in enumerate(lines) if "complete:" in line)
    return lines[begin:end]


def test_the_recorded_run_has_all_kinds_of_trials(live: Live) -> None:
    """What the other tests rest on: passes, failures, a judge's contract error, a provider error, scripts; exit 3."""
    trials = result_of(live.root)["trials"]
    kinds = {(trial["status"], trial["reason"], trial["stage"]) for trial in trials}
    assert kinds == {
        ("PASS", None, None),
        ("FAIL", None, None),
        ("UNSCORED", "contract_error", "judge"),
        ("UNSCORED", "provider_error", "candidate"),
    }
    assert {tuple(trial["scripts"]) for trial in trials} == {(), ("greeter/scripts/tell.py",)}
    assert len(trials) == 4 * 3 * 2
    assert live.code in {1, 3}
    assert f"play it again with: skillassay --root {live.root} eval --model replay:{TAPE} --repeats 2" in live.err


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_a_replay_is_the_same_run(live: Live, elsewhere: Path, cli: Cli, jobs: str) -> None:
    """Equal content digest and equal table, in another working copy, with any number of threads, and no key."""
    ran = replayed(cli, "--jobs", jobs)
    assert result_of(elsewhere)["content_digest"] == result_of(live.root)["content_digest"]
    assert trial_table(ran.out) == trial_table(live.out)


def test_repeats_keep_their_own_answers(live: Live, elsewhere: Path, cli: Cli) -> None:
    """Equal requests of two repeats got different answers, and each repeat gets its own again."""
    replayed(cli)

    def answers(root: Path) -> dict[tuple[str, str, int], str]:
        lines = (run_folder(root) / "trials.jsonl").read_text("utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        return {(r["case_id"], r["mode"], r["repeat"]): r["answer"] for r in found if r["answer"]}

    told = answers(live.root)
    assert len(set(told.values())) == len(told) > 12
    assert answers(elsewhere) == told


def test_a_replay_needs_no_sdk_and_no_network(elsewhere: Path) -> None:
    """No socket can be made, and neither SDK is imported."""
    program = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a socket was asked for')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from skillassay.cli.main import main\n"
        f"main(['--root', {str(elsewhere)!r}, '--quiet', 'eval', '--model', 'replay:{TAPE}', '--repeats', '2'])\n"
        "print(sorted({'google', 'openai', 'httpx', 'httpx2'} & {name.split('.')[0] for name in sys.modules}))\n"
    )
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=environment(), timeout=60)
    assert done.stdout.endswith("\n[]\n"), done.stderr
    assert len(result_of(elsewhere)["trials"]) == 24


def test_a_replay_is_called_one_everywhere(live: Live, elsewhere: Path, cli: Cli) -> None:
    """Notice, model line, result, header and gate name the recording, whose answers it holds, and the day."""
    ran = replayed(cli)
    folder = run_folder(elsewhere)
    header = json.loads((folder / "run.json").read_text("utf-8"))
    recorded = header["models"]["candidate"]["recorded"]
    assert ran.out.startswith(f"REPLAY RUN: recorded answers of gemini:live on {recorded['recorded_on']}, verdicts of")
    assert f"candidate replay:{TAPE}, judge replay:{TAPE} (NOT independent" in " ".join(ran.out.split())
    assert "fixture_gate: " in ran.out
    assert "model_gate: " not in ran.out
    assert "FIXTURE" not in ran.out
    result = result_of(elsewhere)
    assert (result["subject"]["is_replay"], result["judge"]["is_replay"]) == (True, True)
    assert result["decision"]["gate"] == "fixture_gate"
    shown = cli("report", "--format", "markdown").out
    assert "REPLAY RUN" in shown
    digest = subprocess.run(["sha256sum", elsewhere / TAPE], capture_output=True, text=True).stdout.split()[0]
    assert {header["models"][side]["recorded"]["digest"] for side in ("candidate", "judge")} == {digest}


def test_routing_cases_are_answered_from_no_recording(elsewhere: Path, cli: Cli) -> None:
    """A recording holds trials of a suite, so e2e could only miss: wrong usage, and its help does not offer it."""
    case = {"id": "r", "query": "Greet who?", "expect": {"skills": ["greeter"]}}
    write_json(elsewhere / "evals/routing.json", {"suite": "routing", "version": "1.0.0", "cases": [case]})
    ran = cli("e2e", "--model", f"replay:{TAPE}")
    assert ran.code == 2
    assert "no routing case can be answered from a recording" in ran.err
    assert "replay" not in cli("e2e", "--help").out


def test_the_key_is_in_no_file_of_a_recorded_project(live: Live) -> None:
    """Neither in the tape nor in the record nor in what was printed, though the service said it in an error."""
    assert "[key]" in (live.root / TAPE).read_text("utf-8")
    texts = [live.out, live.err]
    texts += [path.read_text("utf-8", "replace") for path in live.root.rglob("*") if path.is_file()]
    assert not [text for text in texts if "canary" in text or "x-goog" in text.lower()]


def test_a_changed_skill_is_a_miss_that_names_the_place(elsewhere: Path, cli: Cli) -> None:
    """An edit that the candidate can see has no recorded answer: provider_error replay_miss and the first difference.
    The command that records anew stands once below the table, whole, on a line of its own; trying again is not offered.
    What did not change is answered.
    """
    edit(elsewhere / "skills/greeter/SKILL.md", "Says hello the way", "Says hi the way")
    ran = replayed(cli)
    trials = {(t["case"], t["mode"], t["repeat"]): t for t in result_of(elsewhere)["trials"]}
    missed = trials["one", "progressive", 1]
    assert (missed["status"], missed["reason"], missed["stage"]) == ("UNSCORED", "provider_error", "candidate")
    assert "the system instruction differs at character" in missed["detail"]
    assert 'recorded "ello the way greeter does.</description>' in missed["detail"]
    assert 'now "i the way greeter does.</description>' in missed["detail"]
    assert "skillassay record" not in missed["detail"]
    n_missed = sum("lacks this call" in (trial["detail"] or "") for trial in trials.values())
    lines = ran.out.splitlines()
    hint = lines.index(f"{n_missed} trials lack a recorded call; record anew:")
    record = f"skillassay --root {cli.root} record --model gemini:live --repeats 2 --to {TAPE}"
    assert lines[hint + 1].strip() == record
    assert ran.out.count(" record --model ") == 1
    assert "can be tried again" not in ran.err
    assert trials["one", "none", 1]["status"] == "FAIL"
    assert ran.code == 3


def test_a_changed_rubric_is_a_miss_of_the_judge(elsewhere: Path, cli: Cli) -> None:
    """The candidate's answers still hold, the verdict on another rubric was never given."""
    edit(elsewhere / "evals/quality.json", '"id": "one"', '"note": "n", "reference": "hello", "id": "one"')
    replayed(cli, "--case", "one", "--mode", "progressive")
    (first, _) = result_of(elsewhere)["trials"]
    assert (first["reason"], first["stage"]) == ("provider_error", "judge")
    assert "the user's text differs at character" in first["detail"]


@pytest.mark.parametrize("damage", ["missing", "cut", "edited", "newer"])
def test_a_tape_that_cannot_be_trusted_stops_before_the_run(elsewhere: Path, cli: Cli, damage: str) -> None:
    """Exit 3 with the cause and the next step, and no run is begun."""
    tape = elsewhere / TAPE
    data = tape.read_bytes()
    made = {
        "missing": None,
        "cut": data[:-20],
        "edited": data.replace(b"hello hello", b"hullo hello", 1),
        "newer": data.replace(b'{"tape":1,', b'{"tape":2,', 1),
    }[damage]
    tape.unlink()
    if made is not None:
        tape.write_bytes(made)
    words = {
        "missing": "there is no recording",
        "cut": "has no end, so the file was cut",
        "edited": "is not what its digest says",
        "newer": "it has format 2, newer than 1",
    }
    ran = replayed(cli)
    assert ran.code == 3
    assert words[damage] in ran.err
    assert "hint: " in ran.err
    assert not (elsewhere / ".skillassay").exists()


def test_a_replay_cannot_go_on_with_another_recording(elsewhere: Path, cli: Cli) -> None:
    """A run that was begun on one tape is not finished on another of the same name."""
    replayed(cli, "--case", "one", "--mode", "none")
    tape = elsewhere / TAPE
    tape.write_bytes(tape.read_bytes().replace(b'"recorded_on":"2', b'"recorded_on":"1', 1))
    ran = cli("eval", "--resume", run_folder(elsewhere).name)
    assert ran.code == 3
    assert f"the candidate (replay:{TAPE} with the digest " in ran.err


@pytest.fixture
def service(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """A fresh project with one good case, and its service."""
    build_small(cli.root, cases=[small_case(name) for name in ("one", "two", "three")])
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with LiveServer(cli.root) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        yield server


def test_the_same_replies_make_the_same_bytes(cli: Cli, service: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever thread was first: two recordings of equal replies are equal, but for the day they name."""
    monkeypatch.setattr(LiveServer, "answer", FixtureServer.answer)
    tapes = []
    for jobs, name in (("1", "a.jsonl"), ("4", "b.jsonl")):
        cli("record", "--model", "gemini:live", "--jobs", jobs, "--to", name)
        head, _, rest = (cli.root / name).read_bytes().partition(b"\n")
        tapes.append(({**parse_json(head.decode()), "recorded_on": ""}, rest))
    assert tapes[0] == tapes[1]


def test_the_usual_name_tells_a_part_from_the_whole(cli: Cli, service: LiveServer) -> None:
    """A recording of one case does not lie in the place of the whole one's; the name is the same every time."""
    for arguments in ([], ["--case", "one"], ["--case", "one"], ["--mode", "none"]):
        assert "recorded in evals/recordings/gemini-live" in cli("record", "--model", "gemini:live", *arguments).err
    names = sorted(path.name for path in (cli.root / "evals/recordings").iterdir())
    assert len(names) == 3
    assert "gemini-live.jsonl" in names


def test_a_failed_recording_does_not_replace_a_good_one(
    cli: Cli, service: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose provider failed is written beside the one that is there, and both are named."""
    arguments = ("record", "--model", "gemini:live", "--mode", "none", "--to", "t.jsonl")
    cli(*arguments)
    good = (cli.root / "t.jsonl").read_bytes()
    monkeypatch.setattr(LiveServer, "answer", lambda *_: error_body(403, "PERMISSION_DENIED", "no"))
    ran = cli(*arguments)
    assert (cli.root / "t.jsonl").read_bytes() == good
    assert "not every call was answered, so t.jsonl stays; this is in t.failed.jsonl" in ran.err
    assert b'"kind":"auth"' in (cli.root / "t.failed.jsonl").read_bytes()
    assert ran.code == 3


def test_a_service_that_gives_up_is_replayed_as_it_was(
    cli: Cli, service: LiveServer, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """After some refusals a run stops asking, on a day in an order of its own: the replay has the same errors at the
    same trials, whoever is first now.
    """
    good, left = LiveServer.answer, iter(range(6))
    refusal = error_body(401, "UNAUTHENTICATED", "the key has expired")
    monkeypatch.setattr(LiveServer, "answer", lambda *a: good(*a) if next(left, None) is not None else refusal)
    cli("record", "--model", "gemini:live", "--repeats", "4", "--jobs", "4", "--to", "t.jsonl")
    told = [(trial["status"], trial["detail"]) for trial in result_of(cli.root)["trials"]]
    assert len(set(told)) > 2
    digest = result_of(cli.root)["content_digest"]
    shutil.rmtree(cli.root / ".skillassay")
    cli("eval", "--model", "replay:t.jsonl", "--repeats", "4", "--jobs", "1")
    assert result_of(cli.root)["content_digest"] == digest


def test_an_interrupted_recording_writes_nothing(tmp_path: Path) -> None:
    """Half a run is no recording: the older file stays, no other one is made, exit 130."""
    root = build_small(tmp_path)
    tape = root / "t.jsonl"
    tape.write_bytes(b"the good one")
    default = (
        "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"
    )
    with HeldServer(root, free=4) as server:
        argv = [sys.executable, "-c", default, *command(root, "record", "--model", "gemini:held", "--to", "t.jsonl")]
        run = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY, env=live_environment(server))
        assert server.held.wait(PATIENCE_S)
        run.send_signal(signal.SIGINT)
        wait_until(lambda: b"interrupted" in (run_folder(root) / "events.jsonl").read_bytes())
        server.release()
        _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "nothing was recorded" in err
    assert tape.read_bytes() == b"the good one"
    assert [path.name for path in root.rglob("*.jsonl") if ".skillassay" not in path.parts] == ["t.jsonl"]


REFUSED = [
    (["--model", "fixture"], "there is nothing to record of candidate fixture"),
    (["--model", "replay:x.jsonl"], "there is nothing to record of candidate replay:x.jsonl"),
    (["--model", "gemini:live", "--to", "../out.jsonl"], "--to must be a path below the project"),
    (["--model", "gemini:live", "--to", "/tmp/out.jsonl"], "--to must be a path below the project"),
    (["--model", "gemini:live", "--subject", "adk"], "asks the candidate by itself"),
    (["--cache"], "No such option"),
    (["--resume", "x"], "No such option"),
    (["--retry-unscored", "x"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_cannot_be_recorded_is_refused_before_any_call(cli: Cli, arguments: list[str], words: str) -> None:
    """Exit 2, with the reason; nothing is written."""
    build_small(cli.root)
    ran = cli("record", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert not (cli.root / ".skillassay").exists()


def test_a_recording_gives_evidence_of_the_fixture_grade_only(
    cli: Cli, service: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay that passes proves what a fixture proves, under the name of the recording; never what a model does."""
    cli("record", "--model", "gemini:live", "--to", "t.jsonl")
    contract = cli.root / "evals/contract.yaml"
    models = "candidate: {model: 'replay:t.jsonl'}\njudge: {model: 'replay:t.jsonl'}\n"
    contract.write_text(contract.read_text("utf-8") + models, encoding="utf-8")
    monkeypatch.delenv("GEMINI_API_KEY")
    shutil.rmtree(cli.root / ".skillassay")
    ran = cli("eval")
    result = result_of(cli.root)
    assert ran.code == 0, ran.out
    assert result["no_evidence"] == {}
    evidence = result["evidence"]["skills/greeter"]
    assert evidence["decision"] == {"gate": "fixture_gate", "grade": "fixture"}
    assert evidence["models"]["candidate"]["label"] == "replay:t.jsonl"
    assert evidence["models"]["candidate"]["recorded"]["label"] == "gemini:live"
    assert "fixtures" not in evidence  # no authored answer was used
    assert cli("lock").code == 0
    edit(contract, "requires: fixture", "requires: declared")
    assert cli("lock", "--check").code == 1


def recording(root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Ran:
    """The project's cases recorded on a service of this machine."""
    with LiveServer(root) as server:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        ran = cli("record", "--model", "gemini:live", "--case", "one", *arguments)
        assert (server.n_answers > 0) == (root / ".skillassay" / "runs").is_dir()
    return ran


@pytest.mark.parametrize(
    ("to", "code", "words"),
    [
        ("/abs.jsonl", 2, "--to must be a path below the project"),
        ("../up.jsonl", 2, "--to must be a path below the project"),
        ("evals", 2, "--to evals is a folder"),
        ("evals/quality.json/x.jsonl", 2, "evals/quality.json is a file"),
        ("shut/x.jsonl", 3, "may not be written to"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_paid(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, to: str, code: int, words: str
) -> None:
    """No request is sent and no run is begun."""
    build(cli.root)
    (cli.root / "shut").mkdir()
    may = os.access
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "shut" and may(path, mode))
    ran = recording(cli.root, cli, monkeypatch, "--to", to)
    assert ran.code == code
    assert words in ran.err
    assert not (cli.root / ".skillassay" / "runs").exists()


def test_a_recording_that_cannot_be_written_at_the_end_lies_with_the_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is shown, and the answers that were paid for can be played again from the run's folder."""
    build(cli.root)

    class Spoiler(LiveServer):
        def answer(self, body: bytes) -> tuple[int, Json]:
            (cli.root / TAPE).mkdir(parents=True, exist_ok=True)  # somebody makes a folder in its place meanwhile
            return super().answer(body)

    with Spoiler(cli.root) as server:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        ran = cli("record", "--model", "gemini:live", "--case", "one", "--to", TAPE)
    kept = f".skillassay/runs/{run_folder(cli.root).name}/recording.jsonl"
    assert ran.out.startswith("candidate gemini:live")
    assert f"the recording {TAPE} cannot be written" in ran.err
    assert f"this is in {kept}\n" in ran.err
    digest = result_of(cli.root)["content_digest"]
    again = cli("eval", "--model", f"replay:{kept}", "--case", "one")
    assert f"content digest: {digest}\n" in again.out


def test_record_offers_no_model_that_it_refuses(cli: Cli) -> None:
    """Neither authored answers nor a recording."""
    (line,) = [line for line in cli("record", "--help").out.splitlines() if "--model MODEL" in line]
    assert "gemini:NAME" in line
    assert not {"fixture", "replay"} & set(re.findall(r"[a-z]+", line))
