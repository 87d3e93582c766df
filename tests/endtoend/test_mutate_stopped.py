"""A mutation test that stops: killed, interrupted, out of calls. It goes on without losing or doubling a trial."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.endtoend.damaged import MATTERS, UNFORESEEN, UNTESTED, build_damaged, fates, session, tree, trials
from tests.endtoend.held_server import HeldServer, live_environment, wait_until
from tests.project import REPOSITORY, Cli, command, edit

ITEMS = ("--kind", "list-item")
N_TRIALS = 2 + 3 * 2
"""Two cases on the skill and on three mutants."""
MODEL = ("--model", "gemini:held")


def result(cli: Cli, *arguments: str) -> dict[str, Any]:
    """The JSON of a mutation test, without what no two have in common."""
    value: dict[str, Any] = cli("--quiet", "mutate", *arguments, "--format", "json").json
    return {key: part for key, part in value.items() if key not in {"id", "record", "calls"}}


@contextmanager
def held(root: Path, *, free: int) -> Iterator[tuple[HeldServer, subprocess.Popen[str]]]:
    """A test in a process of its own, held after so many requests."""
    default = (
        "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"
    )
    argv = command(root, "mutate", "greeter", *ITEMS, *MODEL, "--jobs", "1")
    pipe = subprocess.PIPE
    with (
        HeldServer(root, free=free) as server,
        subprocess.Popen(
            [sys.executable, "-c", default, *argv],
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=REPOSITORY,
            env=live_environment(server),
        ) as process,
    ):
        wait_until(server.held.is_set)
        yield server, process


def go_on(root: Path, server: HeldServer, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Resume the only test, against the same server."""
    argv = command(root, "--quiet", "mutate", "--resume", session(root).name, *arguments, "--format", "json")
    return subprocess.run(argv, cwd=REPOSITORY, env=live_environment(server), capture_output=True, timeout=60)


@pytest.mark.parametrize("free", [0, 1, 4, 9, 14])
def test_killed_anywhere_it_goes_on(cli: Cli, free: int) -> None:
    """After kill -9 the user's files are what they were; the end is that of a test nobody killed, each trial once."""
    build_damaged(cli.root)
    before = tree(cli.root)
    with held(cli.root, free=free) as (server, process):
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -9
        assert tree(cli.root) == before
        n_before = len(trials(cli.root))
        assert n_before < N_TRIALS
        server.release()
        done = go_on(cli.root, server)
    assert (done.returncode, done.stderr) == (3, b"")
    found = json.loads(done.stdout)
    assert fates(found) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "survived"}
    ids = [record["trial_id"] for record in trials(cli.root)]
    assert len(ids) == len(set(ids)) == N_TRIALS
    assert (found["trials_left"], found["interrupted"]) == (0, False)
    assert tree(cli.root) == before


def test_an_interrupt_keeps_what_is_done(cli: Cli) -> None:
    """Ctrl-C: the trial under way is recorded, nothing else begins, exit 130 with the command that goes on."""
    build_damaged(cli.root)
    with held(cli.root, free=7) as (server, process):
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = next(line for line in process.stderr if "stopping" in line)
        assert "1 trial" in said or "2 trials" in said
        server.release()
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert f"mutate --resume {session(cli.root).name}" in err
        assert "not whole:" in out
        assert go_on(cli.root, server).returncode == 3
    assert len(trials(cli.root)) == N_TRIALS


def test_cut_at_any_byte_the_record_is_made_whole(cli: Cli) -> None:
    """A torn last line is run again, whole ones are not, and what comes out is the same."""
    build_damaged(cli.root)
    whole = result(cli, "greeter", *ITEMS)
    path = session(cli.root) / "trials.jsonl"
    data = path.read_bytes()
    ends = [at for at, byte in enumerate(data) if byte == 10]
    for cut in (0, 1, ends[0], ends[0] + 1, ends[3] - 1, ends[3] + 2, ends[-1]):
        path.write_bytes(data[:cut])
        assert result(cli, "--resume", session(cli.root).name) == whole
        ids = [record["trial_id"] for record in trials(cli.root)]
        assert len(ids) == len(set(ids)) == N_TRIALS


def test_calls_are_never_more_than_allowed(cli: Cli) -> None:
    """Each mutant begins only where all of its trials fit: two trials of at most 3 turns and a call of the judge."""
    build_damaged(cli.root, candidate={"turn_limit": 3})
    most = 2 * (3 + 1)
    ran = cli("mutate", "greeter", *ITEMS, "--max-calls", str(2 * most), "--format", "json")
    assert ran.code == 3
    assert ran.json["calls"]["limit"] == 2 * most
    # On the skill: load, answer, judge, twice. Then a mutant fits into the 10 calls that are left, and no other.
    assert ran.json["calls"]["made_now"] == 12
    assert ran.json["trials_left"] == 4
    assert fates(ran.json) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "undecided"}
    assert [one["unscored"] for one in ran.json["mutants"][1:]] == [{"not run": 2}] * 2
    assert f"mutate --resume {session(cli.root).name}" in ran.err
    later = result(cli, "--resume", session(cli.root).name)
    assert fates(later) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "survived"}
    assert len(trials(cli.root)) == N_TRIALS


