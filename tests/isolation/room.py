"""What the tests of isolated scripts share: limits, and Python code as an isolated program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skillassay.isolation import process
from skillassay.isolation.process import CommandResult, Isolation, Limits, run_isolated

LEVELS = [level for level in Isolation if level is Isolation.PROCESS or process.probe_isolation().level is level]

LIMITS = Limits(timeout_s=10, memory_bytes=512 << 20, file_bytes=1 << 20, n_processes=24, output_bytes=1 << 20)

in_namespaces = pytest.mark.skipif(
    process.probe_isolation().level is not Isolation.NAMESPACES, reason=process.probe_isolation().why
)


def isolated(code: str, workspace: Path, level: Isolation, limits: Limits = LIMITS) -> CommandResult:
    """Python code as an isolated program."""
    argv = [sys.executable, "-c", code]
    return run_isolated(argv, workspace=workspace, env={}, limits=limits, level=level)
