"""A process that leaves nothing of what it hears: no log line, no warning, no temporary file."""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillassay.runs.hushed import hushed


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files; whatever a test leaves hushed is put back."""
    before = (logging.root.manager.disable, warnings.showwarning, threading.excepthook, sys.unraisablehook)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    logging.disable(before[0])
    warnings.showwarning, threading.excepthook, sys.unraisablehook = before[1:]


def fall_over() -> None:
    """A thread that dies of what it was told."""

    def die() -> None:
        raise RuntimeError("said")

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()


def talk() -> None:
    """All that a library can do to be heard."""
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("a-library")
    logger.addHandler(handler)
    logger.critical("said")
    logger.removeHandler(handler)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning("said", UserWarning, "f", 1)
    fall_over()


def test_a_library_that_talks_is_not_heard(capfd: pytest.CaptureFixture[str]) -> None:
    """Logs, warnings, and threads that fall over; outside all of them are."""
    with hushed(is_heard=lambda: False):
        talk()
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning", "ignore:said")
def test_what_was_off_is_on_again(capfd: pytest.CaptureFixture[str]) -> None:
    """Afterwards a log line is heard, and hooks are those of before."""
    hooks = (threading.excepthook, sys.unraisablehook, warnings.showwarning)
    with hushed(is_heard=lambda: False):
        assert threading.excepthook is not hooks[0]
    assert (threading.excepthook, sys.unraisablehook, warnings.showwarning) == hooks
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger("a-library").addHandler(handler)
    logging.getLogger("a-library").critical("said")
    logging.getLogger("a-library").removeHandler(handler)
    assert capfd.readouterr().err == "said\n"


def test_temporary_files_go_with_their_folder(parent: Path) -> None:
    """Made by whoever, in a folder that others can pass and not list."""
    with hushed(is_heard=lambda: False):
        made = Path(tempfile.mkdtemp())
        (made / "said").write_text("said")
        (folder,) = parent.iterdir()
        assert made.parent == folder
        assert folder.stat().st_mode & 0o777 == 0o711
    assert list(parent.iterdir()) == []
    assert tempfile.gettempdir() == str(parent)


def test_it_goes_too_when_the_run_falls_over(parent: Path) -> None:
    """Whatever ends it."""

    def run() -> None:
        with hushed(is_heard=lambda: False):
            Path(tempfile.mkdtemp(), "said").write_text("said")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert list(parent.iterdir()) == []


def test_what_still_runs_gets_no_other_folder(parent: Path) -> None:
    """A trial that was dropped finds no place to write, and is not heard either."""
    with hushed(is_heard=lambda: True):
        pass
    with pytest.raises(FileNotFoundError):
        tempfile.mkdtemp()
    assert list(parent.iterdir()) == []
    assert logging.root.manager.disable == logging.CRITICAL


def leave(parent: Path, name: str, *, owned: bool = True) -> Path:
    """A folder as a killed process leaves it."""
    folder = parent / name
    folder.mkdir()
    (folder / "said").write_text("said")
    if owned:
        (folder / ".owner").touch()
    return folder


def test_what_a_killed_process_left_is_removed(parent: Path) -> None:
    """Its lock is gone with it."""
    leave(parent, "skillassay-hash-killed")
    with hushed(is_heard=lambda: False):
        assert not (parent / "skillassay-hash-killed").exists()


def test_what_another_process_is_in_stays(parent: Path) -> None:
    """Its lock is held."""
    folder = leave(parent, "skillassay-hash-alive")
    owner = os.open(folder / ".owner", os.O_RDWR)
    fcntl.flock(owner, fcntl.LOCK_EX)
    with hushed(is_heard=lambda: False):
        pass
    os.close(owner)
    assert (folder / "said").exists()


@pytest.mark.parametrize("kind", ["another's", "a link"])
def test_what_is_not_known_as_ours_stays(parent: Path, kind: str) -> None:
    """A folder of that name without an owner's file, and one that a link leads to."""
    if kind == "a link":
        folder = leave(parent, "elsewhere")
        (parent / "skillassay-hash-link").symlink_to(folder)
    else:
        folder = leave(parent, "skillassay-hash-other", owned=False)
    with hushed(is_heard=lambda: False):
        pass
    assert (folder / "said").exists()
