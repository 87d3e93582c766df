"""A person who reads verdicts, in a process of their own with its keys piped in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from skillassay.calibration.verdicts_read import VERDICTS_READ_PATH
from tests.project import REPOSITORY, command, environment

READER = "Mika Sato"


def typed(root: Path, keys: str, by: str = READER, *options: str) -> subprocess.CompletedProcess[bytes]:
    """A session in which these keys are typed, one a line."""
    argv = command(root, "read", "--by", by, *options)
    lines = "".join(f"{key}\n" for key in keys).encode()
    return subprocess.run(argv, input=lines, capture_output=True, cwd=REPOSITORY, env=environment(), timeout=60)


def read_all(root: Path, by: str = READER) -> None:
    """The newest run's sample is read to its end, and every verdict found right."""
    done = typed(root, "r" * 50, by)
    assert done.returncode == 0, done.stderr


def words_of(root: Path) -> list[dict[str, Any]]:
    """The lines of the file; none without one."""
    path = root / VERDICTS_READ_PATH
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
