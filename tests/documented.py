"""Guides as programs: what a page says to write is written, what it says to run is run, in the order of the page.

``<!-- file: PATH -->`` before a fenced block writes the block to that path. Each block of the language ``sh`` is run by
bash, which stops at the first command that fails; ``<!-- exit: N -->`` before it says how it must end instead of 0.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.project import REPOSITORY, environment

_BLOCK = re.compile(
    r"(?:^<!-- (?P<what>file|exit): (?P<value>\S+) -->\n\n?)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "test"), ("EMAIL", "test@example.invalid"))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A file to be written, or lines to be run that end with ``code``."""

    text: str
    path: str | None = None
    code: int = 0


def steps_of(page: Path) -> Iterator[Step]:
    """The steps of a page; blocks that are neither are passed over."""
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if match["what"] == "file":
            yield Step(text=match["text"], path=match["value"])
        elif match["language"] == "sh":
            yield Step(text=match["text"], code=int(match["value"] or 0))


def follow(page: Path, root: Path) -> list[str]:
    """Do what a page says in ``root``; the outputs of its runs. Asserts that each ends as it must."""
    programs = root.parent / f"{root.name}-programs"
    programs.mkdir(exist_ok=True)
    program = programs / "skillassay"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillassay "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    outputs = []
    for step in steps_of(page):
        if step.path is not None:
            (root / step.path).parent.mkdir(parents=True, exist_ok=True)
            (root / step.path).write_text(step.text, encoding="utf-8")
            continue
        env = environment(PATH=path, PYTHONPATH=str(REPOSITORY), **_AUTHOR)
        done = subprocess.run(
            ["bash", "-e"], input=step.text.encode(), cwd=root, env=env, capture_output=True, timeout=120
        )
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == step.code, f"{page.name}: {step.text}\nended with {done.returncode}:\n{said}"
        outputs.append(said)
    return outputs
