"""A symbolic link inside a folder: where it leads, step by step. Owns the rule that no step may leave the folder.

A link that leaves and comes back is refused too: it depends on what the folder is called. Absolute links leave,
wherever they lead. The folder itself may be reached through links; only what lies below it is judged.
"""

from __future__ import annotations

import os
import stat
from enum import StrEnum

MAX_HOPS = 40
"""As many links in a row as Linux follows."""


class LinkFault(StrEnum):
    """Why a link does not count as a file of its folder."""

    LEAVES = "leaves"
    DANGLES = "dangles"
    LOOPS = "loops"
    TO_FOLDER = "to-folder"
    SPECIAL = "special"


def resolve_link(root: str, link: str) -> tuple[LinkFault | None, str]:
    """The regular file inside ``root`` that ``link`` (a path below ``root``) leads to, as (None, path).

    Otherwise (fault, what to say of the link). Raises ``OSError`` where the folder cannot be read.
    """
    todo = link[len(root) + 1 :].replace(os.sep, "/").split("/")[::-1]
    done: list[str] = []
    n_hops = 0
    target = os.readlink(link)  # noqa: PTH115 - plain strings throughout, as the walk that calls this
    shown = os.fsencode(target).decode("utf-8", "backslashreplace")
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                is_folder = {"", ".", ".."}.issuperset(todo)  # no name follows that could be a file's
                where = "leads to a folder outside the skill's" if is_folder else "leaves the skill's folder"
                return LinkFault.LEAVES, f"the link to `{shown}` {where}"
            done.pop()
            continue
        here = "/".join((root, *done, part))
        try:
            mode = os.lstat(here).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return LinkFault.DANGLES, f"the link leads to `{shown}`, which does not exist"
        if not stat.S_ISLNK(mode):
            done.append(part)
            continue
        n_hops += 1
        target = os.readlink(here).replace(os.sep, "/")  # noqa: PTH115 - as above
        if n_hops > MAX_HOPS:
            return LinkFault.LOOPS, f"the link to `{shown}` leads back to itself"
        if os.path.isabs(target):  # noqa: PTH117 - as above
            return LinkFault.LEAVES, f"the link to `{shown}` is absolute"
        todo.extend(target.split("/")[::-1])
    return _judge_target("/".join((root, *done)), link, shown)


def _judge_target(resolved: str, link: str, shown: str) -> tuple[LinkFault | None, str]:
    mode = os.lstat(resolved).st_mode
    if stat.S_ISREG(mode):
        return None, resolved
    if not stat.S_ISDIR(mode):
        return LinkFault.SPECIAL, f"the link to `{shown}` leads to neither a file nor a folder"
    if link.replace(os.sep, "/").startswith(f"{resolved}/"):
        return LinkFault.LOOPS, f"the link to `{shown}` leads to a folder that holds the link"
    return LinkFault.TO_FOLDER, f"the link to `{shown}` leads to a folder"
