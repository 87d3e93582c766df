"""What a hostile program may see and use: the two levels, the limits, and the folders of its room. Starts nothing.

A program inside sees fixed paths, so that what it prints is the same in every run. At the level ``namespaces`` they are
mounts; at ``process`` they are names for real folders, put in and taken out again on the way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
WORKSPACE = "/trial"
"""Where a script finds its workspace. Fixed, so that printed paths are the same in every run and at every level."""
NETWORK_FILES = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ssl/certs", "/etc/ssl/cert.pem"),
    *("/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"),
)
"""What names and TLS need. All of it stands in /etc, which every room has; but it may link to elsewhere."""

_FIXED = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
SCRUBBED = {"PATH": SYSTEM_PATH, "HOME": "/tmp/home", "TMPDIR": "/tmp", **_FIXED}  # noqa: S108 - the program's own
"""The environment of a program inside, before what is added to it."""


class Isolation(StrEnum):
    """What stands between a skill's script and the machine."""

    NAMESPACES = "user, network, pid, mount namespaces"
    PROCESS = "process group, limits and a scrubbed environment only"


def walls_with_network(level: Isolation) -> str:
    """What stands between the machine and a program that has its network."""
    return f"{level.value.replace('network, ', '')}; the machine's network"


LEVELS = tuple(level.name.lower() for level in reversed(Isolation))
"""The levels as options and records write them, weakest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one script may use. Each holds for one process, except time, processes, threads, disk and output.

    Threads count as processes at the level ``process``. ``disk_bytes`` and ``n_files`` are what all folders that it may
    write hold together; a supervisor looks, so that a little more may be written before it acts.
    ``reserves_address_space``: the program maps far more than it uses (Node.js), so that only written memory counts.
    """

    timeout_s: float = 30.0
    cpu_s: int = 30
    memory_bytes: int = 2 << 30
    file_bytes: int = 64 << 20
    n_open_files: int = 256
    n_processes: int = 64
    n_threads: int = 1024
    disk_bytes: int = 512 << 20
    n_files: int = 20_000
    output_bytes: int = 8 << 20
    reserves_address_space: bool = False

    @property
    def n_tasks(self) -> int:
        """Tasks that the kernel is told to allow, where it can be told: the supervisor's limits come first."""
        return 2 * max(self.n_processes, self.n_threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where a program runs: ``folders`` it may write, inside path to real folder; what else it may read; the network.

    ``readable`` paths are seen where they are. Below ``namespaces`` nothing holds the program to any of this; there
    ``own_user`` makes it a user of its own, to whom the folders are given.
    """

    level: Isolation
    folders: Mapping[str, Path]
    readable: Sequence[Path] = ()
    network: bool = False
    own_user: bool = False

    @property
    def closed(self) -> bool:
        """Whether there is a room at all."""
        return self.level is Isolation.NAMESPACES

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The command that makes the namespaces; none below that level."""
        shared = "-rpf" if self.network else "-rnpf"
        return ("unshare", shared, "--mount-proc", "--kill-child") if self.closed else ()

    def plan(self, limits: Limits, ready: str, group: Path | None) -> dict[str, Any]:
        """What the trampoline is told. ``group`` is the list of members of a control group to be in."""
        further = [*self.readable, *map(Path, NETWORK_FILES if self.network else ())]
        readable = [(path, path) for path in sorted({*_interpreter_paths(), *_with_links(further)})]
        writable = [(inside, str(folder)) for inside, folder in self.folders.items()]
        room = {"writable": writable, "readable": readable, "cwd": WORKSPACE} if self.closed else None
        folders = [name if self.closed else str(folder) for name, folder in self.folders.items()]
        return {
            "limits": {**asdict(limits), "n_tasks": limits.n_tasks},
            "ready": ready,
            "group": None if group is None else str(group),
            "folders": folders,
            "own_user": self.own_user and not self.closed,
            "room": room,
        }

    def outside(self, text: str) -> str:
        """A path as the program must be given it, which differs from the inside one only without a room."""
        for inside, folder in () if self.closed else self.folders.items():
            if text == inside or text.startswith(f"{inside}/"):
                return f"{folder}{text[len(inside) :]}"
        return text

    def inside(self, output: bytes, *, entered: bool = True) -> bytes:
        """What the program said, with inside paths; or what was said on the way in, where a room has none yet."""
        in_room = self.closed and entered
        moved = () if in_room else sorted(self.folders.items(), key=lambda item: -len(str(item[1])))
        for inside, folder in moved:
            output = output.replace(os.fsencode(folder), os.fsencode(inside))
        return output


def _interpreter_paths() -> set[str]:
    """Where this Python lives: its environment, its installation, and every link on the way to its binary."""
    paths = [Path(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)]
    return {*(os.path.realpath(path) for path in paths), *map(str, paths), *_with_links([Path(sys.executable)])}


def _with_links(paths: Iterable[Path]) -> set[str]:
    """Each path that exists, each link on the way to what it is, and that."""
    found = set()
    for given in paths:
        if not given.exists():  # a loop of links does not either
            continue
        path = given.absolute()
        found.add(str(path))
        while path.is_symlink():
            path = path.parent / path.readlink()
            found.add(str(path))
        found.add(os.path.realpath(path))
    return found
