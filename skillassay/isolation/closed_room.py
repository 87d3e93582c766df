"""The closed room of a hostile program: a read-only root in fresh namespaces, and no capability to leave it.

Part of the trampoline: standard library only, Linux only, run as PID 1 of the namespaces with all capabilities in them.
"""

# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH120, PTH123, PTH211
# Without pathlib the trampoline starts in half the time, and these are meant as system calls.
from __future__ import annotations

import ctypes
import os
import stat

# Known to type checkers under this name; typing takes 2 ms to import, which every script would wait for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Any folder that exists would do: the mount table is ours alone, and folders are opened before this covers them.
NEW_ROOT = "/tmp"  # noqa: S108
SYSTEM_PATHS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store"),
    *("/proc", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
SETTINGS = "/etc"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a file system of the script's own
# A fork bomb below PID 1's priority cannot keep it from looking.
NICENESS = 10
N_CAPABILITIES = 64
MS_BIND_REC = 0x5000
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
# Linux 5.12, one number on every architecture, no wrapper in older C libraries. Nothing else makes a whole tree of
# mounts read-only at once.
SYS_MOUNT_SETATTR = 442
RDONLY, NOSUID = 1, 2
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38

libc = ctypes.CDLL(None, use_errno=True)


def furnish(room: dict[str, Any]) -> None:
    """Build a root that holds the given folders, read-only but for the writable ones, and move into it.

    After ``chroot`` no capability is left to leave it, and the kernel refuses new user namespaces to who is inside.
    """
    system = [[path, path] for path in SYSTEM_PATHS if os.path.exists(path)]
    # Every door is opened before the first one is covered.
    doors = [
        (inside, os.open(outside, os.O_PATH))
        for inside, outside in room["writable"] + system + outermost(room["readable"])
    ]
    mount("none", NEW_ROOT, "tmpfs", 0, "size=16m,mode=755")
    for inside, door in doors:
        source, target = f"/proc/self/fd/{door}", NEW_ROOT + inside
        is_folder = os.path.isdir(source)
        os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
        if not is_folder:
            os.close(os.open(target, os.O_CREAT))
        mount(source, target, "none", MS_BIND_REC, "")
        os.close(door)
    os.mkdir(NEW_ROOT + SHARED_MEMORY)
    mount("none", NEW_ROOT + SHARED_MEMORY, "tmpfs", 0, "size=64m,mode=1777")
    os.symlink("/proc/self/fd", NEW_ROOT + "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{NEW_ROOT}/dev/{name}")
    cover_private()
    set_attributes(NEW_ROOT, on=RDONLY | NOSUID, off=0, flags=AT_RECURSIVE)
    for inside in (*(inside for inside, _ in room["writable"]), SHARED_MEMORY):
        set_attributes(NEW_ROOT + inside, on=0, off=RDONLY, flags=0)
    os.chroot(NEW_ROOT)
    os.chdir(room["cwd"])


def outermost(pairs: list[list[str]]) -> list[list[str]]:
    """The pairs whose inside path lies in no other's and in no system folder."""
    kept: list[list[str]] = []
    for inside, outside in sorted(pairs):
        if not any(inside.startswith(f"{path}/") or inside == path for path in [*SYSTEM_PATHS, *(k[0] for k in kept)]):
            kept.append([inside, outside])
    return kept


def cover_private() -> None:
    """Of the machine's settings, cover what is not for everyone, where the program would be its owner: root's."""
    with open("/proc/self/uid_map", encoding="ascii") as table:
        if table.read().split()[1] != "0":
            return
    for path in list(private(NEW_ROOT + SETTINGS, deeper=1)):
        if os.path.isdir(path):
            mount("none", path, "tmpfs", 0, "size=4k,mode=755")
        else:
            mount(NEW_ROOT + "/dev/null", path, "none", MS_BIND_REC, "")


def private(folder: str, *, deeper: int) -> Iterator[str]:
    """What in ``folder`` others may not read. Two levels, since all of it takes as long as the rest of the start."""
    for entry in os.scandir(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode) and mode & 0o5 == 0o5:
            yield from private(entry.path, deeper=deeper - 1) if deeper else ()
        elif not stat.S_ISLNK(mode) and not mode & 0o4:
            yield entry.path


def mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    """``mount(2)``."""
    words = [os.fsencode(word) for word in (source, target, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), data.encode()), f"mount {target}")


def set_attributes(path: str, *, on: int, off: int, flags: int) -> None:
    """``mount_setattr(2)``: attributes to set and to clear."""
    request = (ctypes.c_uint64 * 4)(on, off, 0, 0)
    number = ctypes.c_long
    failed = libc.syscall(
        number(SYS_MOUNT_SETATTR), number(AT_FDCWD), os.fsencode(path), number(flags), request, number(32)
    )
    check(failed, f"mount_setattr {path}")


def check(failed: int, what: str) -> None:
    """Raise what the C library reported."""
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)


def disarm() -> None:
    """Leave the session, give up every capability, step back.

    The session, because ``kill 0`` would reach ``unshare`` in its group, and because the kernel schedules each session
    as a whole (autogroup): a fork bomb in PID 1's own would use up its turns. Without autogroup ``NICENESS`` does it.
    """
    os.setsid()
    # uid 0 gets its capabilities back on exec, but never more than the bounding set holds.
    for capability in range(N_CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.nice(NICENESS)
