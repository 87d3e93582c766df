"""Where a control group can be made, the kernel holds the number of tasks, root's too; elsewhere nothing is broken."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.isolation import control_group, process
from skillassay.isolation.control_group import tasks_group
from skillassay.isolation.process import Isolation, Limits, run_isolated

LIMITS = Limits(timeout_s=15, n_processes=150, n_threads=10)
FORKS = """
import os, time
n = 1
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(4)
            os._exit(0)
    except OSError:
        break
    n += 1
print(n, flush=True)
"""


def can_make_groups() -> bool:
    """Whether this machine lets us."""
    with tasks_group(1) as group:
        return group is not None


in_group = pytest.mark.skipif(not can_make_groups(), reason="the machine's control groups are not ours to write")


@in_group
def test_a_group_is_gone_afterwards() -> None:
    """And while it is there, it has its limit."""
    with tasks_group(7) as group:
        assert group is not None
        assert (group / "pids.max").read_text() == "7\n"
    assert not group.exists()


@in_group
@pytest.mark.parametrize("level", [level for level in Isolation if process.probe_isolation().level is level] or [])
def test_the_kernel_ends_what_the_supervisor_is_too_slow_for(
    tmp_path: Path, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forker of at most 300 gets as many as the group allows, though nobody would stop it before."""
    monkeypatch.setattr(Limits, "n_tasks", 40)
    limits = replace(LIMITS, n_processes=400, n_threads=400)
    argv = [sys.executable, "-c", FORKS]
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=limits, level=level)
    assert (result.exit_code, result.stdout) == (0, b"40\n")
    assert not list(control_group.ROOTS[0].glob(f"skillassay-{tmp_path.name}-*"))


def test_where_none_can_be_made_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder that is not there, nor one that is no file system of control groups, is in a script's way."""
    monkeypatch.setattr(control_group, "ROOTS", (tmp_path / "missing",))
    with tasks_group(5) as group:
        assert group is None
    argv = [sys.executable, "-c", "print('ran')"]
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=LIMITS, level=Isolation.PROCESS)
    assert result.stdout == b"ran\n"


@in_group
def test_what_a_killed_harness_left_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its groups name it, and it is no more; those of a living one stay."""
    monkeypatch.setattr(control_group, "_PREFIX", "skillassay.test-")
    with tasks_group(1) as own:
        assert own is not None
        left = own.with_name("skillassay.test-4194305-0")
        left.mkdir()
        control_group._tidy.__wrapped__()
        assert (left.exists(), own.exists()) == (False, True)
