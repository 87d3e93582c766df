"""Scripts are kept from the machine: limits at both levels, the closed room of namespaces."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import EnvironmentFault
from skillassay.isolation import process
from skillassay.isolation.process import Isolation, run_isolated
from tests.isolation.room import LIMITS, in_namespaces, isolated


def test_script_sees_fixed_words_only(tmp_path: Path, level: Isolation) -> None:
    """Environment, working directory and temporary folder are the same in every run and at every level."""
    code = "import os, tempfile; print(os.getcwd(), tempfile.gettempdir(), sorted(os.environ.items()))"
    fixed = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": process.SYSTEM_PATH}
    python = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    expected = sorted({**fixed, **python, "HOME": "/tmp/home", "TMPDIR": "/tmp"}.items())
    result = isolated(code, tmp_path, level)
    assert result.stdout.decode() == f"/trial /tmp {expected}\n"
    assert result.stderr == b""


def test_workspace_temporary_folder_and_home_can_be_written(tmp_path: Path, level: Isolation) -> None:
    """What a script writes into its workspace is there afterwards; the rest is gone."""
    code = "import os\nfor p in ('a', os.environ['HOME'] + '/b', os.environ['TMPDIR'] + '/c'): open(p, 'w').write('x')"
    assert isolated(code, tmp_path, level).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_inside_paths_in_arguments_work(tmp_path: Path, level: Isolation) -> None:
    """A path a script printed can be handed to the next one."""
    (tmp_path / "note").write_text("hello")
    argv = ["cat", "/trial/note", "/extra/more"]
    extra = tmp_path / "outside"
    extra.mkdir()
    (extra / "more").write_text("!")
    folders = {"/extra": extra}
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=LIMITS, level=level, folders=folders)
    assert result.stdout == b"hello!"


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("bytearray(1 << 30)", 1, b"MemoryError"),
        ("open('big', 'wb').write(bytes(5 << 20))", 1, b"File too large"),
        ("[open('/dev/null') for _ in range(300)]", 1, b"Too many open files"),
        ("import os; os.kill(os.getpid(), 9)", 137, b""),
        ("import os; os.execvp('no-such', ['no-such'])", 1, b"FileNotFoundError"),
        ("input()", 1, b"EOFError"),
    ],
)
def test_limits_are_felt_by_the_script(
    tmp_path: Path, level: Isolation, code: str, exit_code: int, words: bytes
) -> None:
    """Too much memory, file or descriptors is an error in the script, which alone pays for it."""
    result = isolated(code, tmp_path, level)
    assert result.exit_code == exit_code
    assert words in result.stderr


@pytest.mark.parametrize("code", ["while True: pass", "import os, time\nos.close(1); os.close(2); time.sleep(60)"])
def test_endless_script_is_stopped_in_time(tmp_path: Path, level: Isolation, code: str) -> None:
    """A busy loop, and one that closed its outputs, end soon after their time."""
    started = time.monotonic()
    assert isolated(code, tmp_path, level, replace(LIMITS, timeout_s=0.4)).timed_out
    assert time.monotonic() - started < 20


def test_endless_output_of_a_script_is_stopped(tmp_path: Path, level: Isolation) -> None:
    """[aden-hive/hive#3486] Output is capped while it is read."""
    result = isolated("while True: print('x' * 1000)", tmp_path, level, replace(LIMITS, timeout_s=20))
    assert (result.truncated, result.timed_out) == (True, False)
    assert len(result.stdout) <= LIMITS.output_bytes


def test_broken_pipes_are_silent(tmp_path: Path, level: Isolation) -> None:
    """A pipeline behaves as in a terminal: what Python ignores is not handed down."""
    argv = ["bash", "-c", "yes | head -n 1"]
    result = run_isolated(argv, workspace=tmp_path, env={}, limits=LIMITS, level=level)
    assert (result.stdout, result.stderr) == (b"y\n", b"")


def test_missing_program_is_the_scripts_error(tmp_path: Path, level: Isolation) -> None:
    """A program that cannot be started inside ends with 127 and says so."""
    result = run_isolated(["no-such"], workspace=tmp_path, env={}, limits=LIMITS, level=level)
    assert result.exit_code == 127
    assert b"cannot start no-such" in result.stderr


def test_script_never_started_is_a_fault_of_the_environment(tmp_path: Path, level: Isolation) -> None:
    """When the room cannot be built, nobody takes that for the script's failure."""
    with pytest.raises(EnvironmentFault):
        run_isolated(["true"], workspace=tmp_path / "missing", env={}, limits=LIMITS, level=level)


def test_probe_says_why_it_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without unshare the level is the lower one, with the reason."""
    monkeypatch.setitem(process.SCRUBBED, "PATH", "/nowhere")
    probe = process.probe_isolation.__wrapped__()
    assert probe.level is Isolation.PROCESS
    assert "unshare" in probe.why


def test_signals_to_its_group_reach_the_script_alone(tmp_path: Path, level: Isolation) -> None:
    """`kill 0`, the usual clean-up of a shell script, leaves the script its own exit code."""
    code = "trap '' TERM INT USR1; kill -TERM 0; kill -INT 0; kill -USR1 0; exit 3"
    result = run_isolated(["bash", "-c", code], workspace=tmp_path, env={}, limits=LIMITS, level=level)
    assert (result.exit_code, result.stderr) == (3, b"")


def test_script_holds_no_descriptor_of_ours(tmp_path: Path, level: Isolation) -> None:
    """The pipe its supervisor hangs on is not handed down: three standard ones and the listing's own."""
    result = isolated("import os; print(os.listdir('/proc/self/fd'))", tmp_path, level)
    assert result.stdout == b"['0', '1', '2', '3']\n"


@in_namespaces
def test_grandchild_in_its_own_session_dies(tmp_path: Path) -> None:
    """In namespaces nothing outlives the script, not even what left its session and process group."""
    mark = f"{9000 + os.getpid()}.25"
    isolated(f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{mark}'])", tmp_path, Isolation.NAMESPACES)
    assert not processes_with(mark)


@in_namespaces
def test_grandchild_in_its_own_session_dies_at_the_time_limit(tmp_path: Path) -> None:
    """The same when the script is stopped: all are gone when the call returns."""
    mark = f"{9000 + os.getpid()}.75"
    code = f"import subprocess, time; subprocess.Popen(['setsid', 'sleep', '{mark}']); time.sleep(60)"
    assert isolated(code, tmp_path, Isolation.NAMESPACES, replace(LIMITS, timeout_s=0.4)).timed_out
    assert not processes_with(mark)


def processes_with(word: str) -> list[str]:
    """Ids of processes with this argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a loopback server of ours."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@in_namespaces
def test_network_is_out_of_reach(tmp_path: Path, listener: int) -> None:
    """A connection to a loopback server of the parent fails."""
    code = f"import socket; socket.create_connection(('127.0.0.1', {listener}), 1)"
    result = isolated(code, tmp_path, Isolation.NAMESPACES)
    assert result.exit_code == 1
    assert b"unreachable" in result.stderr


@in_namespaces
def test_environment_of_the_parent_is_out_of_reach(tmp_path: Path) -> None:
    """No process but the script's own can be read, and none is the parent."""
    code = "import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))\nopen('/proc/1/environ')"
    result = isolated(code, tmp_path, Isolation.NAMESPACES)
    assert result.stdout == b"[1, 2]\n"
    assert b"PermissionError" in result.stderr


@in_namespaces
def test_script_has_no_capabilities(tmp_path: Path) -> None:
    """It is uid 0 in its own eyes, and that is worth nothing: not even a new namespace."""
    code = (
        "import subprocess as s\nprint(s.run(['unshare', '-Ur', 'true'], stderr=s.DEVNULL).returncode != 0)\n"
        "print({l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')})"
    )
    assert isolated(code, tmp_path, Isolation.NAMESPACES).stdout == b"True\n{'0000000000000000'}\n"


@in_namespaces
def test_machine_is_read_only(tmp_path: Path) -> None:
    """System, settings of the kernel and Python's own folders refuse every write."""
    targets = ["/etc/x", "/usr/x", "/x", "/proc/sys/kernel/core_pattern", f"{sys.prefix}/x"]
    code = f"for p in {targets}:\n  try: open(p, 'w'); print('written', p)\n  except OSError as e: print(e.errno)"
    assert isolated(code, tmp_path, Isolation.NAMESPACES).stdout.split() == [b"30"] * len(targets)


@in_namespaces
def test_files_of_the_user_are_out_of_reach(tmp_path: Path) -> None:
    """Neither the project, nor another trial's folder, nor a service's socket is there."""
    other = tmp_path / "other"
    workspace = tmp_path / "mine"
    workspace.mkdir()
    other.mkdir()
    hidden = [str(other), str(workspace), str(Path(process.__file__).resolve()), "/run", "/var", "/sys", "/dev/shm/x"]
    code = f"import os; print([p for p in {hidden} if os.path.exists(p)])"
    assert isolated(code, workspace, Isolation.NAMESPACES).stdout == b"[]\n"


@in_namespaces
def test_usual_devices_and_shared_memory_work(tmp_path: Path) -> None:
    """/dev has what programs expect."""
    code = (
        "import multiprocessing, os; multiprocessing.Lock(); open('/dev/null', 'w').write('x')\n"
        "print(len(open('/dev/urandom', 'rb').read(3)), sorted(os.listdir('/dev')))"
    )
    names = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert isolated(code, tmp_path, Isolation.NAMESPACES).stdout.decode() == f"3 {names}\n"


@in_namespaces
@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        # Bounded, so that a supervisor that failed would fail this test and not the machine it runs on.
        (
            "import os, time\nfor _ in range(9): os.fork()\ntime.sleep(5)",
            125,
            b"stopped: more than 24 processes at once\n",
        ),
        ("import os\nos.fork(); os.fork()", 0, b""),
    ],
)
def test_fork_bomb_is_stopped_early(tmp_path: Path, code: str, exit_code: int, stderr: bytes) -> None:
    """Too many processes end the namespace, for root too; a few do not."""
    result = isolated(code, tmp_path, Isolation.NAMESPACES)
    assert (result.exit_code, result.stderr) == (exit_code, stderr)


