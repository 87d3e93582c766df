"""Writing below a project's root and nowhere else. Owns that no link of the project leads a write out of its place.

Whoever clones a project gets its links too: `.skillassay` or `evals/recordings` may lead to the user's own files. So
before a name that this program chose is written, each part of it below the root is looked at, and a link is refused,
wherever it leads. The root itself may be reached through links. Looked at is what lies there now; somebody who changes
the project meanwhile could write there anyway.
"""

from __future__ import annotations

import stat
from pathlib import Path

from skillassay.canonical import write_atomic
from skillassay.errors import StoreError


def refuse_links(root: Path, path: Path) -> None:
    """Raise :class:`StoreError` where ``path`` is not below ``root``, or a part of it below ``root`` is a link."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ("..",)
    if ".." in parts or not parts:
        raise StoreError(f"{path} does not lie below {root}", hint="name a path below the project's folder")
    here = root
    for part in parts:
        here /= part
        try:
            mode = here.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise StoreError(f"{here} cannot be looked at: {error.strerror or error}") from error
        if stat.S_ISLNK(mode):
            shown = here.relative_to(root).as_posix()
            message = f"{shown} is a link, and nothing is written through it: {path.relative_to(root).as_posix()}"
            raise StoreError(message, hint=f"look where {shown} leads, and put a folder or file of its own there")


def write_inside(root: Path, name: str, data: bytes) -> None:
    """Write the file ``name`` below ``root``, atomically. Raises :class:`StoreError` for a link, else ``OSError``."""
    refuse_links(root, root / name)
    write_atomic(root / name, data)
