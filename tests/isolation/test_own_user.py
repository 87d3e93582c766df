"""Where the harness is root and has no namespaces, a script becomes a user of its own.

The harness of these tests is a process of its own, run by a Python that everyone may read; ours may lie in root's home.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillassay.isolation import own_user
from tests.project import REPOSITORY

HARNESS = """
import json, sys
from pathlib import Path
from skillassay.errors import EnvironmentFault
from skillassay.isolation.process import Isolation, Limits, run_isolated, why_root
workspace, limits, *codes = json.loads(sys.argv[1])
told = [why_root()]
for code in codes:
    try:
        given = {"workspace": Path(workspace), "env": {}, "limits": Limits(**limits), "level": Isolation.PROCESS}
        result = run_isolated([sys.executable, "-c", code], **given)
        told.append([result.exit_code, result.stdout.decode(), result.stderr.decode()])
    except EnvironmentFault as fault:
        told.append(fault.message)
print(json.dumps(told))
"""


@functools.cache
def open_python() -> str | None:
    """A Python under which scripts get a user of their own."""
    for program in (sys.executable, "/usr/bin/python3"):
        with (
            contextlib.suppress(OSError, subprocess.SubprocessError, ValueError),
            tempfile.TemporaryDirectory() as folder,
        ):
            if harness(folder, python=program)[0] == "":
                return program
    return None


def harness(workspace: str, *codes: str, python: str | None = None, **limits: Any) -> list[Any]:
    """What a harness says: why its scripts are root's, and what each of them came to."""
    argv = [python or str(open_python()), "-c", HARNESS, json.dumps([workspace, limits, *codes])]
    done = subprocess.run(argv, capture_output=True, env={"PYTHONPATH": str(REPOSITORY)}, timeout=60, check=True)
    told: list[Any] = json.loads(done.stdout)
    return told


@pytest.fixture
def workspace() -> Iterator[str]:
    """A workspace where trials have theirs; tmp_path lies in a folder that only its owner may enter."""
    if os.geteuid() != 0 or open_python() is None:
        pytest.skip("needs root, and a Python of at least 3.11 that everyone may read")
    folder = tempfile.mkdtemp(prefix="skillassay-")
    yield folder
    shutil.rmtree(folder)


def test_script_is_nobody_that_the_machine_knows(workspace: str) -> None:
    """Its ids are in no system's range, and it is in no other group."""
    code = "import os; print(os.getresuid() == os.getresgid(), os.getuid() >= 2_000_000_000, os.getgroups())"
    assert harness(workspace, code) == ["", [0, "True True []\n", ""]]


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.listdir('/root')",
        "import os; open(f'/proc/{os.getppid()}/environ').read()",
        "open('/etc/shadow').read()",
        "open('/etc/x', 'w')",
        "import os; os.kill(os.getppid(), 9)",
        "import os; os.setuid(0)",
        "import os; os.chown('/trial', 0, 0)",
    ],
)
def test_what_is_roots_is_out_of_reach(workspace: str, code: str) -> None:
    """Its files, its processes and their environment, and being it."""
    (_, (exit_code, stdout, stderr)) = harness(workspace, code)
    assert (exit_code, stdout) == (1, "")
    assert "Permission" in stderr or "not permitted" in stderr or "No such file" in stderr


def test_number_of_processes_is_held_by_the_kernel(workspace: str) -> None:
    """A fast forker gets no more than it may have, itself counted, and an error for the next one.

    One that has just ended, and that the kernel has not forgotten yet, counts too.
    """
    code = (
        "import os, time\nn = 1\n"
        "for _ in range(60):\n"
        "  try: pid = os.fork()\n"
        "  except BlockingIOError: break\n"
        "  if pid == 0: time.sleep(3); os._exit(0)\n"
        "  n += 1\n"
        "print(n)"
    )
    (_, (exit_code, stdout, stderr)) = harness(workspace, code, n_processes=24)
    assert (exit_code, stderr) == (0, "")
    assert 20 <= int(stdout) <= 24