@in_namespaces
def test_script_cannot_keep_its_supervisor_from_ending(tmp_path: Path) -> None:
    """Signals to PID 1 from inside do nothing."""
    code = "import os, signal\nfor n in (9, 19, 1): os.kill(1, n)\nprint('still here', flush=True)\nos.kill(1, 15)"
    result = isolated(code, tmp_path, Isolation.NAMESPACES)
    assert (result.exit_code, result.stdout) == (0, b"still here\n")


@in_namespaces
def test_threads_are_counted_too(tmp_path: Path) -> None:
    """One process with too many of them is ended as a fork bomb is."""
    code = (
        "import threading, time\nthreading.stack_size(1 << 16)\n"
        "for _ in range(60): threading.Thread(target=time.sleep, args=(3,), daemon=True).start()\n"
        "print('all started', flush=True); time.sleep(3)"
    )
    limits = replace(LIMITS, memory_bytes=8 << 30)
    result = isolated(code, tmp_path, Isolation.NAMESPACES, replace(limits, n_threads=40))
    assert (result.exit_code, result.stderr) == (125, b"stopped: more than 40 threads at once\n")
    assert isolated(code, tmp_path, Isolation.NAMESPACES, replace(limits, n_threads=80)).exit_code == 0


@in_namespaces
@pytest.mark.skipif(os.geteuid() != 0, reason="only root could read them")
def test_what_others_may_not_read_of_the_settings_is_covered(tmp_path: Path) -> None:
    """Though the script is root in its own eyes and would be the owner; the rest can be read."""
    code = "print([len(open(p).read()) for p in ('/etc/shadow', '/etc/gshadow')], len(open('/etc/passwd').read()) > 0)"
    assert Path("/etc/shadow").stat().st_size > 0
    assert isolated(code, tmp_path, Isolation.NAMESPACES).stdout == b"[0, 0] True\n"
