"""Runs in processes of their own against a server of the test, and what must hold of their records in the end."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.endtoend.faulty_server import FaultyServer
from tests.project import REPOSITORY, build_small, command, small_case, small_rules

DONE = 1
"""The exit code of a whole run here: its model gate wants a calibrated judge."""


def build(root: Path, *, n_cases: int, **contract: Any) -> Path:
    """A project of so many cases, three trials and six requests each."""
    names = [f"c{number:04}" for number in range(n_cases)]
    rules = [rule for name in names for rule in small_rules(name)]
    return build_small(root, cases=[small_case(name) for name in names], rules=rules, **contract)


def begin(root: Path, server: FaultyServer, *arguments: str) -> subprocess.Popen[str]:
    """An evaluation under way."""
    argv = command(root, "--quiet", "eval", "--model", "gemini:faulty", "--format", "json", *arguments)
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY, env=server.environment)


def complete(root: Path, server: FaultyServer, *arguments: str, timeout_s: float = 60.0) -> tuple[int, str]:
    """An evaluation to its end: exit code and what it said to people."""
    run = begin(root, server, *arguments)
    _, err = run.communicate(timeout=timeout_s)
    return run.returncode, err


def folders(root: Path) -> list[Path]:
    """The runs of a project, those without a header included."""
    return sorted((root / ".skillassay/runs").iterdir()) if (root / ".skillassay/runs").is_dir() else []


def lines(path: Path) -> list[bytes]:
    """The lines of a log; each but the last must be whole."""
    return path.read_bytes().split(b"\n") if path.exists() else []


def records(folder: Path) -> list[dict[str, Any]]:
    """The records of a run, read without the code under test. Fails for a line that is not whole."""
    *whole, tail = lines(folder / "trials.jsonl") or [b""]
    assert tail == b"", f"torn line: {tail[:60]!r}"
    return [json.loads(line) for line in whole]


def result(folder: Path) -> dict[str, Any]:
    """The canonical result of a run."""
    value: dict[str, Any] = json.loads((folder / "result.json").read_bytes())
    return value


def assert_whole(folder: Path, *, n_trials: int) -> None:
    """Every planned trial is there, its attempts are numbered from 1 without a gap, nothing is torn or left lying."""
    header = json.loads((folder / "run.json").read_bytes())
    planned = [trial["trial_id"] for trial in header["facts"]["trials"]]
    attempts: dict[str, list[int]] = {}
    for record in records(folder):
        attempts.setdefault(record["trial_id"], []).append(record["attempt"])
    assert sorted(attempts) == sorted(planned)
    assert len(planned) == n_trials
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in attempts.values()), attempts
    events = lines(folder / "events.jsonl")
    assert events.pop() == b""
    for line in events:
        json.loads(line)
    assert result(folder)["interrupted"] is False
    files = {"run.json", "cases.json", "trials.jsonl", "events.jsonl", "result.json"}
    assert {path.name for path in folder.iterdir()} == files


def wait_for(true: Callable[[], bool], *, seconds: float = 30.0) -> None:
    """Wait for something that is about to happen."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.002)
