"""Only regular files of sane size are read, and nothing is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillassay.regular import NotRegular, read_regular


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    """Through a link too, up to the limit."""
    (tmp_path / "a").write_bytes(b"x" * 100)
    (tmp_path / "b").symlink_to("a")
    assert read_regular(tmp_path / "b", max_bytes=100) == b"x" * 100


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "large"])
def test_anything_else_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """A pipe without a writer, a folder, an endless device behind a link, a file over the limit."""
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes(b"x" * 101)
    with pytest.raises(NotRegular):
        read_regular(path, max_bytes=100)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    """The caller tells it apart from what cannot be read."""
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "gone")
