"""The files that a trial left in its workspace, read for checks. Owns what of a hostile folder counts as a text.

Whoever wrote there is not trusted: a path is walked from the workspace's own descriptor, one name at a time, and no
link is followed by the system. A link inside the workspace leads where it says (``/trial/…`` is the workspace's own
name for itself); one that leaves it, whatever lies there, is not followed. Only a regular file is opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillassay.isolation.levels import WORKSPACE

MAX_FILE_BYTES = 1_000_000
"""As much as an answer may have, so that a check meets no text it could not decide on."""
MAX_LINKS, MAX_DEPTH = 40, 64
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """A file of the workspace: its text, or why there is none, in words that go on from its name or stand alone."""

    text: str | None = None
    problem: str = ""


class _Unusable(Exception):
    """What is there cannot be read; the message says why."""


def path_problem(name: str) -> str | None:
    """What is wrong with ``name`` as a path relative to a workspace; None for a good one."""
    if not name or "\0" in name or "\\" in name:
        return "is no POSIX path"
    if name.startswith("/") or ".." in name.split("/"):
        return "leaves the workspace"
    normal = str(PurePosixPath(name))
    return None if normal == name and normal != "." else f"is not in its normal form ({normal!r})"


def read_produced(workspace: Path, names: Iterable[str]) -> Mapping[str, Produced]:
    """Each named file of the workspace. Raises nothing: what cannot be read has a problem."""
    return {name: _read(workspace, name) for name in names}


def _read(workspace: Path, name: str) -> Produced:
    try:
        data = _bytes(workspace, name)
    except _Unusable as unusable:
        return Produced(problem=f"{name} {unusable}")
    except (FileNotFoundError, NotADirectoryError):
        return Produced(problem=f"no file {name} in the workspace")
    except OSError as error:
        return Produced(problem=f"{name} cannot be read: {error.strerror or error}")
    if len(data) > MAX_FILE_BYTES:
        return Produced(problem=f"{name} is over {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Produced(problem=f"{name} is not UTF-8 text")
    if "\0" in text:
        return Produced(problem=f"{name} is not text: it holds a NUL")
    return Produced(text=text.replace("\r\n", "\n"))


def _bytes(workspace: Path, name: str) -> bytes:
    handle = _open(workspace, name)  # never waits: not for a writer, nor for a device
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):  # swapped since it was looked at
            raise _Unusable("is not a regular file")
        parts, n_left = [], MAX_FILE_BYTES + 1
        while n_left > 0 and (part := os.read(handle, n_left)):
            parts.append(part)
            n_left -= len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _open(workspace: Path, name: str) -> int:
    """A descriptor of the regular file that ``name`` is."""
    ahead, n_links = list(reversed(name.split("/"))), 0
    roots = (WORKSPACE, str(workspace), os.path.realpath(workspace))
    behind = [os.open(workspace, _FLAGS | os.O_DIRECTORY)]
    try:
        while ahead:
            part = ahead.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                _step_back(behind)
                continue
            mode = _mode_of(part, behind[-1], through_link=n_links > 0)
            if stat.S_ISLNK(mode):
                n_links += 1
                ahead += reversed(_target(part, behind, n_links, roots).split("/"))
            elif stat.S_ISDIR(mode):
                if len(behind) > MAX_DEPTH:
                    raise _Unusable(f"lies under more than {MAX_DEPTH} folders")
                behind.append(os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=behind[-1]))
            elif not stat.S_ISREG(mode):
                raise _Unusable(f"is {_KINDS.get(stat.S_IFMT(mode), 'no file')}, not a regular file")
            elif any(more not in {"", "."} for more in ahead):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            else:
                return os.open(part, _FLAGS, dir_fd=behind[-1])
        raise _Unusable("is a folder")
    finally:
        for handle in behind:
            os.close(handle)


def _mode_of(part: str, folder: int, *, through_link: bool) -> int:
    try:
        return os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        if through_link:
            raise _Unusable("is a link to a file that is not there") from None
        raise


def _target(part: str, behind: list[int], n_links: int, roots: Sequence[str]) -> str:
    """Where a link leads, as a path from the folder that is then the last of ``behind``."""
    if n_links > MAX_LINKS:
        raise _Unusable("is a loop of links")
    target = os.readlink(part, dir_fd=behind[-1])
    if not target.startswith("/"):
        return target
    root = next((root for root in roots if target == root or target.startswith(f"{root}/")), None)
    if root is None:
        raise _Unusable("is a link that leaves the workspace")
    while len(behind) > 1:
        os.close(behind.pop())
    return target[len(root) :]


def _step_back(behind: list[int]) -> None:
    if len(behind) == 1:
        raise _Unusable("is a link that leaves the workspace")
    os.close(behind.pop())
