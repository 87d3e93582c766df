"""Skills as they were: an older state out of git, for the mode ``previous``. Owns which state that is.

With a revision it is the skill's folder at that revision. Without one it is the newest commit at which the folder has
the digest that ``skills.lock.json`` names, so the version that was locked last. A skill that had no folder then, or
whose bytes are the same now, has no earlier state.

Its files are written out of git anew each time, into a folder of their own (see :mod:`skillassay.skills.git_folder`),
which an :class:`Earlier` holds: nothing that lies in the project is taken for what git holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import InputError
from skillassay.isolation.process import git
from skillassay.locks.lock import MISSING
from skillassay.locks.locking import read_lock
from skillassay.project import Project, ReadySkill
from skillassay.runs.snapshot import build_catalog, older_skills
from skillassay.skills.discovery import load_package
from skillassay.skills.git_folder import GitFolder, GitFolders

MAX_COMMITS = 200
"""How far back the locked state is sought, in commits that touch the skill's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The earlier state of one skill and the commit that it is from. Its files are there as long as this is."""

    ready: ReadySkill
    commit: str
    folder: GitFolder


def earlier_of(
    project: Project, paths: Sequence[str], *, base: str | None, by_name: bool
) -> tuple[dict[str, Earlier], tuple[str, ...]]:
    """The earlier states that a run is about, and what must be told of them.

    The mode ``previous`` is asked for ``by_name``, or comes with a ``base``; where nothing is asked for there is none.
    Raises :class:`InputError` when it is asked for by name and no skill has one.
    """
    if not by_name and base is None:
        return {}, ()
    earlier = load_earlier(project, paths, base=base)
    where = "in the lock" if base is None else f"at {base}"
    if paths and not earlier:
        message = f"nothing to run in the mode previous: {', '.join(paths)} has no other state {where}"
        if by_name:
            raise InputError(message, hint="name an older state with --base REF, or leave out the mode previous")
        return {}, (f"{message}; the other modes run",)
    for state in earlier.values():
        build_catalog(older_skills(project.usable, state.ready))  # its old name may be another skill's now
    same = [path for path in paths if path not in earlier]
    return earlier, tuple(f"not in the mode previous: {path} has no other state {where}" for path in same)


def load_earlier(project: Project, paths: Iterable[str], *, base: str | None) -> dict[str, Earlier]:
    """The earlier states of the skills at these paths, by path; no entry where there is none.

    Raises :class:`InputError` outside a git repository, for an unknown revision, and for a state that cannot be read.
    """
    commit = _commit_of(project.root, base) if base is not None else None
    now = {ready.path: ready.digest for ready in project.usable}
    locked = {} if base is not None else _locked_digests(project)
    found = {}
    for path in paths:
        wanted = locked.get(path)
        commits: Iterable[str] = [commit] if commit is not None else _commits(project.root, path) if wanted else ()
        earlier = _newest(project, path, commits, wanted=wanted)
        if earlier is not None and earlier.ready.digest != now.get(path):
            found[path] = earlier
    return found


def _newest(project: Project, path: str, commits: Iterable[str], *, wanted: str | None) -> Earlier | None:
    """The first of the commits at which the skill has the digest that is wanted, or any."""
    folders, seen = GitFolders(project.root, path), {b""}
    for commit in commits:
        listing = folders.listing(commit)
        if listing in seen:
            continue
        seen.add(listing)
        folder = folders.write_out(commit, listing)
        ready = _state(project, path, commit, folder)
        if ready is not None and wanted in {None, ready.digest}:
            return Earlier(ready=ready, commit=commit, folder=folder)
        folder.remove()
    return None


def _locked_digests(project: Project) -> dict[str, str]:
    lock, findings = read_lock(project.root)
    if any(finding.code == MISSING for finding in findings):
        message = "there is no lock, so nothing says what was locked last"
        raise InputError(message, hint="name a revision with --base REF, or leave out the mode previous")
    if findings:
        raise InputError("the lock cannot be read, so nothing says what was locked last", findings=findings)
    return {} if lock is None else {path: entry.digest for path, entry in lock.skills.items()}


def _commit_of(root: Path, ref: str) -> str:
    found = git(root, "rev-parse", "--verify", "-q", "--end-of-options", f"{ref}^{{commit}}")
    if found is None or found.exit_code != 0:
        hint = "fetch it (CI: check out with full history), or name another revision"
        raise InputError(f"there is no git revision {ref!r} here", hint=hint)
    return found.stdout.decode().strip()


def _commits(root: Path, path: str) -> Iterator[str]:
    """The commits that touched a folder, newest first."""
    log = git(root, "--literal-pathspecs", "log", f"-n{MAX_COMMITS}", "--format=%H", "--", f"./{path}")
    if log is None or log.exit_code != 0:
        hint = "the mode previous reads the locked version out of git; name a revision with --base, or leave it out"
        raise InputError("there is no git history here", hint=hint)
    yield from log.stdout.decode().split()


def _state(project: Project, path: str, commit: str, folder: GitFolder) -> ReadySkill | None:
    """The skill in a folder of a commit; None where it is none."""
    package = load_package(str(folder.path), path=path, ignore=project.contract.lock.ignore)
    if package is None:
        return None
    if package.skill is None or package.files is None or package.files.digest is None:
        message = f"{path} at commit {commit[:12]} is no readable skill"
        raise InputError(message, hint="name another revision with --base", findings=package.findings)
    return ReadySkill(path=path, skill=package.skill, files=package.files, digest=package.files.digest)
