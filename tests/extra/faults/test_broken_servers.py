"""Servers that hang, reset, refuse or die, at the level of a run: it ends, says why, and is made whole afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.endtoend.faulty_server import HANG, NOT_JSON, RESET, Asked, Fault, FaultyServer, healthy, refusal
from tests.extra.faults.runs import DONE, assert_whole, begin, build, complete, folders, records, result

pytestmark = pytest.mark.alone

N_CASES = 5
N_TRIALS = 3 * N_CASES
TIMEOUT_S = 0.5
SPENT = ("n_attempts", "waited_s")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FaultyServer]:
    """A server for one project whose attempts may take half a second."""
    root = build(tmp_path / "project", n_cases=N_CASES, candidate={"timeout_s": TIMEOUT_S})
    with (root / "evals/contract.yaml").open("a", encoding="utf-8") as contract:
        contract.write(f"judge: {{timeout_s: {TIMEOUT_S}}}\n")
    with FaultyServer(root) as server:
        yield server


def scores(folder: Path) -> list[dict[str, Any]]:
    """What was observed in the last attempt of every trial; attempts, times and transport are left out."""
    last = {record["trial_id"]: record for record in records(folder)}
    for record in last.values():
        for key in ("attempt", "answer_attempt", "started_at", "duration_s"):
            del record[key]
        for side in ("candidate", "judge"):
            for key in SPENT:
                del record[side][key]
    return [last[trial_id] for trial_id in sorted(last)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a healthy server comes to."""
    root = build(tmp_path_factory.mktemp("healthy") / "project", n_cases=N_CASES)
    with FaultyServer(root) as server:
        assert complete(root, server)[0] == DONE
    (folder,) = folders(root)
    return scores(folder)


FAULTS: dict[str, tuple[Callable[[Asked], Fault | None], set[tuple[str, str | None]]]] = {
    "hangs at every fifth": (lambda a: HANG if a.number % 5 == 0 else None, {("timeout", None)}),
    "resets the first thirty": (lambda a: RESET if a.number <= 30 else None, {("provider_error", "connection")}),
    "refuses for good": (lambda _: refusal(503, "UNAVAILABLE"), {("provider_error", "server")}),
    "answers in HTML at every third": (
        lambda a: NOT_JSON if a.number % 3 == 0 else None,
        {("provider_error", "non_json")},
    ),
    "is over its quota": (
        lambda _: refusal(429, "RESOURCE_EXHAUSTED", "slow down", Retry_After="1"),
        {("provider_error", "quota")},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_server_leaves_trials_open_and_no_score(
    tmp_path: Path, server: FaultyServer, expected: list[dict[str, Any]], name: str
) -> None:
    """Exit 3; each trial is scored as by a healthy server or says its reason; tried again, all of them are."""
    fault, reasons = FAULTS[name]
    root, by_id = tmp_path / "project", {record["trial_id"]: record for record in expected}
    server.fault = fault
    code, err = complete(root, server, "--jobs", "8")
    assert code == 3, err
    (folder,) = folders(root)
    assert_whole(folder, n_trials=N_TRIALS)
    told = set()
    for record in records(folder):
        outcome = record["outcome"]
        if outcome["status"] == "UNSCORED":
            told.add((outcome["reason"], outcome["kind"]))
        else:
            assert outcome == by_id[record["trial_id"]]["outcome"]
    assert told == reasons
    assert result(folder)["passed"] is None
    server.fault = healthy
    code, err = complete(root, server, "--retry-unscored", folder.name)
    assert code == DONE, err
    assert_whole(folder, n_trials=N_TRIALS)
    assert scores(folder) == sorted(expected, key=lambda record: record["trial_id"])


def test_a_storm_of_429_passes(tmp_path: Path, server: FaultyServer, expected: list[dict[str, Any]]) -> None:
    """Every first attempt is told to wait a second: it does, the run is whole, and the waits are told by mode."""
    turned_away: set[str] = set()
    lock = threading.Lock()

    def fault(asked: Asked) -> Fault | None:
        with lock:
            is_new = asked.text not in turned_away
            turned_away.add(asked.text)
        return refusal(429, "RESOURCE_EXHAUSTED", "slow down", Retry_After="1") if is_new else None

    root = tmp_path / "project"
    server.fault = fault
    code, err = complete(root, server, "--jobs", "8")
    assert code == DONE, err
    (folder,) = folders(root)
    assert scores(folder) == sorted(expected, key=lambda record: record["trial_id"])
    modes = result(folder)["metrics"]["modes"].values()
    # Of two equal requests only the first is turned away: judges of one case are shown the same answer twice.
    assert sum(mode["retries"] for mode in modes) == len(turned_away)
    assert sum(mode["waited_s"] for mode in modes) >= len(turned_away)


def test_a_server_that_dies_in_the_middle(tmp_path: Path, server: FaultyServer, expected: list[dict[str, Any]]) -> None:
    """From then on connections are refused: what was answered stands, the rest is open, and nothing is guessed."""
    root = tmp_path / "project"

    def fault(asked: Asked) -> Fault | None:
        if asked.number == N_TRIALS:
            threading.Thread(target=server.die, daemon=True).start()
        time.sleep(0.01)
        return None

    server.fault = fault
    code, err = complete(root, server, "--jobs", "4")
    assert code == 3, err
    (folder,) = folders(root)
    assert_whole(folder, n_trials=N_TRIALS)
    outcomes = [record["outcome"] for record in records(folder)]
    open_ = [outcome for outcome in outcomes if outcome["status"] == "UNSCORED"]
    assert 0 < len(open_) < N_TRIALS
    assert {(outcome["reason"], outcome["kind"]) for outcome in open_} == {("provider_error", "connection")}
    server.fault = healthy
    server.revive()
    code, err = complete(root, server, "--retry-unscored", folder.name)
    assert code == DONE, err
    assert scores(folder) == sorted(expected, key=lambda record: record["trial_id"])


def test_the_pace_holds_on_the_wire(tmp_path: Path, server: FaultyServer, expected: list[dict[str, Any]]) -> None:
    """A real run at 20 requests a minute, of 30: the server counts them, none of its minutes has more, retries too."""
    arrived: list[float] = []
    lock = threading.Lock()

    def fault(asked: Asked) -> Fault | None:
        with lock:
            arrived.append(time.monotonic())
        return refusal(503, "UNAVAILABLE") if asked.number in {3, 7} else None

    root = tmp_path / "project"
    server.fault = fault
    run = begin(root, server, "--jobs", "8", "--rpm", "20")
    _, err = run.communicate(timeout=120)
    assert run.returncode == DONE, err
    assert len(arrived) == 2 * N_TRIALS + 2
    assert max(sum(start <= at <= start + 60.0 for at in arrived) for start in arrived) == 20
    assert arrived[-1] - arrived[0] < 75.0  # and it is no slower than it has to be
    (folder,) = folders(root)
    assert scores(folder) == sorted(expected, key=lambda record: record["trial_id"])
    modes = result(folder)["metrics"]["modes"].values()
    assert sum(mode["waited_s"] for mode in modes) > 60.0
