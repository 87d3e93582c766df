"""A reader that leaves before the output ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.project import REPOSITORY, Cli, build_small, command, environment


@pytest.mark.parametrize("arguments", [("report",), ("report", "--format", "json"), ("check",), ("--help",), ("gate",)])
def test_a_closed_pipe_is_141(cli: Cli, arguments: tuple[str, ...]) -> None:
    """Whoever reads our output may leave: no traceback, no word, exit 141."""
    build_small(cli.root)
    assert cli("eval").code == 0
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    argv = command(cli.root, *arguments)
    ran = subprocess.run(
        argv, stdout=reader.stdin, stderr=subprocess.PIPE, cwd=REPOSITORY, env=environment(), timeout=30
    )
    assert (ran.returncode, ran.stderr) == (141, b"")
    assert reader.stdin is not None
    reader.stdin.close()
