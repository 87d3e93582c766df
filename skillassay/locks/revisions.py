"""The lock at a revision of the project's git repository. Reads git, writes nothing."""

from __future__ import annotations

from pathlib import Path

from skillassay.errors import InputError
from skillassay.isolation.process import git
from skillassay.locks.lockfile import LOCK_PATH, Lock, parse_lock


def lock_at(root: Path, ref: str, *, where_they_part: bool = False) -> Lock:
    """The lock at a git revision; an empty one where the revision has none. Raises :class:`InputError`.

    Also when git fails: what cannot be read may hold anything. With ``where_they_part`` the common ancestor with HEAD
    is read: what others did to their skills since a branch left the revision is no change of the branch.
    """
    known = git(root, "rev-parse", "--verify", "-q", "--end-of-options", f"{ref}^{{commit}}")
    if known is None or known.exit_code != 0:
        hint = "fetch it (CI: check out with full history), or name another revision"
        raise InputError(f"there is no git revision {ref!r} here", hint=hint)
    revision = known.stdout.decode().strip()
    if where_they_part:
        revision = _common_ancestor(root, revision)
    # Asked apart from reading it: a blob that a shallow or partial clone lacks is no file that was never there.
    listed = git(root, "ls-tree", "-z", revision, "--", f"./{LOCK_PATH}")
    if listed is not None and listed.exit_code == 0 and not listed.stdout:
        return Lock(skills={}, suites={})
    shown = git(root, "cat-file", "blob", f"{revision}:./{LOCK_PATH}") if listed is not None else None
    if listed is None or listed.exit_code != 0 or shown is None or shown.exit_code != 0:
        said = (shown or listed or known).stderr.decode("utf-8", "replace").strip().splitlines()
        hint = "fetch the revision whole (CI: check out with full history), or run `git fsck`"
        raise InputError(f"git cannot read the lock at {ref!r}: {said[-1] if said else 'no answer'}", hint=hint)
    lock, findings = parse_lock(shown.stdout, path=f"{LOCK_PATH} at {ref}")
    if lock is None:
        raise InputError(f"the lock at {ref} cannot be read", findings=findings)
    return lock


def _common_ancestor(root: Path, revision: str) -> str:
    """The common ancestor of a revision and HEAD; the revision itself where there is none (or no HEAD yet)."""
    common = git(root, "merge-base", revision, "HEAD")
    found = common.stdout.decode().strip() if common is not None and common.exit_code == 0 else ""
    return found or revision
