"""A folder as a commit holds it, written where nobody else writes. Owns which names of a tree may become files.

Git itself refuses to make an index of a tree that names ``..`` or ``.git``, but it clones and lists one. So nothing of
a listing becomes a path before it was looked at: refused is a name that is absolute, has an empty part, ``.``, ``..``
or ``.git``, holds control characters, stands there twice, or lies below another name that is no folder. Files are made
anew (an existing one is an error, a link is never followed), and links last of all.

Blob by blob: ``git archive`` would apply attributes and line ends of a checkout, and so change bytes. Each folder is
private and temporary: what lies in a project anybody could have put there. It is removed when nobody holds it any more,
at the end of the process at the latest.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import InputError
from skillassay.isolation.process import git, remove_tree

MAX_FILES = 10_000
MAX_BYTES = 256 << 20
"""Of all files of a folder together."""

_KEPT_BYTES, _KEPT_BLOB_BYTES = 64 << 20, 1 << 20
_FILE, _LINK, _PROGRAM = "blob", "120000", "100755"
_HINT = "name another revision with --base"


class GitFolder:
    """A private folder, there as long as this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="skillassay-"))
        self._end = weakref.finalize(self, remove_tree, self.path)

    def remove(self) -> None:
        """Remove it now. Idempotent."""
        self._end()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One file of a listing."""

    mode: str
    blob: str
    size: int
    name: bytes


class GitFolders:
    """One folder of a repository at its commits. Small blobs that were read are kept, as most commits share them."""

    def __init__(self, root: Path, path: str) -> None:
        self._root = root
        self._path = path
        self._blobs: dict[str, bytes] = {}
        self._n_kept = 0

    def listing(self, commit: str) -> bytes:
        """What git lists for the folder at a commit, as it tells it; empty where there is no file then."""
        tree = f"{commit}:./" if self._path == "." else f"{commit}:./{self._path}"
        listed = git(self._root, "ls-tree", "-r", "-l", "-z", "--full-tree", tree)
        if listed is None or listed.exit_code not in {0, None}:
            there = git(self._root, "rev-parse", "--verify", "-q", "--end-of-options", tree)
            if there is not None and there.exit_code == 0:
                raise self._refused(commit, "git cannot list it; run `git fsck`")
            return b""
        if listed.truncated or listed.timed_out:
            raise self._refused(commit, "it lists too many files")
        return listed.stdout

    def write_out(self, commit: str, listing: bytes) -> GitFolder:
        """The folder at a commit on disk, whole. Raises :class:`InputError` for one that may not or cannot be."""
        entries = self._checked(commit, listing)
        folder = GitFolder()
        try:
            for entry in sorted(entries, key=lambda entry: entry.mode == _LINK):
                self._write(folder.path, entry, self._blob(entry.blob))
        except (OSError, ValueError) as error:
            folder.remove()
            raise self._refused(commit, str(error)) from error
        except BaseException:
            folder.remove()
            raise
        return folder

    def _checked(self, commit: str, listing: bytes) -> list[_Entry]:
        entries = list(_entries(listing))
        if len(entries) > MAX_FILES or sum(entry.size for entry in entries) > MAX_BYTES:
            raise self._refused(commit, f"it holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB")
        problem = next(_problems(entries), None)
        if problem is not None:
            raise self._refused(commit, problem)
        return entries

    def _refused(self, commit: str, why: str) -> InputError:
        return InputError(f"{self._path} at commit {commit[:12]} cannot be written out: {why}", hint=_HINT)

    def _blob(self, blob: str) -> bytes:
        kept = self._blobs.get(blob)
        if kept is not None:
            return kept
        shown = git(self._root, "cat-file", "blob", blob)
        if shown is None or shown.exit_code != 0 or shown.truncated:
            raise InputError(f"git cannot read the blob {blob}", hint="fetch the revision whole, or run `git fsck`")
        if len(shown.stdout) <= _KEPT_BLOB_BYTES and self._n_kept + len(shown.stdout) <= _KEPT_BYTES:
            self._blobs[blob] = shown.stdout
            self._n_kept += len(shown.stdout)
        return shown.stdout

    @staticmethod
    def _write(folder: Path, entry: _Entry, data: bytes) -> None:
        target = folder / os.fsdecode(entry.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == _LINK:
            target.symlink_to(os.fsdecode(data))
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(target, flags, 0o755 if entry.mode == _PROGRAM else 0o644), "wb") as file:
            file.write(data)


def _entries(listing: bytes) -> Iterator[_Entry]:
    for line in filter(None, listing.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, kind, blob, size = about.decode().split()
        if kind == _FILE:  # a submodule has no file here
            yield _Entry(mode=mode, blob=blob, size=int(size), name=name)


def _problems(entries: Iterable[_Entry]) -> Iterator[str]:
    """Why a listing may not become files, in words."""
    names: set[bytes] = set()
    for entry in entries:
        shown = repr(os.fsdecode(entry.name))
        if any(part in {b"", b".", b".."} or part.lower() == b".git" for part in entry.name.split(b"/")):
            yield f"it lists {shown}, which leaves the folder or is git's own"
        if any(sign < 32 or sign == 127 for sign in entry.name):
            yield f"it lists {shown}, a name with control characters"
        if entry.name in names:
            yield f"it lists {shown} twice"
        names.add(entry.name)
    for name in names:
        parts = name.split(b"/")
        above = next((part for n in range(1, len(parts)) if (part := b"/".join(parts[:n])) in names), None)
        if above is not None:
            yield f"it lists {os.fsdecode(name)!r} below {os.fsdecode(above)!r}, which is no folder"
