"""Files that a trial left behind: what counts as the text of one, and what a hostile folder cannot make us read."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillassay.isolation.produced import MAX_DEPTH, MAX_FILE_BYTES, MAX_LINKS, Produced, path_problem, read_produced

SECRET = "outside-the-workspace"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace beside a file that is none of its business."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def read(workspace: Path, name: str = "out") -> Produced:
    """One file of the workspace."""
    return read_produced(workspace, [name])[name]


@pytest.mark.parametrize("name", ["out", "a/b/out.csv", "é ü/日本.txt", "-rf", "~", "$HOME", "a:b"])
def test_a_file_is_read_by_its_path(workspace: Path, name: str) -> None:
    """Whatever it is called: no character of a name means anything."""
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text("date\n2026\n", encoding="utf-8")
    assert read(workspace, name) == Produced(text="date\n2026\n")


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"", ""), (b"a\r\nb\r\n", "a\nb\n"), (b"a\rb", "a\rb"), (b"\xef\xbb\xbfid", "id"), ("é".encode(), "é")],
)
def test_a_text_counts_as_one_of_a_case_does(workspace: Path, data: bytes, text: str) -> None:
    """The mark of byte order goes, CRLF is LF, a lone CR is content, and an empty file is a text."""
    (workspace / "out").write_bytes(data)
    assert read(workspace).text == text


def test_what_is_just_small_enough_is_read(workspace: Path) -> None:
    """The cap itself still fits; one byte more does not, and what is over is not even loaded."""
    (workspace / "out").write_bytes(b"x" * MAX_FILE_BYTES)
    (workspace / "more").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    with (workspace / "huge").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert read(workspace).text == "x" * MAX_FILE_BYTES
    assert read(workspace, "more").problem == f"more is over {MAX_FILE_BYTES} bytes"
    assert read(workspace, "huge").problem == f"huge is over {MAX_FILE_BYTES} bytes"


def link(target: str, name: str = "out") -> Callable[[Path], None]:
    """Make a link."""

    def make(workspace: Path) -> None:
        (workspace / name).symlink_to(target)

    return make


def write(data: bytes, name: str = "out") -> Callable[[Path], None]:
    """Write a file."""

    def make(workspace: Path) -> None:
        (workspace / name).write_bytes(data)

    return make


def bind_socket(workspace: Path) -> None:
    """Leave a socket; bound by a short name, since a socket's path is short."""
    here = Path.cwd()
    os.chdir(workspace)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("out")
    finally:
        os.chdir(here)


def remove(workspace: Path) -> None:
    """Leave no workspace at all."""
    workspace.rmdir()


def become_link(workspace: Path) -> None:
    """Put a link in the workspace's own place."""
    workspace.rmdir()
    workspace.symlink_to(workspace.parent)


LEAVES = "is a link that leaves the workspace"
HOSTILE = {
    "absolute link": (link("/etc/passwd"), "out", f"out {LEAVES}"),
    "link upwards": (link("../secret"), "out", f"out {LEAVES}"),
    "link to its own folder and up": (link("../w/../secret"), "out", f"out {LEAVES}"),
    "link to a name that begins alike": (link("/trial2/x"), "out", f"out {LEAVES}"),
    "folder that is a link": (link("/etc"), "out/passwd", f"out/passwd {LEAVES}"),
    "folder that is a link upwards": (link(".."), "out/secret", f"out/secret {LEAVES}"),
    "inside name and up": (link("/trial/../../secret"), "out", f"out {LEAVES}"),
    "link of the kernel's": (link("/proc/self/environ"), "out", f"out {LEAVES}"),
    "dangling": (link("nowhere"), "out", "out is a link to a file that is not there"),
    "itself": (link("out"), "out", "out is a loop of links"),
    "pipe": (lambda workspace: os.mkfifo(workspace / "out"), "out", "out is a pipe, not a regular file"),
    "socket": (bind_socket, "out", "out is a socket, not a regular file"),
    "folder": (lambda workspace: (workspace / "out").mkdir(), "out", "out is a folder"),
    "link to the workspace": (link("."), "out", "out is a folder"),
    "bytes": (write(b"\xff\xfe\x00"), "out", "out is not UTF-8 text"),
    "NUL": (write(b"a\0b"), "out", "out is not text: it holds a NUL"),
    "nothing": (lambda _: None, "out/report.csv", "no file out/report.csv in the workspace"),
    "file as folder": (write(b"x"), "out/report.csv", "no file out/report.csv in the workspace"),
    "workspace removed": (remove, "out", "no file out in the workspace"),
    "workspace replaced": (become_link, "secret", "no file secret in the workspace"),
}