def test_what_left_the_session_is_ended_too(workspace: str) -> None:
    """A user is ended whole."""
    mark = f"{9000 + os.getpid()}.125"
    harness(workspace, f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{mark}'])")
    running = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            running += [path] if mark.encode() in path.read_bytes().split(b"\0") else []
    assert running == []


def test_the_next_script_of_a_trial_finds_what_the_last_one_left(workspace: str) -> None:
    """Files that lay there before the first one, and those of the first one, can be changed by both."""
    (Path(workspace) / "sent").mkdir()
    (Path(workspace) / "sent" / "a.txt").write_text("a")
    codes = ["open('sent/a.txt', 'a').write('b'); open('new', 'w').write('1')", "open('new', 'a').write('2')"]
    assert [told[0] for told in harness(workspace, *codes)[1:]] == [0, 0]
    assert (Path(workspace) / "sent" / "a.txt").read_text() == "ab"
    assert (Path(workspace) / "new").read_text() == "12"


def test_a_workspace_that_only_root_may_enter_is_a_fault_of_the_environment(workspace: str) -> None:
    """Nothing of the script ran."""
    inner = Path(workspace) / "closed" / "w"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o700)
    (_, told) = harness(str(inner), "print('ran')")
    assert told.startswith("isolation (process group")
    assert "Permission denied" in told


def test_a_python_that_only_root_may_read_is_said(tmp_path: Path) -> None:
    """In words, and nothing is run as root instead of them."""
    if os.geteuid() != 0 or open_python() is None:
        pytest.skip("needs root")
    closed = tmp_path / "python"
    closed.symlink_to(str(open_python()))
    (why,) = harness(str(tmp_path), python=str(closed))
    assert "Permission denied" in why


def gives_away() -> bool:
    """Whether this is root over more than itself: in a user namespace of one id there is nobody to give a file to."""
    told = Path("/proc/self/uid_map")
    return os.geteuid() == 0 and (not told.exists() or int(told.read_text().split()[2]) > 1)


@pytest.mark.skipif(not gives_away(), reason="only root over other users gives files away")
def test_only_our_copies_are_given_away(tmp_path: Path) -> None:
    """Neither what a link leads to, nor a file that has a second name elsewhere, nor what was given already."""
    (tmp_path / "users").mkdir()
    for name in ("one", "two"):
        (tmp_path / "users" / name).write_text("x")
    copy = tmp_path / "copy"
    (copy / "inner").mkdir(parents=True)
    (copy / "inner" / "file").write_text("x")
    (copy / "link").symlink_to(tmp_path / "users" / "one")
    os.link(tmp_path / "users" / "two", copy / "hard")
    (copy / "folder").symlink_to(tmp_path / "users")
    user = own_user.user_of(str(copy))
    own_user.hand_over([str(copy)], user)
    given = {path.name: path.lstat().st_uid == user for path in (copy, *copy.rglob("*"))}
    assert given == {"copy": True, "inner": True, "file": True, "link": True, "folder": True, "hard": False}
    assert {path.stat().st_uid for path in (tmp_path / "users", *(tmp_path / "users").iterdir())} == {0}
    (copy / "late").write_text("x")
    own_user.hand_over([str(copy)], user)
    assert (copy / "late").stat().st_uid == 0


def test_two_workspaces_have_two_users(tmp_path: Path) -> None:
    """One script's end is nobody else's."""
    folders = [tmp_path / str(number) for number in range(50)]
    for folder in folders:
        folder.mkdir()
    assert len({own_user.user_of(str(folder)) for folder in folders}) == len(folders)
    assert min(own_user.user_of(str(folder)) for folder in folders) >= own_user.FIRST_USER


def test_one_inode_number_on_two_devices_is_two_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two file systems number their files alike."""
    states = {name: SimpleNamespace(st_ino=7, st_dev=device) for name, device in (("/a", 1), ("/b", 2))}
    monkeypatch.setattr("os.stat", states.__getitem__)
    assert own_user.user_of("/a") != own_user.user_of("/b")
