"""Where texts of hidden cases are looked for: all that lies below the project's root, and all that git tracks there.

Looked through is every text file but those in folders of version control, of virtual environments (``pyvenv.cfg``,
``conda-meta``), of ``node_modules`` and of our own runs; a file there counts where git tracks it. What git ignores or
a skill's digest leaves out is looked through: whoever works in the folder reads it. In skills and in ``evals/`` only
``.git`` is left out, files may be larger, and count whatever they hold. Not looked at is git's history. Not looked
through, and named, are links to folders outside, and files that are too large, cannot be read, or are no text.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skillassay.contract.contract import CONTRACT_PATH
from skillassay.holdout.leakage import Exposure, HiddenTexts, SearchedFile
from skillassay.isolation.process import git
from skillassay.project import Project
from skillassay.regular import NotRegular, read_regular
from skillassay.suites.case import Case

OWN_MAX_BYTES, OTHER_MAX_BYTES = 1 << 30, 16 << 20
"""The largest file that is looked through: of skills and ``evals/``, and of anything else."""
BINARY = "is no text"

_EVALS = Path(CONTRACT_PATH).parent.as_posix()
_ALWAYS_LEFT_OUT = frozenset((".git",))
_FOLDERS = frozenset((".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "_darcs", "node_modules", ".skillassay"))
_ENVIRONMENT = frozenset(("pyvenv.cfg", "conda-meta"))
_SAMPLE_BYTES = 8192
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))
_MOST_CONTROL = 50
"""One control character in so many bytes makes a file no text. A single one must not hide it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """What was not looked through, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a look-out came to: where which case was found, how many files were looked through, and which were not."""

    exposures: tuple[Exposure, ...] = ()
    n_files: int = 0
    skipped: tuple[Skipped, ...] = ()


NO_SEARCH = Search()


def search_project(project: Project, cases: Iterable[Case]) -> Search:
    """Look for the texts of these hidden cases in the project. Takes time in proportion to its bytes."""
    texts, exposures, n_files, skipped = HiddenTexts(cases), list[Exposure](), 0, list[Skipped]()
    suites, own = _suite_paths(project), _own_folders(project)
    for path, source in _places(project, skipped).items():
        try:
            text = _read_text(source, is_own=path.startswith(own))
        except (OSError, NotRegular) as error:
            skipped.append(Skipped(path=_shown(path), why=getattr(error, "strerror", None) or str(error)))
            continue
        if text is None:
            skipped.append(Skipped(path=_shown(path), why=BINARY))
            continue
        n_files += 1
        exposures += texts.find_in(SearchedFile(path=_shown(path), text=text, is_suite=path in suites))
    return Search(exposures=tuple(exposures), n_files=n_files, skipped=tuple(skipped))


def _own_folders(project: Project) -> tuple[str, ...]:
    return (f"{_EVALS}/", *(f"{package.path}/" for package in project.packages))


def _suite_paths(project: Project) -> frozenset[str]:
    """The suites and fixtures of the contract, whose authors write as the holdout's does."""
    contract, root = project.contract, project.root
    globs = (*contract.quality_suites, *contract.routing_suites, *contract.trigger_suites, *contract.fixtures)
    return frozenset(path.relative_to(root).as_posix() for glob in globs for path in root.glob(glob) if path.is_file())


def _places(project: Project, skipped: list[Skipped]) -> dict[str, Path]:
    """Every file to look through, by its path in the project: of skills, below the root, tracked by git."""
    root = project.root
    places = {
        f"{package.path}/{entry.path}": Path(entry.source)
        for package in project.packages
        for entry in (package.files.entries if package.files is not None else ())
    }
    # `evals` may itself be a link to a folder, which a walk from the root does not enter.
    linked = (found.relative_to(root).as_posix() for found in (root / _EVALS).rglob("*") if found.is_file())
    for path in (*_below(root, _own_folders(project), skipped), *linked, *_tracked(root)):
        places.setdefault(path, root / path)
    return places


def _below(root: Path, own: tuple[str, ...], skipped: list[Skipped]) -> Iterator[str]:
    inside = root.resolve()
    for folder, folders, files in os.walk(root, onerror=lambda error: skipped.append(_unread(error, root))):
        here = Path(folder).relative_to(root)
        is_own = f"{here.as_posix()}/".startswith(own)
        holds_own = here == Path() or any(folder.startswith(f"{here.as_posix()}/") for folder in own)
        if not is_own and not holds_own and _ENVIRONMENT.intersection((*folders, *files)):
            folders.clear()
            continue
        for name in folders:
            place = Path(folder, name)
            if place.is_symlink() and not place.resolve().is_relative_to(inside):
                skipped.append(Skipped(path=_shown((here / name).as_posix()), why="is a link to a folder outside"))
        folders[:] = sorted(set(folders) - (_ALWAYS_LEFT_OUT if is_own else _FOLDERS))
        yield from ((here / name).as_posix() for name in sorted(files))


def _unread(error: OSError, root: Path) -> Skipped:
    path = os.path.relpath(error.filename, root) if error.filename else "."
    return Skipped(path=_shown(path), why=error.strerror or "cannot be read")


def _shown(path: str) -> str:
    """A path as text, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "replace")


def _tracked(root: Path) -> Iterator[str]:
    """What git tracks below the root and is on the disk; nothing without git or a repository."""
    listed = git(root, "ls-files", "-z")
    names = listed.stdout.split(b"\0") if listed is not None and listed.exit_code == 0 else ()
    yield from (path for name in names if name and (root / (path := os.fsdecode(name))).is_file())


def _read_text(path: Path, *, is_own: bool) -> str | None:
    """A file as text, whatever in it is none; None for one that is no text at all."""
    data = read_regular(path, max_bytes=OWN_MAX_BYTES if is_own else OTHER_MAX_BYTES)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    sample = data[:_SAMPLE_BYTES]
    n_control = len(sample) - len(sample.translate(None, _CONTROL))
    if not is_own and n_control * _MOST_CONTROL > len(sample):
        return None
    return data.decode("utf-8", "replace")
