"""A process that leaves nothing of what it hears: for runs that keep no texts. Owns log lines and temporary files.

Libraries write what passes through them where nobody looks: debug logs that a variable of the environment switches on,
warnings that quote a value, the message of a thread that fell over. In here all of it is off. And all temporary files,
workspaces and homes of trials included, lie in one folder, which is removed at the end. Trials that were dropped (a
second Ctrl-C, a full disk) may still run then: for them it stays quiet, and without a folder, until the process ends.
Who kills the process leaves the folder; the next such run removes it.

Left out: what a library writes to the error stream by itself, what the system writes (swap, core files), and copies
that a file system keeps of what was removed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from skillassay.isolation.process import remove_tree

_PREFIX, _DRAFT = "skillassay-hash-", "skillassay-draft-"
_OWNER = ".owner"
_PASSABLE = 0o711
"""Programs that run as a user of their own reach their folder below, and nobody can list it."""


@contextmanager
def hushed(*, is_heard: Callable[[], bool]) -> Iterator[None]:
    """While it lasts, no library logs or warns, and temporary files have a folder that goes with it.

    ``is_heard`` says at its end whether something still runs that may hear a model: then nothing is put back.
    """
    with _quiet(is_heard), _own_folder(is_heard):
        yield


@contextmanager
def _quiet(is_heard: Callable[[], bool]) -> Iterator[None]:
    level, shown = logging.root.manager.disable, warnings.showwarning
    thread_hook, other_hook = threading.excepthook, sys.unraisablehook
    logging.disable(logging.CRITICAL)
    warnings.showwarning = _say_nothing
    threading.excepthook = sys.unraisablehook = _say_nothing
    try:
        yield
    finally:
        if not is_heard():
            logging.disable(level)
            warnings.showwarning = shown
            threading.excepthook, sys.unraisablehook = thread_hook, other_hook


def _say_nothing(*_: Any, **__: Any) -> None:
    """What a thread died of, or a warning is about, may quote what it was told."""


@contextmanager
def _own_folder(is_heard: Callable[[], bool]) -> Iterator[None]:
    before = tempfile.tempdir
    parent = Path(tempfile.gettempdir())
    _remove_left(parent)
    folder, owner = _make(parent)
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        if not is_heard():
            tempfile.tempdir = before
        remove_tree(folder)
        os.close(owner)


def _make(parent: Path) -> tuple[Path, int]:
    """A new folder and the open file that says who owns it: locked before the folder has the name others look for."""
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=parent))
    owner = os.open(draft / _OWNER, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    draft.chmod(_PASSABLE)
    folder = parent / draft.name.replace(_DRAFT, _PREFIX)
    draft.rename(folder)
    return folder, owner


def _remove_left(parent: Path) -> None:
    """Remove what processes left that were killed: their lock is gone with them, wherever they ran."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is another user's, or another process is at it
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            owner = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(folder)
            finally:
                os.close(owner)
