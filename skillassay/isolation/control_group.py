"""A control group for one program: a number of tasks that the kernel itself holds, root's too. Made where that works.

Without it PID 1 of a room counts, a hundred times a second; on a busy machine some hundred processes can be there
before it is its turn. Only who may write the machine's control groups can make one: mostly root outside a container.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
"""Where the groups that count tasks are: version 1, version 2."""
MEMBERS = "cgroup.procs"
_PREFIX, _REMOVE_S = "skillassay-", 0.5
_numbers = itertools.count()


@contextlib.contextmanager
def tasks_group(n_tasks: int) -> Iterator[Path | None]:
    """A group of at most ``n_tasks`` processes and threads, removed at the end; None where none can be made."""
    group = _make(n_tasks)
    try:
        yield group
    finally:
        until = time.monotonic() + _REMOVE_S
        while group is not None and not _removed(group) and time.monotonic() < until:
            time.sleep(0.005)  # who was killed leaves a moment later


def _make(n_tasks: int) -> Path | None:
    _tidy()
    name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    for root in ROOTS:
        group = root / name
        with contextlib.suppress(OSError):
            group.mkdir()
            try:
                (group / "pids.max").write_text(str(n_tasks))
            except OSError:  # the controller is not handed down here
                group.rmdir()
                continue
            return group
    return None


@functools.cache
def _tidy() -> None:
    """Remove what a harness that was killed left; once is enough."""
    for group in (group for root in ROOTS for group in root.glob(f"{_PREFIX}*-*")):
        if not Path("/proc", group.name.split("-")[1]).exists():
            _removed(group)


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
