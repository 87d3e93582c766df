"""``--rpm`` at the level of a run: who waits, and that Ctrl-C is heard while they do."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillassay.runs.preparation import EvalRequest
from skillassay.runs.rebuild import resumed_request
from tests.endtoend.held_server import HeldServer, n_recorded, result_of, start, wait_until
from tests.project import REPOSITORY, build_small, command, environment, records, run_folder, small_case, small_rules

NAMES = ("a1", "a2", "a3")
N_TRIALS = 3 * len(NAMES)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HeldServer]:
    """A server that answers everything at once: whoever waits here waits for the pace."""
    rules = [rule for name in NAMES for rule in small_rules(name)]
    with HeldServer(build_small(tmp_path, cases=[small_case(name) for name in NAMES], rules=rules), free=1000) as held:
        yield held


def go_on(root: Path, server: HeldServer) -> None:
    """Resume the only run at another pace than it was begun at, to its end."""
    argv = command(root, "eval", "--resume", run_folder(root).name, "--rpm", "1000")
    env = environment(GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY="k-held")
    ran = subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=env, timeout=30)
    assert ran.returncode == 1, ran.stderr
    ids = [record["trial_id"] for record in records(root)]
    assert len(ids) == len(set(ids)) == N_TRIALS
    assert result_of(root)["counts"]["unscored"] == 0


def test_ctrl_c_is_heard_while_a_trial_waits_for_its_turn(tmp_path: Path, server: HeldServer) -> None:
    """Two trials use up the minute; the third has sent nothing and is left out: 130 at once, and nothing is lost."""
    run = start(tmp_path, server, "--jobs", "1", "--rpm", "4")
    wait_until(lambda: n_recorded(tmp_path) == 2)
    time.sleep(0.2)  # the next trial is on its way to its turn
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=10)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert n_recorded(tmp_path) == 2
    assert f"go on with: skillassay --root {tmp_path} eval --resume {run_folder(tmp_path).name}\n" in err
    go_on(tmp_path, server)


def test_a_trial_under_way_waits_on_until_ctrl_c_comes_again(tmp_path: Path, server: HeldServer) -> None:
    """Its answer is paid for: the first Ctrl-C leaves it its turn, the second drops it at once."""
    run = start(tmp_path, server, "--jobs", "1", "--rpm", "3")
    wait_until(lambda: n_recorded(tmp_path) == 1)
    time.sleep(0.2)  # the second trial has its answer; its judge waits for the next minute
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    assert "stopping after 1 trial under way" in run.stderr.readline()
    time.sleep(0.2)
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=10)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert n_recorded(tmp_path) == 1
    go_on(tmp_path, server)


def test_a_resumed_run_keeps_its_pace(tmp_path: Path, server: HeldServer) -> None:
    """Nothing but the id is needed: the limit that the run was begun with holds, and another one on the line wins."""
    run = start(tmp_path, server, "--jobs", "1", "--rpm", "2", "--tpm", "900000")
    wait_until(lambda: n_recorded(tmp_path) == 1)
    run.kill()
    run.communicate()
    name = run_folder(tmp_path).name
    kept = resumed_request(EvalRequest(root=tmp_path), name)
    assert (kept.rpm, kept.tpm) == (2, 900000)
    assert resumed_request(EvalRequest(root=tmp_path, rpm=7), name).rpm == 7
    go_on(tmp_path, server)
