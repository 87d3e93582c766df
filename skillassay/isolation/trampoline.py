"""The program between us and a skill's script: closes the room, sets limits, starts the script and ends it with us.

Run by path with ``python -I -S``, never imported, standard library and its own parts only: ``trampoline.py PLAN PROGRAM
[ARGUMENT …]``. It exists because ``preexec_fn`` is unsafe beside threads. PLAN is a JSON object: ``limits`` (the fields
of ``Limits``), ``ready`` (written to standard error at the last moment before the script starts: without it, nothing of
the script ran), ``folders`` (those it may write, as it sees them, its workspace first), ``group`` (null, or the list of
members of a control group for it), ``own_user`` (whether it becomes a user of its own), and ``room``: null, or an
object with ``cwd``, ``writable`` and ``readable`` (pairs of inside and outside path).

Standard input is the leash: the reading end of a pipe that nobody writes to and whose writing end is the harness's
alone. Its end of file, which the kernel gives however the harness dies, is the order to end; no signal but SIGKILL is
one, since the script can send those too. The script itself gets an empty standard input.

With a room it must be PID 1 of fresh user, PID and mount namespaces, and everything in them ends with it; without one
it must lead a process group, which it kills. Exit codes are the script's own, 128 + N after signal N, 125 for too much
of what the supervisor watches, 127 for a program that cannot be started.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys

# Isolated mode leaves the package out of the path. Last, so that nothing beside it stands for the standard library.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120 - as below

from skillassay.isolation import closed_room, occupancy, own_user

# Known to type checkers under this name; typing takes 2 ms to import, which every script would wait for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

WATCH_S = {True: 0.01, False: 0.05}
"""How often the supervisor looks, with a room and without: there the kernel counts the processes."""
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
NAMESPACED_COUNT = (5, 14)
"""Since this Linux a user's processes are counted by user namespace; before, all of his anywhere would count."""


def main(plan: dict[str, Any], argv: list[str]) -> NoReturn:
    """Start the script, in a closed room if the plan has one, and stay to end with it or with the harness."""
    limits, room, folders = plan["limits"], plan["room"], plan["folders"]
    leash, bell = take_leash(), hang_bell()
    user = own_user.user_of(folders[0]) if plan["own_user"] else None
    if user is not None:
        own_user.hand_over(folders, user)
    group = None if plan["group"] is None else os.open(plan["group"], os.O_WRONLY)  # out of sight in a room
    if room is not None:
        closed_room.furnish(room)
    given = [] if room is None else [inside for inside, _ in room["readable"]]
    disk = occupancy.Disk(folders, limits, given=given, in_room=room is not None)
    # Blocked before the script can send one to its group, which without a room is ours too.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - {signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if group is not None:
            os.write(group, b"0")
        if room is None:
            bind(limits["n_processes"], folders, user)
        else:
            if kernel_version() >= NAMESPACED_COUNT:
                limit("RLIMIT_NPROC", limits["n_tasks"])
            closed_room.disarm()
        launch(plan, argv)
    supervise(child, leash, bell, Watch(limits, disk, user, in_room=room is not None))


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


def bind(n_processes: int, folders: list[str], user: int | None) -> None:
    """Without a room: limit the number of processes, and die with the supervisor where the kernel can see to it.

    The leash covers the harness's death; this, someone's ``pkill python`` that takes the supervisor with it. Becoming
    somebody else would undo it.
    """
    limit("RLIMIT_NPROC", n_processes if user is not None else occupancy.count_own_threads() + n_processes)
    if user is not None:
        own_user.become(user)
        own_user.require_reach(folders)
    if sys.platform == "linux":
        closed_room.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        closed_room.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def kernel_version() -> tuple[int, ...]:
    """Of this system, as far as it is numbers."""
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit())


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


class Watch:
    """What the supervisor looks at while the script runs, and how it ends what the script left."""

    def __init__(self, limits: dict[str, Any], disk: occupancy.Disk, user: int | None, *, in_room: bool) -> None:
        self.limits, self.disk, self.user, self.in_room = limits, disk, user, in_room

    def excess(self) -> str | None:
        """What the script takes up too much of, in words."""
        return (occupancy.crowd(self.limits) if self.in_room else None) or self.disk.overflow()

    def end_others(self) -> None:
        """End everything but the supervisor, as far as it is within reach.

        In a room at one stroke that no fork escapes. The kernel would do so too when PID 1 ends, but only after it has
        taken PID 1's memory apart, which takes locks that a fork bomb holds: it can grow for minutes meanwhile.
        """
        if self.user is not None:
            own_user.end_all_of(self.user)
        if self.in_room:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:  # nobody is left
                return


def supervise(child: int, leash: int, bell: int, watch: Watch) -> NoReturn:
    """End with the script, or with everything when the leash is cut or too much is taken; as PID 1 collect orphans."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            watch.end_others()
            os._exit(code if code >= 0 else 128 - code)
        if pid != 0:
            continue
        excess = watch.excess()
        ready = [] if excess is not None else select.select([leash, bell], [], [], WATCH_S[watch.in_room])[0]
        if excess is not None or leash in ready:
            # The script first: it may have left the group. The signal to the group is our own end too.
            os.kill(child, signal.SIGKILL)
            watch.end_others()
            if excess is not None:
                os.write(2, f"stopped: {excess}\n".encode())
                os._exit(125)
            if watch.in_room:
                os._exit(128 + signal.SIGKILL)
            os.waitpid(child, 0)
            os.kill(0, signal.SIGKILL)
        if bell in ready:
            os.read(bell, 4096)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
