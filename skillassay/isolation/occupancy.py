"""What a running program takes up: processes, threads, disk. Looks; ends nobody.

Part of the trampoline: standard library only. The kernel has limits for one process and for one user, but none for a
namespace without a control group, and none for a folder. So the supervisor looks a hundred times a second: at numbers
that are cheap to ask for, and at the folders when their file system has become as much fuller as they may be full, or
twice a second: somebody else who frees space meanwhile would hide what is taken.
"""

# ruff: noqa: PTH112, PTH116, PTH208
# Without pathlib the trampoline starts in half the time, and these are meant as system calls.
from __future__ import annotations

import errno
import os
import stat
import time

# Known to type checkers under this name; typing takes 2 ms to import, which every script would wait for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROCESSES = "/proc"
N_OWN = 1
"""PID 1 of a room is ours."""
LOOK_EVERY_S = 0.5
"""How long what a program takes may stay hidden behind what others free."""


def count_own_threads() -> int:
    """Threads of this user now, all of which count against a limit on processes; 0 where there is no /proc."""
    n_threads = 0
    for name in os.listdir(PROCESSES) if os.path.isdir("/proc/self/task") else ():
        try:
            if name.isdigit() and os.stat(f"{PROCESSES}/{name}").st_uid == os.getuid():
                n_threads += _n_threads(name)
        except OSError:  # it ended meanwhile
            continue
    return n_threads


def crowd(limits: dict[str, Any]) -> str | None:
    """For PID 1 of a room: what of its processes is too much, in words."""
    names = [name for name in os.listdir(PROCESSES) if name.isdigit()]
    if len(names) > limits["n_processes"] + N_OWN:
        return f"more than {limits['n_processes']} processes at once"
    n_threads = 0
    for name in names:
        try:
            n_threads += _n_threads(name)
        except OSError:
            continue
    return f"more than {limits['n_threads']} threads at once" if n_threads > limits["n_threads"] + N_OWN else None


def _n_threads(process: str) -> int:
    # A folder has two links, and this one has one more for each thread: one call in place of a listing.
    return os.stat(f"{PROCESSES}/{process}/task").st_nlink - 2


class Disk:
    """What a program's folders hold, all together, without what is ``given``: put into one of them to be read."""

    def __init__(self, folders: list[str], limits: dict[str, Any], *, given: list[str], in_room: bool) -> None:
        self.folders, self.given, self.in_room = folders, frozenset(given), in_room
        self.most_bytes, self.most_files = limits["disk_bytes"], limits["n_files"]
        # Held open: without a room the program can remove them.
        self._handles = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in folders]
        self._spare = (self.most_bytes, self.most_files)
        self._free = self._free_now()
        self._due = time.monotonic() + LOOK_EVERY_S

    def overflow(self) -> str | None:
        """What of them is too much, in words."""
        now = self._free_now()
        taken = [(before[0] - free[0], before[1] - free[1]) for before, free in zip(self._free, now, strict=True)]
        is_due = time.monotonic() >= self._due  # what somebody else frees meanwhile hides what is taken here
        if not is_due and all(n_bytes <= self._spare[0] and n_files <= self._spare[1] for n_bytes, n_files in taken):
            return None
        self._due = time.monotonic() + LOOK_EVERY_S
        n_bytes, n_files = self._measure()
        if n_files > self.most_files:
            return f"more than {self.most_files} files"
        if n_bytes > self.most_bytes:
            return f"more than {self.most_bytes} bytes on disk"
        # Somebody else's. The next look is due when what is left could be used up.
        self._free, self._spare = now, (self.most_bytes - n_bytes, self.most_files - n_files)
        return None

    def _free_now(self) -> list[tuple[int, int]]:
        """Bytes and files that still fit on the file system of each folder; one without a table of files has 0."""
        states = [os.fstatvfs(handle) for handle in self._handles]
        return [(state.f_bfree * state.f_frsize, state.f_ffree) for state in states]

    def _measure(self) -> tuple[int, int]:
        """Bytes and files; stops counting when there are too many. A path too long to be looked at is too many."""
        n_bytes, n_files = self._unlinked() if self.in_room else 0, 0
        left = [*self.folders]
        while left:
            try:
                for entry in os.scandir(left.pop()):
                    if entry.path in self.given:
                        continue
                    state = entry.stat(follow_symlinks=False)
                    n_bytes, n_files = n_bytes + state.st_blocks * 512, n_files + 1
                    if n_files > self.most_files:
                        return n_bytes, n_files
                    if stat.S_ISDIR(state.st_mode):
                        left.append(entry.path)
            except OSError as error:  # most often it is gone meanwhile
                if error.errno == errno.ENAMETOOLONG:
                    return n_bytes, self.most_files + 1
        return n_bytes, n_files

    def _unlinked(self) -> int:
        """Bytes of files that have no name any more and are still open."""
        found = {}
        for process in (name for name in os.listdir(PROCESSES) if name.isdigit()):
            try:
                for handle in os.listdir(f"{PROCESSES}/{process}/fd"):
                    state = os.stat(f"{PROCESSES}/{process}/fd/{handle}")
                    if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                        found[state.st_dev, state.st_ino] = state.st_blocks * 512
            except OSError:
                continue
        return sum(found.values())
