"""The disk of a script: its share ends it, and what is not its own does not count."""

from __future__ import annotations

import contextlib
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.isolation.process import Isolation, run_isolated
from tests.isolation.room import LIMITS, in_namespaces, isolated

FILL = (
    "import os, time\nfor n in range({n}):\n"
    "  with open({where}f'f{{n}}', 'wb') as f: f.write(bytes({size}))\n"
    "  time.sleep({pause})"
)

SMALL_DISK = replace(LIMITS, disk_bytes=8 << 20, n_files=300, timeout_s=20)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (FILL.format(where="", n=64, size=1 << 20, pause=0.02), b"stopped: more than 8388608 bytes on disk\n"),
        (FILL.format(where="os.environ['TMPDIR'] + '/' + ", n=64, size=1 << 20, pause=0.02), b"bytes on disk\n"),
        (FILL.format(where="", n=4000, size=0, pause=0.002), b"stopped: more than 300 files\n"),
    ],
    ids=["bytes", "bytes in /tmp", "files"],
)
def test_a_full_workspace_ends_the_script(tmp_path: Path, level: Isolation, code: str, words: bytes) -> None:
    """All that it wrote counts together, since each file alone is within its limit."""
    result = isolated(code, tmp_path, level, SMALL_DISK)
    assert result.exit_code == 125
    assert words in result.stderr
    n_bytes = sum(path.stat().st_blocks * 512 for path in tmp_path.iterdir())
    assert n_bytes < 64 << 20


@in_namespaces
def test_files_without_a_name_count(tmp_path: Path) -> None:
    """Open and unlinked they fill a disk as well."""
    code = (
        "import os, time\nheld = []\n"
        "for n in range(64):\n"
        "  f = open(f'f{n}', 'wb'); f.write(bytes(1 << 20)); f.flush(); held.append(f)\n"
        "  os.remove(f'f{n}'); time.sleep(0.02)"
    )
    result = isolated(code, tmp_path, Isolation.NAMESPACES, SMALL_DISK)
    assert (result.exit_code, result.stderr) == (125, b"stopped: more than 8388608 bytes on disk\n")


def test_a_disk_that_others_fill_is_not_the_scripts(tmp_path: Path, level: Isolation) -> None:
    """Another program writes as much beside it, on the same file system."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    code = "import time; open('a', 'wb').write(bytes(1 << 20)); time.sleep(1); print('done')"
    with contextlib.ExitStack() as stack:
        writer = threading.Thread(target=lambda: [(tmp_path / f"o{n}").write_bytes(bytes(1 << 20)) for n in range(24)])
        stack.callback(writer.join)
        writer.start()
        result = isolated(code, workspace, level, SMALL_DISK)
    assert (result.exit_code, result.stdout) == (0, b"done\n")


@in_namespaces
def test_what_is_given_to_be_read_is_not_the_scripts(tmp_path: Path) -> None:
    """A program that lies below /tmp is put into the script's own /tmp: its files count for nobody."""
    (given := tmp_path / "given").mkdir()
    for number in range(SMALL_DISK.n_files + 1):
        (given / str(number)).write_bytes(b"")
    (workspace := tmp_path / "workspace").mkdir()
    code = (
        f"import os, time; print(len(os.listdir({str(given)!r})), flush=True)\n"
        "time.sleep(0.5)\nfor n in range(9): open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))\ntime.sleep(5)"
    )
    argv, level = [sys.executable, "-c", code], Isolation.NAMESPACES
    result = run_isolated(argv, workspace=workspace, env={}, limits=SMALL_DISK, level=level, readable=[given])
    assert result.stdout == f"{SMALL_DISK.n_files + 1}\n".encode()
    assert (result.exit_code, result.stderr) == (
        125,
        f"stopped: more than {SMALL_DISK.disk_bytes} bytes on disk\n".encode(),
    )
