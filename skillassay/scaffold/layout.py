"""Where the skills of somebody's repository lie, and the globs that say so. Owns the search; reads no SKILL.md.

The search goes down a few levels and follows no link. It passes over version control, environments, what was built or
installed, and folders of tests and evaluations, whose skills are material and not the repository's own. A hidden folder
is searched only where an agent looks for skills.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from skillassay.contract.contract import DEFAULT_GLOBS

MAX_DEPTH = 6
"""Levels below the root: plugins of plugins have four."""

_PASSED_OVER = frozenset(
    (
        *("node_modules", "vendor", "venv", "dist", "build", "target", "__pycache__", "site-packages"),
        *("test", "tests", "testdata", "fixtures", "evals", "eval"),
    )
)
_HIDDEN = frozenset(glob.split("/")[0] for glob in DEFAULT_GLOBS if glob.startswith(".") and glob != ".")


def find_skill_folders(root: Path) -> tuple[str, ...]:
    """The folders that hold a SKILL.md in any case of its letters: POSIX from the root, sorted, ``.`` for the root."""
    found = []
    for here, folders, files in os.walk(root):
        path = Path(here).relative_to(root).as_posix()
        if any(name.lower() == "skill.md" for name in files):
            found.append(path)
        depth = 0 if path == "." else path.count("/") + 1
        folders[:] = sorted(name for name in folders if depth < MAX_DEPTH and _is_searched(name))
    return tuple(sorted(found))


def _is_searched(name: str) -> bool:
    return name in _HIDDEN or (name[0] != "." and name not in _PASSED_OVER and not name.endswith(".egg-info"))


def globs_for(folders: Sequence[str]) -> tuple[str, ...]:
    """The globs under which such folders lie: the usual ones where they fit, else one for each kind of place."""
    usual = tuple(glob for glob in DEFAULT_GLOBS if any(_fits(folder, glob) for folder in folders))
    others = [folder for folder in folders if not any(_fits(folder, glob) for glob in usual)]
    # A star finds nothing hidden, so that such a folder is named itself.
    hidden = [folder for folder in others if folder.rpartition("/")[2][0] == "."]
    parents = {_escaped(folder).rpartition("/")[0] for folder in others if folder not in hidden}
    return (*usual, *(f"{parent}/*" if parent else "*" for parent in _merged(parents)), *map(_escaped, hidden))


def _escaped(folder: str) -> str:
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", folder)


def _fits(folder: str, glob: str) -> bool:
    parts, signs = folder.split("/"), glob.split("/")
    return len(parts) == len(signs) and all(map(_matches, parts, signs))


def _matches(part: str, sign: str) -> bool:
    return fnmatch.fnmatchcase(part, sign) and (part[0] != "." or sign[0] == ".")


def _merged(parents: Collection[str]) -> list[str]:
    """Parents that differ in one part alone become one with ``*`` for it: ``packages/*/skills``."""
    split = [parent.split("/") for parent in parents if parent]
    merged = {""} if len(split) < len(parents) else set()
    for parts in split:
        merged.add("/".join(next(_alternatives(parts, split), parts)))
    return sorted(merged)


def _alternatives(parts: list[str], split: list[list[str]]) -> Iterator[list[str]]:
    same_length = [other for other in split if len(other) == len(parts)]
    for at in range(len(parts)):
        form = [*parts[:at], "*", *parts[at + 1 :]]
        others = [other for other in same_length if [*other[:at], "*", *other[at + 1 :]] == form]
        # A hidden part is no part of a family: `*` would not find it.
        if len(others) > 1 and not any(other[at].startswith(".") for other in others):
            yield form
