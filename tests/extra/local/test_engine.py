"""The engine's life: it is there for a command, hands on its exit code, and is gone afterwards, whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts import local_engine
from scripts.local_engine import is_healthy
from tests.project import REPOSITORY, environment

SCRIPT = [sys.executable, "scripts/local_engine.py", "--"]
WAIT_S = 60.0


def program(*lines: str) -> list[str]:
    """A command that runs Python lines; `address` is the engine's."""
    head = ("import os, sys, time", "address = os.environ['OPENAI_BASE_URL'].removesuffix('/v1')")
    return [sys.executable, "-c", "\n".join((*head, *lines))]


def started(*lines: str) -> tuple[subprocess.Popen[str], str]:
    """The script with a command that first prints the engine's address; in a process group of its own."""
    command = [*SCRIPT, *program("print(address, flush=True)", *lines)]
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env=environment(), stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def is_gone(address: str) -> bool:
    """Whether the engine ends within a minute."""
    deadline = time.monotonic() + WAIT_S
    while is_healthy(address) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_healthy(address)


def test_the_commands_exit_code_is_handed_on() -> None:
    """The engine is healthy while the command runs, ends with it, and the exit code is the command's."""
    process, address = started(
        "from urllib.request import urlopen", "sys.exit(41 if urlopen(address + '/health').status == 200 else 1)"
    )
    assert process.communicate(timeout=WAIT_S)[0] == ""
    assert process.returncode == 41
    assert not is_healthy(address)


def test_the_command_is_asked_nowhere_else_and_given_no_key() -> None:
    """Keys and the judge's own address are not handed to the command, the rest of the environment is."""
    given = dict.fromkeys(local_engine.OTHER_ADDRESSES, "x")
    left = local_engine.command_environment({**given, "HOME": "/home/ann", "OPENAI_BASE_URL": "y"})
    assert left == {"HOME": "/home/ann", "OPENAI_BASE_URL": "y"}
    assert {"OPENAI_API_KEY", "SKILLASSAY_JUDGE_BASE_URL", "SKILLASSAY_JUDGE_API_KEY"} == set(given)


def test_ctrl_c_lets_the_command_end_and_stops_the_engine() -> None:
    """Ctrl-C reaches the command, the engine answers until that has ended in its own way, then it is stopped."""
    process, address = started(
        "from urllib.request import urlopen",
        "try:",
        "    time.sleep(60)",
        "except KeyboardInterrupt:",
        "    sys.exit(130 if urlopen(address + '/health').status == 200 else 1)",
    )
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert is_gone(address)


def test_termination_ends_command_and_engine() -> None:
    """A SIGTERM to the script ends the command, and the exit code says by which signal."""
    process, address = started("time.sleep(60)")
    process.terminate()
    process.communicate(timeout=WAIT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert is_gone(address)


def test_a_killed_parent_leaves_no_engine() -> None:
    """When the script is killed and can clean up nothing, the engine ends by itself."""
    process, address = started("time.sleep(1)")
    assert is_healthy(address)
    process.kill()
    process.wait(WAIT_S)
    assert is_gone(address)
    process.communicate(timeout=WAIT_S)


def test_an_engine_that_died_is_told() -> None:
    """A command that ended well proves nothing when the engine was gone by then: exit 69."""
    process, _ = started(
        "import signal, subprocess",
        "rows = subprocess.check_output(['ps', '-A', '-o', 'pid=,ppid=,args='], text=True).splitlines()",
        "family = [row.split(None, 2) for row in rows if row.split()[1] == str(os.getppid())]",
        "(engine,) = [int(pid) for pid, _, args in family if int(pid) != os.getpid() and ' --serve ' in args]",
        "os.kill(engine, signal.SIGKILL)",
        "time.sleep(0.5)",
    )
    process.communicate(timeout=WAIT_S)
    assert process.returncode == local_engine.UNAVAILABLE


@pytest.mark.parametrize("command", [["false"], ["true"]])
def test_without_its_wheels_one_line_says_what_to_run(tmp_path: Path, command: list[str]) -> None:
    """Where the engine is not installed nothing runs: exit 69 and one line that names the make target."""
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(REPOSITORY / "scripts" / "local_engine.py", tmp_path / "scripts")
    done = subprocess.run([sys.executable, script, "--", *command], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (local_engine.UNAVAILABLE, "")
    (line,) = done.stderr.splitlines()
    assert "make eval-local" in line


def test_a_port_that_is_taken_is_named() -> None:
    """At a port of somebody else the engine does not start, and llama.cpp's own reason is told."""
    with local_engine.engine() as running:
        port = running.address.rpartition(":")[2]
        done = subprocess.run(
            [SCRIPT[0], SCRIPT[1], "--port", port, *SCRIPT[2:], "true"],
            cwd=REPOSITORY,
            capture_output=True,
            encoding="utf-8",
        )
    assert done.returncode == local_engine.UNAVAILABLE
    assert done.stderr.startswith("error: the engine did not start: ")
    assert port in done.stderr


def test_a_command_that_does_not_exist() -> None:
    """What cannot be started is named, with a shell's exit code for it."""
    done = subprocess.run([*SCRIPT, "no-such-command"], cwd=REPOSITORY, capture_output=True, encoding="utf-8")
    assert done.returncode == local_engine.NOT_FOUND
    assert "no-such-command" in done.stderr
