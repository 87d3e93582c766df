"""Running one script of a skill. Owns interpreters, the copy a script runs from, and what of its output is told.

The script gets a fresh copy of its skill at ``/skill``, which it may change and which is thrown away: a run never
changes the skill. Its working directory is the trial's workspace. Which script may run is decided elsewhere.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError
from skillassay.isolation.process import SYSTEM_PATH, CommandResult, Isolation, Limits, remove_tree, run_isolated
from skillassay.tool_arguments import Refusal

STDOUT_BYTES = 64 << 10
STDERR_BYTES = 16 << 10
"""How much of each output a model is told; the middle goes first, and what goes is said."""

# -s: no user site. Neither -I nor -P: a script imports its siblings. Not -E: our own PYTHON* variables must hold.
_INTERPRETERS = {
    ".py": (sys.executable, "-B", "-s", "-X", "utf8"),
    ".sh": ("bash",),
    ".bash": ("bash",),
    ".js": ("node",),
}
KINDS = tuple(_INTERPRETERS)
_SHELL = (".sh", ".bash")
_INSIDE = "/skill"
_ROOM_FOR_MARK = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOutput:
    """What a model is told of a run. ``status`` is success, warning (exit 0 with words on stderr) or error."""

    status: str
    stdout: str
    stderr: str
    truncated: bool


def kind_of(path: str) -> str:
    """The extension that decides the interpreter."""
    return PurePosixPath(path).suffix.lower()


def run_script(
    files: Mapping[str, Path], path: str, *, line: Sequence[str], workspace: Path, isolation: Isolation, limits: Limits
) -> ScriptOutput:
    """Run ``files[path]`` with the arguments ``line``; ``files`` are all the files of its skill it will find.

    Raises ``Refusal`` for a script that cannot work anywhere, ``TrialError`` when this machine is to blame.
    """
    copy = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        _copy_files(files, copy)
        _check_line_ends(path, copy / path)
        argv = [*_interpreter(path), f"{_INSIDE}/{path}", *line]
        # V8 maps address space by the tens of gigabytes and uses little of it.
        limits = replace(limits, reserves_address_space=kind_of(path) == ".js")
        folders = {_INSIDE: copy}
        result = run_isolated(argv, workspace=workspace, env={}, limits=limits, level=isolation, folders=folders)
    except EnvironmentFault as fault:
        raise TrialError(fault.message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS) from fault
    except OSError as error:
        message = f"the skill's files cannot be copied: {error}"
        raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error
    finally:
        remove_tree(copy)
    return _told(result, limits)


def _copy_files(files: Mapping[str, Path], copy: Path) -> None:
    for name, source in files.items():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode & 0o755 | 0o600)


def _check_line_ends(path: str, script: Path) -> None:
    # bash would run it: to exit 0, with a carriage return at the end of each file name it writes.
    if kind_of(path) in _SHELL and b"\r\n" in script.read_bytes():
        message = f"{path} has Windows line endings (CRLF), which bash takes as part of each line; they must be LF."
        raise Refusal(message, code="EXECUTION_ERROR")


def _interpreter(path: str) -> tuple[str, ...]:
    program, *flags = _INTERPRETERS[kind_of(path)]
    found = shutil.which(program, path=SYSTEM_PATH)
    if found is None:
        raise EnvironmentFault(f"{path} needs {program}, which is not on {SYSTEM_PATH}")
    return (found, *flags)


def _told(result: CommandResult, limits: Limits) -> ScriptOutput:
    note = None
    if result.timed_out:
        note = f"Timed out after {limits.timeout_s:g} s."
    elif result.exit_code is None:
        note = f"Stopped: more than {limits.output_bytes} bytes of output."
    elif result.exit_code != 0:
        note = f"Exit code {result.exit_code}"
    stdout, cut_out = clip_middle(result.stdout, STDOUT_BYTES)
    stderr, cut_err = clip_middle(result.stderr, STDERR_BYTES)
    status = "error" if note else "warning" if stderr else "success"
    if note:
        stderr = f"{stderr.rstrip()}\n{note}" if stderr else note
    return ScriptOutput(status=status, stdout=stdout, stderr=stderr, truncated=cut_out or cut_err or result.truncated)


def clip_middle(data: bytes, cap: int) -> tuple[str, bool]:
    """Output as text of at most ``cap`` UTF-8 bytes: head and tail with a mark between; and whether it was cut.

    What is not UTF-8 becomes U+FFFD; cuts fall between characters.
    """
    encoded = data.decode("utf-8", "replace").encode()
    if len(encoded) <= cap:
        return encoded.decode(), False
    part = (cap - _ROOM_FOR_MARK) // 2
    head, tail = encoded[:part].decode("utf-8", "ignore"), encoded[-part:].decode("utf-8", "ignore")
    n_left_out = len(encoded) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[… {n_left_out} bytes left out …]\n{tail}", True
