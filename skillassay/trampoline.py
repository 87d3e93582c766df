"""The program between us and a skill's script: closes the room, sets limits, starts the script and ends it with us.

Run by path with ``python -I -S``, never imported, standard library only: ``trampoline.py PLAN PROGRAM [ARGUMENT …]``.
It exists because ``preexec_fn`` is unsafe beside threads. PLAN is a JSON object: ``limits`` (the fields of ``Limits``),
``ready`` (written to standard error at the last moment before the script starts: without it, nothing of the script
ran), and ``room``: null, or an object with ``cwd``, ``writable`` and ``readable`` (pairs of inside and outside path).

Standard input is the leash: the reading end of a pipe that nobody writes to and whose writing end is the harness's
alone. Its end of file, which the kernel gives however the harness dies, is the order to end; no signal but SIGKILL is
one, since the script can send those too. The script itself gets an empty standard input.

With a room it must be PID 1 of fresh user, network, PID and mount namespaces, and everything in them ends with it;
without one it must lead a process group, which it kills. Exit codes are the script's own, 128 + N after signal N, 125
for too many processes, 127 for a program that cannot be started.
"""

# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH116, PTH120, PTH208, PTH211
# Without pathlib it starts in half the time, and these are meant as system calls.
from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys

# Known to type checkers under this name; typing takes 2 ms to import, which every script would wait for.
TYPE_CHECKING = False
if TYPE_CHECKING:
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
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38

_libc = ctypes.CDLL(None, use_errno=True)


def main(plan: dict[str, Any], argv: list[str]) -> NoReturn:
    """Start the script, in a closed room if the plan has one, and stay to end with it or with the harness."""
    limits, room = plan["limits"], plan["room"]
    leash, bell = take_leash(), hang_bell()
    if room is not None:
        furnish(room)
    # Blocked before the script can send one to its group, which without a room is ours too.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - {signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if room is None:
            bind(limits["n_processes"])
        else:
            disarm()
        launch(plan, argv)
    supervise(child, leash, bell, n_processes=None if room is None else limits["n_processes"])


def take_leash() -> int:
    """Move the leash out of the script's reach and put nothing in its place."""
    leash = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return leash


def hang_bell() -> int:
    """A descriptor that can be read when a child has ended: ``select`` alone may miss the signal just before it."""
    bell, clapper = os.pipe()
    os.set_blocking(bell, False)
    os.set_blocking(clapper, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(clapper, warn_on_full_buffer=False)
    return bell


def bind(n_processes: int) -> None:
    """Without a room: limit the number of processes, and die with the supervisor where the kernel can see to it.

    The leash covers the harness's death; this, someone's ``pkill python`` that takes the supervisor with it.
    """
    limit("RLIMIT_NPROC", count_own_threads() + n_processes)
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def disarm() -> None:
    """In a room: leave the session, give up every capability, step back.

    The session, because ``kill 0`` would reach ``unshare`` in its group, and because the kernel schedules each session
    as a whole (autogroup): a fork bomb in PID 1's own would use up its turns. Without autogroup ``NICENESS`` does it.
    """
    os.setsid()
    # uid 0 gets its capabilities back on exec, but never more than the bounding set holds.
    for capability in range(N_CAPABILITIES):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.nice(NICENESS)


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


def supervise(child: int, leash: int, bell: int, *, n_processes: int | None) -> NoReturn:
    """End with the script, or with everything when the leash is cut; as PID 1 collect orphans and count processes.

    ``n_processes`` is for PID 1 alone: a limit on processes would not hold for root. When PID 1 ends, the kernel ends
    the whole namespace.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            end(code if code >= 0 else 128 - code, in_room=n_processes is not None)
        if pid != 0:
            continue
        if n_processes is not None and sum(name.isdigit() for name in os.listdir("/proc")) > n_processes + 1:
            os.write(2, f"stopped: more than {n_processes} processes at once\n".encode())
            end(125, in_room=True)
        ready = select.select([leash, bell], [], [], None if n_processes is None else WATCH_S)[0]
        if leash in ready and n_processes is None:
            # The script first: it may have left the group. The signal to the group is our own end too.
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.kill(0, signal.SIGKILL)
        if leash in ready:
            end(128 + signal.SIGKILL, in_room=True)
        if bell in ready:
            os.read(bell, 4096)


def end(code: int, *, in_room: bool) -> NoReturn:
    """Exit; as PID 1 of a room kill all others first, at one stroke that no fork escapes.

    The kernel would do so too, but only after it has taken PID 1's memory apart, which takes locks that a fork bomb
    holds: it can grow for minutes meanwhile.
    """
    if in_room:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:  # nobody is left
            os._exit(code)
    os._exit(code)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