def test_a_finished_test_is_shown_again_and_asks_nobody(cli: Cli) -> None:
    """The same verdicts, no new record; with --retry-unscored what the provider lost is tried again."""
    build_damaged(cli.root)
    first = result(cli, "greeter", *ITEMS)
    name = session(cli.root).name
    before = (session(cli.root) / "trials.jsonl").read_bytes()
    assert result(cli, "--resume", name) == first
    assert (session(cli.root) / "trials.jsonl").read_bytes() == before
    assert result(cli, "--resume", name, "--retry-unscored") == first
    again = [record for record in trials(cli.root) if record["attempt"] == 2]
    assert {record["outcome"]["reason"] for record in again} == {"provider_error"}
    assert len(trials(cli.root)) == N_TRIALS + 2


CHANGES = [
    ("skills/greeter/SKILL.md", "- Never sing.", "- Never shout.", "the skill, the mutants"),
    ("evals/quality.json", "Greet two.", "Greet two now.", "the cases"),
    ("evals/fixtures/all.json", '"missing": "No hello stands there."', '"missing": "None."', "the authored answers"),
]


@pytest.mark.parametrize(("file", "old", "new", "words"), CHANGES, ids=[file for file, *_ in CHANGES])
def test_another_project_does_not_go_on(cli: Cli, file: str, old: str, new: str, words: str) -> None:
    """What was edited since is named, and no trial is added."""
    build_damaged(cli.root)
    cli("mutate", "greeter", *ITEMS, "--max-calls", "80")
    before = (session(cli.root) / "trials.jsonl").read_bytes()
    edit(cli.root / file, old, new)
    ran = cli("mutate", "--resume", session(cli.root).name)
    assert (ran.code, ran.out) == (3, "")
    assert words in ran.err
    assert (session(cli.root) / "trials.jsonl").read_bytes() == before


def test_other_terms_do_not_go_on(cli: Cli) -> None:
    """Another judge's limit of output is another measurement."""
    build_damaged(cli.root)
    cli("mutate", "greeter", *ITEMS, "--max-calls", "50")
    contract = cli.root / "evals" / "contract.yaml"
    contract.write_text(contract.read_text() + "judge:\n  max_output_tokens: 900\n")
    ran = cli("mutate", "--resume", session(cli.root).name, "--retry-unscored")
    assert (ran.code, ran.out) == (3, "")
    assert "cannot be resumed" in ran.err


def test_a_stored_run_stands_for_the_unmutated_skill(cli: Cli) -> None:
    """Its trials are copied, with its repeats, and nobody is asked about the skill as it is."""
    build_damaged(cli.root)
    cli("eval", "--repeats", "2")
    (run,) = (path.name for path in (cli.root / ".skillassay" / "runs").iterdir())
    ran = cli("mutate", "greeter", *ITEMS, "--baseline", run, "--format", "json")
    assert fates(ran.json) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "survived"}
    assert (ran.json["baseline"], ran.json["repeats"]) == (run, 2)
    digest = ran.json["skill"]["digest"]
    old = {
        json.loads(line)["trial_id"]: json.loads(line)["started_at"]
        for line in (cli.root / ".skillassay" / "runs" / run / "trials.jsonl").read_bytes().splitlines()
    }
    copied = [record for record in trials(cli.root) if record["trial_id"] in old]
    assert len(copied) == 4
    assert all(record["started_at"] == old[record["trial_id"]] for record in copied)
    assert len(trials(cli.root)) == 4 * (1 + 3)
    assert digest


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("skills/greeter/SKILL.md", "- Never sing.", "- Never shout.", "skills"),
        ("evals/fixtures/all.json", '"missing": "No hello stands there."', '"missing": "None."', "fixture_digest"),
        ("evals/quality.json", "Greet two.", "Greet two now.", "1 of 2 trials in progressive"),
    ],
)
def test_a_run_of_something_else_is_no_baseline(cli: Cli, file: str, old: str, new: str, words: str) -> None:
    """What differs is named, and no mutant is run."""
    build_damaged(cli.root)
    cli("eval")
    (run,) = (path.name for path in (cli.root / ".skillassay" / "runs").iterdir())
    edit(cli.root / file, old, new)
    ran = cli("mutate", "greeter", *ITEMS, "--baseline", run)
    assert (ran.code, ran.out) == (3, "")
    assert "is no baseline" in ran.err
    assert words in ran.err
    assert not (cli.root / ".skillassay" / "mutations").exists()
