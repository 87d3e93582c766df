"""Skills as they were: an older state out of git, for the mode ``previous``. Owns which state that is.

With a revision it is the skill's folder at that revision. Without one it is the newest commit at which the folder has
the digest that ``skills.lock.json`` names, so the version that was locked last. A skill that had no folder then, or
whose bytes are the same now, has no earlier state.

Files are written below ``.skillassay/earlier/``, blob by blob: ``git archive`` would apply attributes and line
ends of a checkout, and so change bytes. What lies there is read anew each time, and its digest is what a plan names.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skillassay.canonical import short_digest
from skillassay.discovery import load_package
from skillassay.errors import InputError
from skillassay.locking import read_lock
from skillassay.process import git, remove_tree
from skillassay.project import Project, ReadySkill
from skillassay.store import keep_out_of_git

EARLIER = ".skillassay/earlier"
MAX_COMMITS = 200
"""How far back the locked state is sought, in commits that touch the skill's folder."""

_FILE, _LINK = "blob", "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The earlier state of one skill and the commit that it is from."""

    ready: ReadySkill
    commit: str


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
        for one in commits:
            ready = _state(project, path, one)
            if ready is not None and wanted in {None, ready.digest}:
                if ready.digest != now.get(path):
                    found[path] = Earlier(ready=ready, commit=one)
                break
    return found


def _locked_digests(project: Project) -> dict[str, str]:
    lock, findings = read_lock(project.root)
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
    log = git(root, "log", f"-n{MAX_COMMITS}", "--format=%H", "--", f"./{path}")
    if log is None or log.exit_code != 0:
        hint = "the mode previous reads the locked version out of git; name a revision with --base, or leave it out"
        raise InputError("there is no git history here", hint=hint)
    yield from log.stdout.decode().split()


def _state(project: Project, path: str, commit: str) -> ReadySkill | None:
    """The skill at a commit; None where its folder has no file then."""
    folder = project.root / EARLIER / f"{commit}-{short_digest(path)}"
    if not folder.is_dir() and not _export(project.root, path, commit, folder):
        return None
    package = load_package(str(folder), path=path, ignore=project.contract.lock.ignore)
    if package is None:
        return None
    if package.skill is None or package.files is None or package.files.digest is None:
        message = f"{path} at commit {commit[:12]} is no readable skill"
        raise InputError(message, hint="name another revision with --base", findings=package.findings)
    return ReadySkill(path=path, skill=package.skill, files=package.files, digest=package.files.digest)


def _export(root: Path, path: str, commit: str, folder: Path) -> bool:
    """Write a folder of a commit, whole or not at all. Returns whether it has any file."""
    listed = git(root, "ls-tree", "-r", "-z", "--full-tree", f"{commit}:./{path}" if path != "." else f"{commit}:./")
    if listed is None or listed.exit_code != 0 or not listed.stdout:
        return False
    keep_out_of_git(root)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        for entry in listed.stdout.rstrip(b"\0").split(b"\0"):
            about, _, name = entry.partition(b"\t")
            mode, kind, blob = about.decode().split()
            if kind == _FILE:  # a submodule has no file here
                _write(root, blob, draft / os.fsdecode(name), mode)
        draft.rename(folder)
    except OSError as error:
        if folder.is_dir():  # another process was faster, with the same bytes
            return True
        raise InputError(f"{path} at commit {commit[:12]} cannot be written out: {error}") from error
    finally:
        remove_tree(draft)
    return True


def _write(root: Path, blob: str, target: Path, mode: str) -> None:
    shown = git(root, "cat-file", "blob", blob)
    if shown is None or shown.exit_code != 0 or shown.truncated:
        raise InputError(f"git cannot read the blob {blob}", hint="fetch the revision whole, or run `git fsck`")
    target.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        target.symlink_to(os.fsdecode(shown.stdout))
    else:
        target.write_bytes(shown.stdout)
        target.chmod(0o755 if mode == "100755" else 0o644)
