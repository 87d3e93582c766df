"""What is left out of a skill: one list for hashing, reading and running. Owns the patterns and how they match.

A pattern without ``/`` is matched against the name of every file and folder at any depth. A pattern with ``/`` is
matched against the whole path from the skill's root (a leading ``/`` only anchors: ``/evals`` is the top folder of
that name). The signs are those of ``fnmatch``: ``*`` (also across ``/``), ``?``, ``[seq]``; case counts. A folder that
matches is left out with all it holds. SKILL.md itself is never left out.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass

DEFAULT_IGNORE = (
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "__pycache__",
    "*.pyc",
    ".DS_Store",
    "Thumbs.db",
    "node_modules",
    "/evals",
    "/_meta.json",
    "/.clawhub",
    "/skill.oms.sig",
    "/skills.lock.json",
    "/.skillassay",
)
"""Version control, compiled and system files; the skill's own evals; what installers drop at its top; and, where a
whole repository is one skill, the lock and the run records, which could not hold a digest of themselves."""

_SIGNS = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """Patterns made ready: plain names and paths in sets, ``*.suffix`` as suffixes, the rest as expressions."""

    names: frozenset[str]
    suffixes: tuple[str, ...]
    name_pattern: re.Pattern[str] | None
    paths: frozenset[str]
    path_pattern: re.Pattern[str] | None

    def matches(self, name: str, path: str) -> bool:
        """Whether the file or folder called ``name`` at ``path`` (from the skill's root) is left out."""
        return (
            name in self.names
            or path in self.paths
            or name.endswith(self.suffixes)
            or (self.name_pattern is not None and self.name_pattern.match(name) is not None)
            or (self.path_pattern is not None and self.path_pattern.match(path) is not None)
        )


@functools.lru_cache(maxsize=16)
def build_ignore(extra: tuple[str, ...] = ()) -> Ignore:
    """The default list with ``extra`` patterns (the contract's ``lock.ignore``)."""
    names, paths = [], []
    for pattern in (*DEFAULT_IGNORE, *extra):
        stripped = pattern.rstrip("/")
        if "/" in stripped:
            paths.append(stripped.removeprefix("/").removeprefix("./"))
        elif stripped:
            names.append(stripped)
    suffixes = tuple(name[1:] for name in names if name[:1] == "*" and not _SIGNS & set(name[1:]))
    return Ignore(
        names=frozenset(name for name in names if not _SIGNS & set(name)),
        suffixes=suffixes,
        name_pattern=_joined([name for name in names if _SIGNS & set(name) and name[1:] not in suffixes]),
        paths=frozenset(path for path in paths if not _SIGNS & set(path)),
        path_pattern=_joined([path for path in paths if _SIGNS & set(path)]),
    )


def _joined(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns)) if patterns else None
