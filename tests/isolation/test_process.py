"""Programs are started, bounded and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillassay.errors import EnvironmentFault
from skillassay.isolation import process
from skillassay.isolation.process import CommandResult, Isolation, Limits, git, remove_tree, run_command, run_isolated

ENV = {"PATH": process.SYSTEM_PATH}
in_namespaces = pytest.mark.skipif(
    process.probe_isolation().level is not Isolation.NAMESPACES, reason=process.probe_isolation().why
)
HARNESS = """
import sys, threading
from pathlib import Path
from skillassay.isolation.process import Isolation, Limits, run_isolated
code, workspace, level = sys.argv[1:]
given = {"workspace": Path(workspace), "env": {}, "limits": Limits(), "level": Isolation[level]}
threading.Thread(target=run_isolated, args=([sys.executable, "-c", code],), kwargs=given).start()
"""
"""A harness of its own, which starts its script from a worker thread as a run does."""


def sh(script: str, *, timeout_s: float = 5.0, cap: int = 1 << 20) -> CommandResult:
    """A shell script as a plain command."""
    return run_command(["sh", "-c", script], cwd=Path("/"), env=ENV, timeout_s=timeout_s, max_output_bytes=cap)


def is_alive(pid: int) -> bool:
    """Whether a process still runs, given a moment to die; a zombie of someone else's does not."""
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state == "Z":
            return False
        time.sleep(0.01)
    return True


def test_code_and_both_outputs_come_back_apart() -> None:
    """Exit code, stdout and stderr are told as they were."""
    result = sh("printf out; printf err >&2; exit 7")
    assert (result.exit_code, result.stdout, result.stderr) == (7, b"out", b"err")
    assert not result.timed_out
    assert not result.truncated


def test_death_by_signal_is_128_and_its_number() -> None:
    """A program that kills itself ends as a shell would say it."""
    assert sh("kill -9 $$").exit_code == 128 + signal.SIGKILL


def test_input_is_empty() -> None:
    """A program that asks for input gets its end at once."""
    assert sh("cat; echo done").stdout == b"done\n"


