"""Starting from a checkout without an activated environment: re-execute in ``.venv``, or say what to run."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

NEEDED = ("click", "yaml", "jsonschema", "tabulate", "regex", "semver")


def launch(folder: Path) -> None:
    """Run the command line with this interpreter if it can, else with the one in ``.venv``; never returns."""
    if all(importlib.util.find_spec(name) for name in NEEDED):
        # Imported here: outside the environment it could not be imported at all.
        from skillassay.__main__ import run

        run()
    python = folder / ".venv" / "bin" / "python"
    # By prefix, not by the binary: an environment's python is a link to the one it was made with.
    if python.exists() and Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), str(folder / "run.py"), *sys.argv[1:]])  # noqa: S606 - our own interpreter
    sys.stderr.write("the environment is not set up; run: make setup\n")
    sys.exit(3)