@pytest.mark.parametrize(("act", "name", "words"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_file_of_the_workspace_is_said_and_not_read(
    workspace: Path, act: Callable[[Path], None], name: str, words: str
) -> None:
    """Each in words of its own, at once, and without a byte of what lies there."""
    act(workspace)
    started = time.monotonic()
    assert read(workspace, name) == Produced(problem=words)
    assert time.monotonic() - started < 5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a device")
def test_a_device_is_not_opened(workspace: Path) -> None:
    """Not even one that would give a text."""
    try:
        os.mknod(workspace / "out", 0o20644, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    assert read(workspace).problem == "out is a device, not a regular file"


@pytest.mark.parametrize(
    "target", ["real", "./real", "folder/../real", "/trial/real", "//trial/real", "folder/back/real"]
)
def test_a_link_inside_counts_as_the_file_it_leads_to(workspace: Path, target: str) -> None:
    """Relative, or by the workspace's name inside; two slashes are the system's, not the workspace's."""
    (workspace / "real").write_text("text")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "back").symlink_to("..")
    (workspace / "out").symlink_to(target)
    expected = Produced(problem=f"out {LEAVES}") if target.startswith("//") else Produced(text="text")
    assert read(workspace) == expected


def test_a_link_by_the_real_name_of_the_workspace_is_inside(workspace: Path) -> None:
    """Below the level of namespaces a script knows its workspace by no other name."""
    (workspace / "real").write_text("text")
    (workspace / "out").symlink_to(workspace / "real")
    assert read(workspace).text == "text"


@pytest.mark.parametrize(("n_links", "is_read"), [(MAX_LINKS, True), (MAX_LINKS + 1, False)])
def test_links_are_followed_as_far_as_the_system_would(workspace: Path, n_links: int, is_read: bool) -> None:
    """A chain has an end."""
    (workspace / "link0").write_text("text")
    for number in range(1, n_links + 1):
        (workspace / f"link{number}").symlink_to(f"link{number - 1}")
    assert (read(workspace, f"link{n_links}").text == "text") is is_read


def test_depth_has_an_end(workspace: Path) -> None:
    """Links that multiply folders do not use up our descriptors."""
    deep = workspace
    for _ in range(MAX_DEPTH + 1):
        deep = deep / "d"
        deep.mkdir()
    (deep / "out").write_text("text")
    name = str((deep / "out").relative_to(workspace))
    assert read(workspace, name).problem == f"{name} lies under more than {MAX_DEPTH} folders"


def test_no_descriptor_is_left(workspace: Path) -> None:
    """After each kind of end."""
    for act, _, _ in (HOSTILE["absolute link"], HOSTILE["folder"]):
        before = sorted(Path("/proc/self/fd").iterdir())
        act(workspace)
        read(workspace)
        assert sorted(Path("/proc/self/fd").iterdir()) == before
        (workspace / "out").unlink() if (workspace / "out").is_symlink() else (workspace / "out").rmdir()


@pytest.mark.parametrize("name", ["out.csv", "out/report.csv", "...", ".hidden", "a b/ü"])
def test_a_good_path_has_no_problem(name: str) -> None:
    """Relative, in its normal form."""
    assert path_problem(name) is None


@pytest.mark.parametrize(
    "name", ["", ".", "/etc/passwd", "../x", "a/../../x", "a/..", "./x", "a//b", "a/", "a\\b", "a\0b", "a/./b"]
)
def test_a_bad_path_has_one(name: str) -> None:
    """Before any model is called."""
    assert path_problem(name)
