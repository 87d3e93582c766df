"""The lock at a revision of the project's git repository. Reads git, writes nothing."""

from __future__ import annotations

from pathlib import Path

from skillassay.errors import InputError
from skillassay.lockfile import LOCK_PATH, Lock, parse_lock
from skillassay.process import git


def lock_at(root: Path, ref: str) -> Lock:
    """The lock at a git revision; an empty one where the revision has none. Raises :class:`InputError`."""
    known = git(root, "rev-parse", "--verify", "-q", "--end-of-options", f"{ref}^{{commit}}")
    if known is None or known.exit_code != 0:
        hint = "fetch it (CI: check out with full history), or name another revision"
        raise InputError(f"there is no git revision {ref!r} here", hint=hint)
    revision = known.stdout.decode().strip()
    shown = git(root, "show", f"{revision}:./{LOCK_PATH}")
    if shown is None or shown.exit_code != 0:
        return Lock(skills={}, suites={})
    lock, findings = parse_lock(shown.stdout, path=f"{LOCK_PATH} at {ref}")
    if lock is None:
        raise InputError(f"the lock at {ref} cannot be read", findings=findings)
    return lock
