"""The command that a message or a report tells the reader to run next: one way to write it, so that it works as it is.

It names the project's folder where the command that ran was given one, and quotes what a shell would take apart.
"""

from __future__ import annotations

import shlex
from pathlib import Path


def next_command(root: Path, *words: str) -> str:
    """``skillassay [--root FOLDER] WORDS``."""
    folder = () if str(root) == "." else ("--root", str(root))
    return shlex.join(["skillassay", *folder, *words])
