"""Commits that git's own commands would not make, in a repository of a test: a clone brings them along all the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.project import git

FILE, PROGRAM, LINK, FOLDER = "100644", "100755", "120000", "40000"
Item = tuple[str, bytes, "bytes | list[Item]"]
"""Mode, name, and the content: of a folder its items."""


def commit_tree(root: Path, items: Iterable[Item]) -> str:
    """A commit of exactly these items, whatever their names; its id. Nothing points to it."""
    return git(root, "commit-tree", "-m", "hostile", _tree(root, items)).strip()


def _tree(root: Path, items: Iterable[Item]) -> str:
    raw = b""
    for mode, name, content in items:
        made = _tree(root, content) if isinstance(content, list) else _object(root, "blob", content)
        raw += mode.encode() + b" " + name + b"\0" + bytes.fromhex(made)
    return _object(root, "tree", raw)


def _object(root: Path, kind: str, data: bytes) -> str:
    argv = ["git", "hash-object", "-t", kind, "--literally", "-w", "--stdin"]
    return subprocess.run(argv, cwd=root, input=data, check=True, capture_output=True).stdout.decode().strip()
