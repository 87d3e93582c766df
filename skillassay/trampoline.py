"""The program between us and a skill's script: sets limits, closes the room, then becomes or supervises the script.

Run by path with ``python -I -S``, never imported, standard library only: ``trampoline.py PLAN PROGRAM [ARGUMENT …]``.
It exists because ``preexec_fn`` is unsafe beside threads. PLAN is a JSON object: ``limits`` (the fields of ``Limits``),
``ready`` (written to standard error at the last moment before the script starts: without it, nothing of the script
ran), and ``room``: null, or an object with ``cwd``, ``writable`` and ``readable`` (pairs of inside and outside path).

With a room it must be PID 1 of fresh user, network, PID and mount namespaces. Exit codes are the script's own, 128 + N
after signal N, 125 for too many processes, 127 for a program that cannot be started.
"""

# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH116, PTH120, PTH208, PTH211
# Without pathlib it starts in half the time, and these are meant as system calls.
from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

# Any folder that exists would do: the mount table is ours alone, and folders are opened before this covers them.
NEW_ROOT = "/tmp"  # noqa: S108
SYSTEM_PATHS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store"),
    *("/proc", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a file system of the script's own
WATCH_S = 0.01
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

_libc = ctypes.CDLL(None, use_errno=True)


def main(plan: dict[str, Any], argv: list[str]) -> NoReturn:
    """Start the script, in a closed room if the plan has one."""
    limits, room = plan["limits"], plan["room"]
    if room is None:
        limit("RLIMIT_NPROC", count_own_threads() + limits["n_processes"])
        launch(plan, argv)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    furnish(room)
    child = os.fork()
    if child == 0:
        # uid 0 gets its capabilities back on exec, but never more than the bounding set holds.
        for capability in range(N_CAPABILITIES):
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        os.nice(NICENESS)
        launch(plan, argv)
    supervise(child, limits["n_processes"])


def launch(plan: dict[str, Any], argv: list[str]) -> NoReturn:
    """Set the limits and become the script."""
    limits = plan["limits"]
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_CPU", limits["cpu_s"])
    limit("RLIMIT_FSIZE", limits["file_bytes"])
    limit("RLIMIT_NOFILE", limits["n_open_files"])
    limit("RLIMIT_DATA", limits["memory_bytes"])
    if not limits["reserves_address_space"]:
        limit("RLIMIT_AS", limits["memory_bytes"])
    # Python ignores both, and what is ignored stays so across exec: `yes | head` would complain.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.write(2, plan["ready"].encode())
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - becoming the program is the point
    except OSError as error:
        os.write(2, f"cannot start {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def limit(name: str, value: int) -> None:
    """Lower one limit, soft and hard. A system that refuses one (macOS: address space) goes without it."""
    try:
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    except (AttributeError, OSError, ValueError):
        return


def count_own_threads() -> int:
    """Threads of this user now, all of which count against a limit on processes; 0 where there is no /proc."""
    n_threads = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc/self/task") else ():
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                n_threads += len(os.listdir(f"/proc/{name}/task"))
        except OSError:  # it ended meanwhile
            continue
    return n_threads


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


def mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    """``mount(2)``."""
    words = [word.encode() for word in (source, target, kind)]
    check(_libc.mount(*words, ctypes.c_ulong(flags), data.encode()), f"mount {target}")


def set_attributes(path: str, *, on: int, off: int, flags: int) -> None:
    """``mount_setattr(2)``: attributes to set and to clear."""
    request = (ctypes.c_uint64 * 4)(on, off, 0, 0)
    number = ctypes.c_long
    failed = _libc.syscall(
        number(SYS_MOUNT_SETATTR), number(AT_FDCWD), path.encode(), number(flags), request, number(32)
    )
    check(failed, f"mount_setattr {path}")


def check(failed: int, what: str) -> None:
    """Raise what the C library reported."""
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)


def supervise(child: int, n_processes: int) -> NoReturn:
    """Be PID 1: collect orphans, end with the script, and end everything when there are too many processes.

    A limit on processes would not hold for root. When PID 1 ends, the kernel ends the whole namespace.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
        if pid != 0:
            continue
        if sum(name.isdigit() for name in os.listdir("/proc")) > n_processes + 1:
            os.write(2, f"stopped: more than {n_processes} processes at once\n".encode())
            os._exit(125)
        signal.sigtimedwait([signal.SIGCHLD], WATCH_S)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
