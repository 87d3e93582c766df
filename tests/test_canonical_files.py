"""Writing a whole file or nothing."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillassay.canonical import write_atomic

WRITER = """
import resource, signal, sys
from pathlib import Path
from skillassay.canonical import write_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(Path(sys.argv[1]), b"n" * 5000)
except OSError as error:
    sys.exit(error.errno)
"""
FOREVER = """
import sys
from pathlib import Path
from skillassay.canonical import write_atomic
for letter in b"ab" * 100_000:
    write_atomic(Path(sys.argv[1]), bytes([letter]) * 300_000)
"""


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    """Missing parents are made, and nothing else is left."""
    target = tmp_path / "a" / "b" / "file.json"
    write_atomic(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path) -> None:
    """When the write fails in the middle, the old bytes stand and no temporary file is left."""
    target = tmp_path / "file"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", WRITER, str(target)], capture_output=True)
    assert done.returncode == 27, done.stderr  # EFBIG
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("wait_s", [0.05, 0.11, 0.17])
def test_a_kill_leaves_old_or_new(tmp_path: Path, wait_s: float) -> None:
    """Killed at any moment, the file holds one whole version."""
    target = tmp_path / "file"
    write_atomic(target, b"a" * 300_000)
    child = subprocess.Popen([sys.executable, "-c", FOREVER, str(target)])
    try:
        deadline = time.monotonic() + 20
        while target.read_bytes()[:1] == b"a" and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(wait_s)
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    assert target.read_bytes() in {b"a" * 300_000, b"b" * 300_000}


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    """Rewriting changes bytes, not permissions."""
    target = tmp_path / "file"
    target.write_bytes(b"old")
    target.chmod(mode)
    write_atomic(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    """The umask holds, as for a file that open() makes."""
    (tmp_path / "plain").write_bytes(b"")
    write_atomic(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """The link stays a link, and its target has the new bytes."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real/file")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").read_bytes() == b"new"


def test_a_name_at_the_limit_can_be_written(tmp_path: Path) -> None:
    """The temporary name is no longer than a name may be."""
    target = tmp_path / ("n" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    write_atomic(target, b"new")
    assert target.read_bytes() == b"new"
