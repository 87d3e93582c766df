"""A check of installed copies in words and as JSON. Owns both forms; compares nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillassay.canonical import Json
from skillassay.errors import Exit
from skillassay.locks.installed import ABSENT, DIFFERS, SAME, UNLOCKED, UNREADABLE, Installed
from skillassay.printable import one_line

_WORDS = {SAME: "same", DIFFERS: "DIFFERS", UNLOCKED: "NOT IN THE LOCK", ABSENT: "NOT THERE", UNREADABLE: "UNREADABLE"}
_FORMAT = 1
_MOST_VALUE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledReport:
    """The copies of one folder, against one lock; both as they were named."""

    folder: str
    lock: str
    skills: Sequence[Installed]

    @property
    def exit_code(self) -> Exit:
        """1 where a copy is not as locked, else 3 where one could not be compared, else 0."""
        statuses = {one.status for one in self.skills}
        if statuses - {SAME, UNREADABLE}:
            return Exit.FAILED
        return Exit.UNDECIDED if UNREADABLE in statuses else Exit.PASSED


def render_installed(report: InstalledReport) -> str:
    """A block for each copy, and how many are as locked."""
    lines = [line for one in report.skills for line in _block(one)]
    n_same = sum(one.status == SAME for one in report.skills)
    total = f"{len(report.skills)} skill{'' if len(report.skills) == 1 else 's'}"
    return "\n".join([*lines, f"{n_same} of {total} as locked in {one_line(report.lock)}"])


def _block(one: Installed) -> Iterator[str]:
    locked = "" if one.locked is None else f": {one_line(one.locked)} {one.version}"
    yield f"{one_line(one.folder or '-')}{locked}: {_WORDS[one.status]}"
    for word, paths in (("edited", one.edited), ("missing", one.missing), ("added", one.added)):
        yield from (f"    {word:<8}  {one_line(path)}" for path in paths)
    if one.rewritten:
        yield "    SKILL.md was written anew: the same values and the same body as the locked one, in other bytes"
    if one.older is not None:
        version, revision = one.older
        yield f"    it is version {version} of the lock at {revision}"
    if one.why is not None:
        yield f"    {one_line(one.why)}"
    yield from (f"    by an installer: {one_line(path)}" for path in one.installer_files)
    for key, value in one.installer_keys.items():
        yield f"    by an installer: metadata.{key}: {one_line(value, _MOST_VALUE)} in SKILL.md"
    if one.renamed_from is not None:
        yield f"    note: the folder is called {one_line(one.renamed_from)} in the lock"
    if one.crlf:
        yield f"    note: {len(one.crlf)} text file{'' if len(one.crlf) == 1 else 's'} with CRLF line ends, read as LF"
    if one.left_out:
        yield f"    note: in no digest, and not compared: {', '.join(map(one_line, one.left_out))}"


def installed_json(report: InstalledReport) -> dict[str, Json]:
    """The report as JSON (docs/reference/installed.md)."""
    return {
        "installed": _FORMAT,
        "folder": report.folder,
        "lock": report.lock,
        "exit_code": int(report.exit_code),
        "skills": [_json(one) for one in report.skills],
    }


def _json(one: Installed) -> dict[str, Json]:
    older: Json = None if one.older is None else {"version": one.older[0], "revision": one.older[1]}
    return {
        "folder": one.folder or None,
        "status": one.status,
        "locked": one.locked,
        "version": one.version,
        "locked_digest": one.locked_digest,
        "digest": one.digest,
        "edited": list(one.edited),
        "missing": list(one.missing),
        "added": list(one.added),
        "installer": {"files": list(one.installer_files), "keys": dict(one.installer_keys)},
        "rewritten": one.rewritten,
        "older": older,
        "renamed_from": one.renamed_from,
        "crlf": list(one.crlf),
        "left_out": list(one.left_out),
        "why": one.why,
    }
