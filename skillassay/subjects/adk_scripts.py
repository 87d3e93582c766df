"""Scripts that ADK runs, in our isolation. Owns the code executor that is given to ADK's toolset.

ADK packs a skill and a call into one Python program, which it hands to an executor. Its local one inherits the whole
environment, keys included; this one runs the program as our own tools run a script: nothing of the user's in sight, no
network, no keys, with limits. What the program sees is ADK's: its script starts in a temporary folder of its own, so
that a file of the user is found by no relative name, and what it writes there is gone with it.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult
from pydantic import PrivateAttr

from skillassay.errors import SCRIPT_REFUSED, EnvironmentFault, Reason, Stage, TrialError
from skillassay.isolation.levels import Isolation, Limits
from skillassay.isolation.process import CommandResult, remove_tree, run_isolated
from skillassay.tools import ScriptPolicy

_INSIDE = "/adk"
_PROGRAM = "program.py"
_KILLED = -9
"""The exit code of what was stopped, as ADK's own executor tells it: its child's signal, negative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRoom:
    """Where the scripts of one trial run. ``fail`` is told what is no result: ADK would show it to the model as one."""

    workspace: Path
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    fail: Callable[[TrialError], TrialError]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def run(self, program: str) -> CommandResult:
        """Run a program of ADK's. ADK answers parallel calls in parallel; scripts run one after the other."""
        if not self.policy.allowed:
            message = f"not run: a script: {self.policy.why}"
            error = TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS, kind=SCRIPT_REFUSED)
            raise self.fail(error)
        folder = Path(tempfile.mkdtemp(prefix="skillassay-"))
        try:
            (folder / _PROGRAM).write_text(program, encoding="utf-8")
            argv = [sys.executable, "-B", "-s", "-X", "utf8", f"{_INSIDE}/{_PROGRAM}"]
            with self._lock:
                return run_isolated(
                    argv,
                    workspace=self.workspace,
                    env={},
                    limits=self.limits,
                    level=self.isolation,
                    folders={_INSIDE: folder},
                )
        except EnvironmentFault as fault:
            failed = TrialError(fault.message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS)
        except OSError as error:
            message = f"ADK's program cannot be written: {error.strerror or error}"
            failed = TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS)
        finally:
            remove_tree(folder)
        raise self.fail(failed)


class IsolatedExecutor(BaseCodeExecutor):  # type: ignore[misc]
    """ADK's port for running a program, over a :class:`ScriptRoom`."""

    _room: ScriptRoom = PrivateAttr()

    @classmethod
    def over(cls, room: ScriptRoom) -> IsolatedExecutor:
        """The executor of one trial."""
        executor = cls(timeout_seconds=max(1, int(room.limits.timeout_s)))
        executor._room = room
        return executor

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> Any:  # noqa: ARG002 - ADK's port
        """Run the program and tell its outputs and exit code, with the words of ADK's own local executor.

        Words on stderr of a program that exits with 0 are left out, as there: ADK takes them for a failure.
        """
        result = self._room.run(code_execution_input.code)
        stdout, stderr = (output.decode("utf-8", "replace") for output in (result.stdout, result.stderr))
        if result.exit_code is None:
            limits = self._room.limits
            over = f"timed out after {limits.timeout_s:g} seconds" if result.timed_out else "wrote too much"
            note = f"Code execution {over}."
            return CodeExecutionResult(stdout=stdout, stderr=f"{stderr}\n{note}" if stderr else note, exit_code=_KILLED)
        if result.exit_code == 0:
            stderr = ""
        elif not stderr:
            stderr = f"Code execution exited with status {result.exit_code}."
        return CodeExecutionResult(stdout=stdout, stderr=stderr, exit_code=result.exit_code)
