"""A recording is made whole or not at all, and what cannot be recorded is refused before any call."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillassay.canonical import Json, parse_json
from skillassay.fixture.server import FixtureServer, error_body
from tests.endtoend.held_server import PATIENCE_S, HeldServer, live_environment, wait_until
from tests.endtoend.recorded import KEY, TAPE, LiveServer, build, result_of
from tests.project import (
    REPOSITORY,
    Cli,
    Ran,
    build_small,
    command,
    edit,
    run_folder,
    small_case,
)


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
