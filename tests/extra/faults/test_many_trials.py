"""Two thousand trials in one process: memory stays flat while they run, and nothing is left open when they are done."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.endtoend.faulty_server import HANG, NOT_JSON, Asked, Fault, FaultyServer, refusal
from tests.extra.faults.runs import folders, records
from tests.project import BAD, GOOD, REPOSITORY, build_small, small_case

pytestmark = pytest.mark.alone

PROGRAM = Path(__file__).with_name("measured_run.py")
MIB = 1024
GROWTH_MIB = 6
"""From the 500th trial to the last of 2,001; measured 1.4, most of it the allocator's until it has its arenas."""
ASSESSED_MIB = 40
"""What reading all 2,001 records back takes at the end, 9 KiB each; measured 18."""


def build(root: Path, *, n_cases: int, **contract: Any) -> Path:
    """A project of many cases that two rules answer, since looking through thousands of them would be the test's."""
    rules = [
        {"id": "good", "when": {"prompt": ["greeter"]}, "reply": {"text": GOOD}},
        {"id": "bad", "when": {"absent": ["greeter"]}, "reply": {"text": BAD}},
    ]
    cases = [small_case(f"c{number:04}") for number in range(n_cases)]
    return build_small(root, cases=cases, rules=rules, **contract)


def measured(root: Path, server: FaultyServer, *, jobs: int) -> dict[str, Any]:
    """What the program says of one run."""
    argv: Sequence[str] = [sys.executable, str(PROGRAM), str(root), str(jobs)]
    env = server.environment | {"PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=env, timeout=120)
    assert ran.returncode == 0, ran.stderr
    value: dict[str, Any] = json.loads(ran.stdout)
    return value


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """2,001 trials, 4,002 requests, 8 at a time."""
    root = build(tmp_path_factory.mktemp("many") / "project", n_cases=667)
    with FaultyServer(root) as server:
        return measured(root, server, jobs=8)


def test_memory_stays_flat_while_trials_run(many: dict[str, Any]) -> None:
    """A trial that has its record is not held: the last one finds as much memory in use as the 500th."""
    assert many["scored"] == 2001
    grown = many["rss"]["2001"] - many["rss"]["500"]
    assert grown <= GROWTH_MIB * MIB, many["rss"]


def test_what_the_assessment_takes_is_bounded(many: dict[str, Any]) -> None:
    """Scores are made from the records on disk, all of them at once, at the end."""
    assert many["rss_assessed"] - many["rss"]["2001"] <= ASSESSED_MIB * MIB


def test_nothing_is_left_open(many: dict[str, Any]) -> None:
    """No thread and no descriptor, of 4,002 connections; and never more of them than the jobs account for."""
    assert many["threads_left"] == []
    assert many["files_left"] == []
    # Per job a thread, its attempt's timer, and the connection with its duplicate; the rest are logs and pipes.
    assert many["most_threads"] <= 1 + 2 * 8
    assert many["most_files"] <= 16 + 3 * 8


def test_nothing_is_left_open_by_what_failed(tmp_path: Path) -> None:
    """Refused, unreadable and unanswered requests, a third each: every one an error of its own, and all closed."""
    root = build(tmp_path / "project", n_cases=40, candidate={"timeout_s": 0.2})

    def fault(asked: Asked) -> Fault | None:
        return (refusal(400, "INVALID_ARGUMENT"), NOT_JSON, HANG)[asked.number % 3]

    with FaultyServer(root, fault) as server:
        told = measured(root, server, jobs=8)
    assert told["scored"] == 0
    (folder,) = folders(root)
    assert len(records(folder)) == 120
    assert {record["outcome"]["reason"] for record in records(folder)} == {"provider_error", "timeout"}
    assert (told["threads_left"], told["files_left"]) == ([], [])
