"""kill -9 at random points of a run, again and again: nothing is lost, nothing is doubled, the result is the same.

A seed that fails is in the test's name; ``SEED = …`` in the message repeats it.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.endtoend.faulty_server import Asked, Fault, FaultyServer, refusal
from tests.extra.faults.runs import DONE, assert_whole, begin, build, complete, folders, records, result

N_CASES = 4
N_TRIALS = 3 * N_CASES
N_REQUESTS = 2 * N_TRIALS
PAUSE_S = 0.02
N_TESTS, N_KILLS = 34, 50
STAGES = {"before the header", "no trial yet", "between trials", "all trials, no result", "result written"}


@dataclass(kw_only=True)
class Slow:
    """Answers take a moment, so that a kill can fall into a request; the n-th may be failed on purpose."""

    refuse: Callable[[Asked], bool] = field(default=lambda _: False)

    def __call__(self, asked: Asked) -> Fault | None:
        """The fault of a request."""
        time.sleep(PAUSE_S)
        return refusal(400, "INVALID_ARGUMENT") if self.refuse(asked) else None


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A run that nobody killed: its content digest and how long it took."""

    digest: str
    seconds: float


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The measure of all others."""
    root = build(tmp_path_factory.mktemp("undisturbed") / "project", n_cases=N_CASES)
    with FaultyServer(root, Slow()) as server:
        started = time.monotonic()
        code, err = complete(root, server)
        seconds = time.monotonic() - started
    assert code == DONE, err
    assert len(server.seen) == N_REQUESTS
    (folder,) = folders(root)
    assert_whole(folder, n_trials=N_TRIALS)
    return Undisturbed(digest=result(folder)["content_digest"], seconds=seconds)


@pytest.fixture(scope="module", autouse=True)
def kills() -> Iterator[Counter[str]]:
    """How many kills met a living run, by what was there of it.

    When all tests have run there were fifty and some at every stage; otherwise they show less than they say.
    """
    counted: Counter[str] = Counter()
    yield counted
    print(f"\nkills: {dict(counted)}")
    if counted["tests"] == N_TESTS:
        del counted["tests"]
        assert counted.total() >= N_KILLS, counted
        assert counted.keys() >= STAGES, counted


@pytest.fixture(autouse=True)
def counted(kills: Counter[str]) -> None:
    """Count the tests that ran."""
    kills["tests"] += 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FaultyServer]:
    """A server for one project."""
    with FaultyServer(build(tmp_path / "project", n_cases=N_CASES), Slow()) as server:
        yield server


def stage(root: Path) -> str:
    """How far a run was when it was killed, in one word."""
    usable = [folder for folder in folders(root) if (folder / "run.json").exists()]
    if not usable:
        return "before the header"
    folder = usable[-1]
    if (folder / "result.json").exists():
        return "result written"
    n_lines = (folder / "trials.jsonl").read_bytes().count(b"\n") if (folder / "trials.jsonl").exists() else 0
    return "no trial yet" if not n_lines else "all trials, no result" if n_lines >= N_TRIALS else "between trials"


def kill(run: subprocess.Popen[str], root: Path, kills: Counter[str]) -> None:
    """SIGKILL."""
    run.kill()
    run.communicate()
    if run.returncode == -signal.SIGKILL:
        kills[stage(root)] += 1


def go_on(root: Path, server: FaultyServer) -> subprocess.Popen[str]:
    """The run that is there goes on; a killed one that never got its header is begun anew."""
    usable = [folder for folder in folders(root) if (folder / "run.json").exists()]
    return begin(root, server, *(["--resume", usable[-1].name] if usable else []))


def assert_as_undisturbed(root: Path, server: FaultyServer, undisturbed: Undisturbed) -> None:
    """Let it end, then: the same content, every trial once, nothing torn."""
    run = go_on(root, server)
    _, err = run.communicate(timeout=60)
    assert run.returncode == DONE, err
    usable = [folder for folder in folders(root) if (folder / "run.json").exists()]
    assert len(usable) == 1
    assert_whole(usable[0], n_trials=N_TRIALS)
    assert len(records(usable[0])) == N_TRIALS
    assert result(usable[0])["content_digest"] == undisturbed.digest


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_time(
    tmp_path: Path, server: FaultyServer, undisturbed: Undisturbed, kills: Counter[str], seed: int
) -> None:
    """After a random time of its span, three times over, from the start of the interpreter to its last write."""
    dice, root = random.Random(seed), tmp_path / "project"
    for _ in range(3):
        run = go_on(root, server)
        time.sleep(dice.uniform(0.0, undisturbed.seconds))
        kill(run, root, kills)
    assert_as_undisturbed(root, server, undisturbed)


@pytest.mark.parametrize("seed", range(100, 108))
def test_killed_at_any_request(
    tmp_path: Path, server: FaultyServer, undisturbed: Undisturbed, kills: Counter[str], seed: int
) -> None:
    """When the server has seen a random number of requests, early, in the middle and late, until none is left."""
    dice, root = random.Random(seed), tmp_path / "project"
    for low, high in ((1, 8), (6, 16), (14, N_REQUESTS)):
        run = go_on(root, server)
        goal = dice.randint(low, high)
        while run.poll() is None and len(server.seen) < goal:
            time.sleep(0.001)
        time.sleep(dice.uniform(0.0, PAUSE_S))
        kill(run, root, kills)
    assert_as_undisturbed(root, server, undisturbed)


@pytest.mark.parametrize("seed", range(200, 210))
def test_killed_while_it_ends(
    tmp_path: Path, server: FaultyServer, undisturbed: Undisturbed, kills: Counter[str], seed: int
) -> None:
    """From the last record on: while it is assessed, while the result is written, while the report is printed."""
    dice, root = random.Random(seed), tmp_path / "project"
    run = go_on(root, server)
    while run.poll() is None and stage(root) in {"before the header", "no trial yet", "between trials"}:
        time.sleep(0.0005)
    # Assessing and writing take some milliseconds; half of the kills fall on the first of them.
    time.sleep(dice.choice([0.0, dice.uniform(0.0, 0.01), dice.uniform(0.0, 0.05)]))
    kill(run, root, kills)
    left = [path.name for folder in folders(root) for path in folder.glob("*.json")]
    assert set(left) <= {"run.json", "cases.json", "result.json"}, "a half-written file has a name that is read"
    assert_as_undisturbed(root, server, undisturbed)


@pytest.mark.parametrize("seed", range(300, 304))
def test_killed_while_it_begins(
    tmp_path: Path, server: FaultyServer, undisturbed: Undisturbed, kills: Counter[str], seed: int
) -> None:
    """As soon as there is a folder, a header, or a log: a run without a header is none, and the next one is whole."""
    dice, root = random.Random(seed), tmp_path / "project"
    run = go_on(root, server)
    while run.poll() is None and not folders(root):
        time.sleep(0.0005)
    time.sleep(dice.uniform(0.0, 0.01))
    kill(run, root, kills)
    assert_as_undisturbed(root, server, undisturbed)


@pytest.mark.parametrize("seed", range(400, 404))
def test_killed_while_trials_are_tried_again(
    tmp_path: Path, server: FaultyServer, kills: Counter[str], seed: int
) -> None:
    """--retry-unscored under kill -9: attempts are numbered without a gap, and none but the missing ones are made."""
    dice, root = random.Random(seed), tmp_path / "project"
    server.fault = Slow(refuse=lambda asked: asked.is_judge or asked.number % 5 == 0)
    code, err = complete(root, server)
    assert code == 3, err
    (folder,) = folders(root)
    assert len(records(folder)) == N_TRIALS
    server.fault = Slow()
    for _ in range(3):
        server.seen.clear()
        run = begin(root, server, "--retry-unscored", folder.name)
        goal = dice.randint(1, N_TRIALS // 2)
        while run.poll() is None and len(server.seen) < goal:
            time.sleep(0.001)
        time.sleep(dice.uniform(0.0, 2 * PAUSE_S))
        kill(run, root, kills)
    code, err = complete(root, server, "--retry-unscored", folder.name)
    assert code == DONE, err
    assert_whole(folder, n_trials=N_TRIALS)
    kept = records(folder)
    assert len(kept) == 2 * N_TRIALS  # every trial failed once and was tried again once
    assert result(folder)["counts"]["unscored"] == 0
