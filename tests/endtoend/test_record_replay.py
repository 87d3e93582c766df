"""A run is recorded on a live wire, the service goes away, and the replay is the same run, also elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.endtoend.recorded import KEY, TAPE, Live, LiveServer, build, result_of
from tests.project import (
    REPOSITORY,
    SETTINGS,
    Cli,
    Ran,
    command,
    edit,
    environment,
    run_folder,
    write_json,
)


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


def trial_table(out: str) -> list[str]:
    """The report's trials and totals: all before the gate, whose name differs, and behind the words on models.

    What was billed is left out: nobody is paid for a replay.
    """
    lines = re.sub(r"^cost of the .*\n(?: .*\n)*", "", out, flags=re.MULTILINE).split("\n")
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
