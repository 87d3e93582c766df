"""Starting other programs: the only module that does. Owns time limits, output caps, isolation and clean-up.

Every program gets an argument list (never a shell line), an environment given in full, an empty standard input and a
session of its own; its two outputs are read at the same time and capped while reading, so neither silence nor a flood
can hang or fill the caller. When a call returns, its process group is dead and reaped and no pipe is left open. When we
die, by whatever signal, a script of a skill ends too: its supervisor hangs on a pipe only we hold open (trampoline.py).

A script of a skill runs at one of two levels. ``namespaces``: user, network, PID and mount namespaces of its own, a
read-only root that holds system folders and the Python environment and nothing of the user's, no capabilities, and a
PID 1 that ends with the script and takes every descendant with it. ``process``: process group, limits and a scrubbed
environment; the user's files and the network are in reach, and a descendant that starts a session of its own survives,
unless we are root: then the script becomes a user of its own, who is ended whole.

Left out: Windows, and system call filters.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.errors import EnvironmentFault
from skillassay.isolation.control_group import MEMBERS, tasks_group
from skillassay.isolation.levels import LEVELS, SCRUBBED, SYSTEM_PATH, WORKSPACE, Isolation, Limits, Room

__all__ = ["LEVELS", "SCRUBBED", "SYSTEM_PATH", "WORKSPACE", "Isolation", "Limits"]

_POLL_S, _TICK_S, _GRACE_S, _LEASH_S = 0.05, 0.005, 0.3, 1.0
_CHUNK = 65_536
_READY = b"\x1eskillassay: started\n"
_TRAMPOLINE = Path(__file__).with_name("trampoline.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What a program did. ``exit_code`` is 128 + N after signal N, and None when we stopped it.

    ``timed_out``: it ran longer than allowed. ``truncated``: it wrote more than allowed, the rest was never read.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The isolation this machine can give, and why it is not the better one ("" when it is).

    ``unbounded``: why, for root at the lower level, no limit on processes would hold; "" where one does.
    """

    level: Isolation
    why: str
    unbounded: str = ""


class _Drain:
    """Both outputs of one process, read as they come, never more than ``cap`` bytes together."""

    def __init__(self, process: subprocess.Popen[bytes], cap: int) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.pipes = (process.stdout, process.stderr)
        self.texts = (bytearray(), bytearray())
        self.left, self.truncated = cap, False
        self._selector = selectors.DefaultSelector()
        for pipe, text in zip(self.pipes, self.texts, strict=True):
            self._selector.register(pipe, selectors.EVENT_READ, text)

    def read(self, wait_s: float) -> None:
        """Read what is ready, waiting for at most ``wait_s`` seconds; shortly when only the program's end is left."""
        for key, _ in self._selector.select(max(wait_s, 0) if self._selector.get_map() else _TICK_S):
            chunk = os.read(key.fd, min(_CHUNK, self.left + 1))
            if not chunk:
                self._selector.unregister(key.fileobj)
            self.truncated = self.truncated or len(chunk) > self.left
            key.data.extend(chunk[: self.left])
            self.left -= min(len(chunk), self.left)

    def finish(self) -> None:
        """Read what a dead process left behind (no survivor that holds a pipe is waited for); close everything."""
        until = time.monotonic() + _GRACE_S
        while self._selector.get_map() and not self.truncated and time.monotonic() < until:
            self.read(until - time.monotonic())
        self._selector.close()
        for pipe in self.pipes:
            pipe.close()


def run_command(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, max_output_bytes: int
) -> CommandResult:
    """Run one program to its end. ``env`` is its whole environment. Raises ``EnvironmentFault`` if it cannot start.

    Over ``timeout_s`` or ``max_output_bytes`` (both outputs together) its process group is killed; what was read stays.
    """
    limits = Limits(timeout_s=timeout_s, output_bytes=max_output_bytes)
    return _run(argv, cwd=cwd, env=env, limits=limits, leashed=False)