def test_environment_is_exactly_the_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of ours is inherited."""
    monkeypatch.setenv("SOME_API_KEY", "secret")
    result = run_command(["env"], cwd=Path("/"), env={"A": "1", **ENV}, timeout_s=5, max_output_bytes=1000)
    assert set(result.stdout.decode().split()) == {"A=1", f"PATH={process.SYSTEM_PATH}"}


def test_full_pipes_do_not_deadlock() -> None:
    """More than a pipe holds on both outputs at once is read."""
    result = sh("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero", cap=600_000)
    assert (len(result.stdout), len(result.stderr), result.truncated) == (300_000, 300_000, False)


@pytest.mark.parametrize(("n_bytes", "truncated"), [(999, False), (1000, False), (1001, True), (200_000, True)])
def test_cap_counts_both_outputs(n_bytes: int, truncated: bool) -> None:
    """What fits is whole; the first byte too many is the end."""
    result = sh(f"printf x >&2; head -c {n_bytes - 1} /dev/zero", cap=1000)
    assert result.truncated is truncated
    assert len(result.stdout) + len(result.stderr) == min(n_bytes, 1000)


def test_endless_output_is_stopped_by_the_cap() -> None:
    """A flood ends long before its time limit, and has no exit code of its own."""
    result = sh("yes", timeout_s=30, cap=100_000)
    assert (result.truncated, result.timed_out, result.exit_code) == (True, False, None)


def test_timeout_keeps_what_was_said() -> None:
    """[google/adk-python#5079] Partial output survives, and a timeout is not an exit code."""
    result = sh("echo start; sleep 60", timeout_s=0.3)
    assert (result.stdout, result.timed_out, result.exit_code) == (b"start\n", True, None)


def test_timeout_kills_the_whole_group() -> None:
    """[python/cpython#76116] A grandchild that holds the pipe neither delays the end nor outlives it."""
    started = time.monotonic()
    result = sh("sleep 60 & echo $!; wait", timeout_s=0.3)
    assert result.timed_out
    assert time.monotonic() - started < 20
    assert not is_alive(int(result.stdout))


def test_background_process_ends_with_its_parent() -> None:
    """[python/cpython#76116] A program that leaves a child behind is over when it is over."""
    result = sh("sleep 60 & echo $!")
    assert result.exit_code == 0
    assert not is_alive(int(result.stdout))


def test_survivor_in_its_own_session_is_not_waited_for() -> None:
    """A plain command's child that left the session keeps the pipe, and we return without it."""
    started = time.monotonic()
    result = sh("setsid sh -c 'echo $$; exec sleep 60' & sleep 0.1")
    assert result.exit_code == 0
    assert time.monotonic() - started < 20
    os.kill(int(result.stdout), signal.SIGKILL)


def test_closed_outputs_do_not_end_the_wait() -> None:
    """A program that closes its outputs and runs on is held to its time."""
    result = sh("exec >&- 2>&-; sleep 60", timeout_s=0.3)
    assert result.timed_out


def n_descriptors() -> int:
    """Open descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_nothing_is_left_over() -> None:
    """No descriptor, thread or child remains after normal ends, time-outs and floods."""
    before = n_descriptors(), threading.active_count()
    for script, timeout_s in [("true", 5.0), ("sleep 9 & sleep 9", 0.1), ("yes", 5.0)]:
        sh(script, timeout_s=timeout_s, cap=1000)
    assert (n_descriptors(), threading.active_count()) == before
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    assert not children.exists() or not children.read_text().strip()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("PROCESS", "subprocess.Popen(['sleep', '60'])"),
        ("PROCESS", "os.setsid()"),
        pytest.param("NAMESPACES", "subprocess.Popen(['setsid', 'sleep', '60'])", marks=in_namespaces),
    ],
)
def test_nothing_outlives_the_harness(tmp_path: Path, name: str, act: str, number: signal.Signals) -> None:
    """However the harness dies, the script and all between and below it are gone within two seconds."""
    code = f"import os, subprocess, time; {act}; open('started', 'w'); time.sleep(60)"
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, code, str(tmp_path), name])
    try:
        assert within(10, (tmp_path / "started").exists)
        below = descendants(harness.pid)
    finally:
        harness.send_signal(number)
        harness.wait()
    assert len(below) > 1
    assert within(2, lambda: not below & parents().keys())


def within(seconds: float, happens: Callable[[], bool]) -> bool:
    """Whether something happens in time."""
    until = time.monotonic() + seconds
    while not (happened := happens()) and time.monotonic() < until:
        time.sleep(0.01)
    return happened


def descendants(pid: int) -> set[int]:
    """Every running process that comes from this one."""
    parent_of, found = parents(), {pid}
    while more := {child for child, parent in parent_of.items() if parent in found} - found:
        found |= more
    return found - {pid}


def parents() -> dict[int, int]:
    """Every running process and its parent; a zombie runs no more."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(path.parent.name)] = int(parent)
    return found


def test_own_session_of_a_script_is_stopped_in_time(tmp_path: Path) -> None:
    """Without namespaces, too, a script that leaves its process group stays within reach of its time limit."""
    argv = [sys.executable, "-c", "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"]
    limits = Limits(timeout_s=0.4)
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=limits, level=Isolation.PROCESS)
    assert result.timed_out
    assert not is_alive(int(result.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's parent-death signal")
def test_script_ends_with_its_supervisor(tmp_path: Path) -> None:
    """Killing the supervisor, by accident or from the script, frees nobody."""
    kill = "import os, time; os.setsid(); print(os.getpid(), flush=True); os.kill(os.getppid(), 9); time.sleep(60)"
    argv = [sys.executable, "-c", kill]
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=Limits(), level=Isolation.PROCESS)
    assert result.exit_code == 128 + signal.SIGKILL
    assert not is_alive(int(result.stdout))


@pytest.mark.parametrize("argv", [["no-such-program"], ["true", "a\0b"]])
def test_what_cannot_start_is_a_fault_of_the_environment(argv: list[str]) -> None:
    """A missing program and an impossible argument are told in words."""
    with pytest.raises(EnvironmentFault, match="cannot start"):
        run_command(argv, cwd=Path("/"), env=ENV, timeout_s=1, max_output_bytes=10)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty git repository."""
    assert git(tmp_path, "init", "--quiet") is not None
    return tmp_path


def test_git_ignores_variables_of_an_outer_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a commit hook GIT_DIR points at another repository."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    result = git(repository, "rev-parse", "--show-toplevel")
    assert result is not None
    assert result.stdout.decode().strip() == str(repository.resolve())


def test_git_runs_no_program_of_the_repository(repository: Path) -> None:
    """A file system monitor set in the repository's configuration is not started."""
    monitor = repository / "monitor.sh"
    monitor.write_text("#!/bin/sh\ntouch ran\n")
    monitor.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(monitor))
    result = git(repository, "status", "--porcelain")
    assert result is not None
    assert result.exit_code == 0
    assert not (repository / "ran").exists()


def test_no_git_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git is a value, not an error."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git(tmp_path, "status") is None


def test_locked_folder_is_removed(tmp_path: Path) -> None:
    """A folder without permissions goes too."""
    locked = tmp_path / "work" / "locked"
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    locked.chmod(0)
    remove_tree(tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_very_deep_folder_is_removed(tmp_path: Path) -> None:
    """Nesting beyond Python's recursion limit does not stop the clean-up."""
    work = tmp_path / "work"
    work.mkdir()
    code = "import os\nfor _ in range(1100): os.mkdir('d'); os.chdir('d')"
    run_command([sys.executable, "-c", code], cwd=work, env=ENV, timeout_s=10, max_output_bytes=1000)
    remove_tree(work)
    assert not work.exists()
