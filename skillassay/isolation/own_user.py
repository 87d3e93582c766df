"""A user of its own for each workspace, where the harness is root and there are no namespaces.

Part of the trampoline: standard library only. The kernel exempts root from the limit on processes, lets it read what is
the user's, and lets its processes signal each other. So the program becomes a user that nobody else is: the limit is
its own, what others may not read is out of its reach, and one signal ends all that it left, in whatever session.
"""

# ruff: noqa: PTH116, PTH118
# Without pathlib the trampoline starts in half the time, and these are meant as system calls.
from __future__ import annotations

import os
import signal
import stat

# Known to type checkers under this name; typing takes 2 ms to import, which every script would wait for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FIRST_USER, N_USERS = 2_000_000_000, 100_000_000
"""Ids that no system gives to anyone: above those of containers, below the sign bit."""
_SPREAD = 61_803_399
"""Takes devices apart, whose inode numbers begin alike: prime to ``N_USERS``."""


def user_of(workspace: str) -> int:
    """The id for everything that runs in this workspace.

    Two folders that exist at once on one device have two inode numbers, and so two ids unless these lie a multiple of
    ``N_USERS`` apart; on two devices they share one by the chance of 1 in ``N_USERS``. Those who share one are no
    longer kept apart, as if there were no user of their own.
    """
    state = os.stat(workspace)
    return FIRST_USER + (state.st_ino + state.st_dev * _SPREAD) % N_USERS


def hand_over(folders: list[str], user: int) -> None:
    """Give folders of ours, and all in them, to ``user``; what is his already has been through hostile hands.

    Nothing is followed, and a file with a second name somewhere is left alone.
    """
    for folder in folders:
        if os.lstat(folder).st_uid == user:
            continue
        for path, names, files in os.walk(folder):
            for name in (*names, *files):
                one = os.path.join(path, name)
                state = os.lstat(one)
                if stat.S_ISDIR(state.st_mode) or state.st_nlink == 1:
                    os.lchown(one, user, user)
        os.lchown(folder, user, user)


def become(user: int) -> None:
    """Be this user for good, in no other group. Raises ``OSError`` where the machine does not know such a number."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def require_reach(folders: list[str]) -> None:
    """Raise ``OSError`` where a folder lies below one that only its owner may enter."""
    for folder in folders:
        os.stat(folder)


def end_all_of(user: int) -> None:
    """Kill every process of this user at one stroke, which no fork escapes."""
    child = os.fork()
    if child == 0:
        _kill_own(user)
    os.waitpid(child, 0)


def _kill_own(user: int) -> NoReturn:
    try:
        become(user)
        # As anyone else this would end far more than what we started.
        if user >= FIRST_USER and os.getresuid() == (user, user, user):
            os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(0)