def _run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: Limits, leashed: bool) -> CommandResult:
    try:
        process = subprocess.Popen(
            list(argv), cwd=cwd, env=dict(env), stdin=subprocess.PIPE if leashed else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise EnvironmentFault(f"cannot start {argv[0]}: {error}") from error
    drain = _Drain(process, limits.output_bytes)
    deadline = time.monotonic() + limits.timeout_s
    timed_out = False
    try:
        while not (exited := _has_exited(process)) and not drain.truncated and not timed_out:
            drain.read(min(_POLL_S, deadline - time.monotonic()))
            timed_out = time.monotonic() >= deadline and not _has_exited(process)
    finally:
        _stop(process)
        drain.finish()
    stdout, stderr = (bytes(text) for text in drain.texts)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return CommandResult(
        exit_code=code if exited else None, stdout=stdout, stderr=stderr, timed_out=timed_out, truncated=drain.truncated
    )


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    # WNOWAIT leaves a zombie, which keeps the group's number ours until the group is killed.
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the group and reap its leader; first cut the leash: the supervisor ends what is out of the group's reach."""
    if process.stdin is not None:
        process.stdin.close()
        until = time.monotonic() + _LEASH_S
        while not _has_exited(process) and time.monotonic() < until:
            time.sleep(_TICK_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for a group of zombies
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def git(root: Path, *args: str) -> CommandResult | None:
    """Run git in ``root``; None when there is no git. Repository hooks, monitors, locks and prompts stay off.

    ``GIT_*`` variables are dropped: a commit hook sets some that point at another repository.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    program = shutil.which("git")
    if program is None:
        return None
    quiet = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    return run_command([program, *quiet, *args], cwd=root, env=env, timeout_s=60, max_output_bytes=64 << 20)


@functools.cache
def probe_isolation() -> Probe:
    """Try the better level for real, once per process, with this interpreter inside."""
    why = _try_out(Isolation.NAMESPACES)
    if not why:
        return Probe(level=Isolation.NAMESPACES, why="")
    return Probe(level=Isolation.PROCESS, why=why, unbounded=why_root() or "")


@functools.cache
def why_root() -> str | None:
    """Why scripts without namespaces run as root; "" where they get a user of their own, None for who is not root."""
    return _try_out(Isolation.PROCESS, own_user=True) if os.geteuid() == 0 else None


def _try_out(level: Isolation, *, own_user: bool = False) -> str:
    """Start this Python inside; in words what is in the way, "" when nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        room = Room(level=level, folders={WORKSPACE: Path(folder)}, own_user=own_user)
        try:
            result = _run_in(room, [sys.executable, "-c", ""], env={}, limits=Limits(timeout_s=10))
        except EnvironmentFault as fault:
            return fault.message
    return "" if result.exit_code == 0 else f"Python fails inside: {_last_line(result.stderr)}"


def require_isolation(level: str | None) -> Probe:
    """What this machine can give. Raises ``EnvironmentFault`` where that is less than ``level``, one of ``LEVELS``."""
    probe = probe_isolation()
    if level is not None and LEVELS.index(probe.level.name.lower()) < LEVELS.index(level):
        message = f"isolation {level!r} is required and this machine gives {probe.level.name.lower()!r}: {probe.why}"
        hint = "install unshare (util-linux) and allow user namespaces, see docs/design/isolation.md; or require less"
        raise EnvironmentFault(message, hint=hint)
    return probe


def run_isolated(  # noqa: PLR0913 - a program with all that it may see and use, said once
    argv: Sequence[str],
    *,
    workspace: Path,
    env: Mapping[str, str],
    limits: Limits,
    level: Isolation,
    folders: Mapping[str, Path] | None = None,
    network: bool = False,
    readable: Sequence[Path] = (),
) -> CommandResult:
    """Run a hostile program in ``workspace``, which it sees as ``/trial``, with a home and ``/tmp`` of its own.

    ``folders`` maps inside paths to further folders it may write; ``env``, added to the scrubbed environment, may make
    one its HOME. ``readable`` are files and folders that it sees where they are; ``network`` leaves it the machine's
    network, with what names and TLS need. ``argv`` uses inside paths; below ``namespaces`` they are put into outside
    ones, and back in the output. Raises ``EnvironmentFault`` when the program was never started: that is never the
    program's fault.
    """
    own = {WORKSPACE: workspace, **(folders or {})}
    own_user = level is Isolation.PROCESS and why_root() == ""
    room = Room(level=level, folders=own, readable=readable, network=network, own_user=own_user)
    return _run_in(room, argv, env=env, limits=limits)


def _run_in(room: Room, argv: Sequence[str], *, env: Mapping[str, str], limits: Limits) -> CommandResult:
    scratch = Path(tempfile.mkdtemp(prefix="skillassay-"))
    own = {**room.folders, "/tmp": scratch}  # noqa: S108 - the program's own
    room = replace(room, folders={inside: folder.resolve() for inside, folder in own.items()})
    try:
        (scratch / "home").mkdir()
        with tasks_group(limits.n_tasks) as group:
            plan = json.dumps(room.plan(limits, _READY.decode(), None if group is None else group / MEMBERS))
            way_in = [*room.namespaces, sys.executable, "-I", "-S", str(_TRAMPOLINE), plan]
            result = _run(
                [*way_in, argv[0], *(room.outside(text) for text in argv[1:])],
                cwd=room.folders[WORKSPACE],
                env={name: room.outside(value) for name, value in {**SCRUBBED, **env}.items()},
                limits=limits,
                leashed=True,
            )
    finally:
        remove_tree(scratch)
    before, started, stderr = result.stderr.partition(_READY)
    if not started:
        # Inside paths, since the folders of the room have other names each time, and equal runs say the same.
        said = _last_line(room.inside(before, entered=False))
        raise EnvironmentFault(f"isolation ({room.level}) could not be set up: {said}")
    return replace(result, stdout=room.inside(result.stdout), stderr=room.inside(stderr))


def _last_line(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip().rpartition("\n")[2][:300] or "no word from it"


def remove_tree(folder: Path) -> None:
    """Remove a folder a hostile program wrote in: locked, or nested deeper than Python can follow."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
        return
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        argv, env = [*command, "--", str(folder)], {"PATH": SYSTEM_PATH}
        with contextlib.suppress(EnvironmentFault):
            run_command(argv, cwd=Path("/"), env=env, timeout_s=60, max_output_bytes=_CHUNK)
