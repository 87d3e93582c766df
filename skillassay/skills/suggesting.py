"""The state that a skill's change is counted from, out of lock and git. Owns what is known and what is not.

With a revision it is the skill at that revision, else the skill as it was locked last: its bytes from the newest commit
that has them. Where git cannot give those, the lock still says which files changed, and the suggestion says that it
knows no more. Writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import InputError
from skillassay.findings import has_errors
from skillassay.locks.lock import MISSING
from skillassay.locks.lockfile import LockEntry
from skillassay.locks.locking import read_lock
from skillassay.project import Project, ReadySkill
from skillassay.skills.earlier import load_earlier
from skillassay.skills.git_folder import GitFolders
from skillassay.skills.suggestion import Reason, State, Suggestion, build_suggestion, suggestion_of
from skillassay.versions import Part, compare_versions, is_semver, next_version

WHOLE, FILES, NOTHING = "whole", "files", "nothing"
"""How much of the earlier state is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """A suggestion and what it rests on. ``since`` says in words what was compared with; ``unknown`` what is not known.

    ``enough`` says that the version now is already as high as the suggestion asks.
    """

    path: str
    version: str | None
    old_version: str | None
    since: str
    known: str
    suggestion: Suggestion
    unknown: str | None = None

    @property
    def part(self) -> Part | None:
        """The part that the change asks for, counted from the earlier version."""
        return self.suggestion.part

    @property
    def enough(self) -> bool:
        """Whether nothing is left to raise."""
        if self.part is None:
            return True
        old, new = self.old_version, self.version
        if old is None or new is None or not (is_semver(old) and is_semver(new)):
            return False
        return compare_versions(new, next_version(old, self.part)) >= 0


def suggest(project: Project, path: str, *, base: str | None = None) -> Suggested:
    """Which part of the version of the skill at ``path`` its change asks for.

    Raises :class:`InputError` where nothing says what to compare with: an unreadable skill or lock, no lock and no
    ``base``, an unknown revision.
    """
    ready = next((one for one in project.usable if one.path == path), None)
    if ready is None:
        found = next((package.findings for package in project.packages if package.path == path), ())
        raise InputError(f"{path} cannot be read", hint="mend it first", findings=found)
    if base is not None:
        return _since_revision(project, ready, base)
    entry = _locked(project.root, path)
    if entry is None:
        return _nothing(ready, since="the lock", why="it was never locked, so that any first version will do")
    if entry.digest == ready.digest:
        since = f"{entry.version}, as locked"
        return _same(ready, since=since, old_version=entry.version)
    try:
        earlier = load_earlier(project, [path], base=None).get(path)
        why = "no commit here has the bytes that were locked (a shallow clone, or locked before they were committed)"
    except InputError as problem:
        earlier, why = None, problem.message
    if earlier is None:
        return _by_files(ready, entry, why)
    since = f"{entry.version}, as locked, from commit {earlier.commit[:12]}"
    return _compared(ready, earlier.ready, since=since)


def _since_revision(project: Project, ready: ReadySkill, base: str) -> Suggested:
    earlier = load_earlier(project, [ready.path], base=base).get(ready.path)
    if earlier is not None:
        return _compared(ready, earlier.ready, since=f"{base}, commit {earlier.commit[:12]}")
    if not GitFolders(project.root, ready.path).listing(base):
        return _nothing(ready, since=base, why="it did not exist then, so that any first version will do")
    return _same(ready, since=base, old_version=ready.skill.version)


def _locked(root: Path, path: str) -> LockEntry | None:
    lock, findings = read_lock(root)
    if any(finding.code == MISSING for finding in findings):
        hint = "lock the skills first, or name what to compare with: --base REF"
        raise InputError("there is no lock, so nothing says what the change is counted from", hint=hint)
    if lock is None or has_errors(findings):
        raise InputError("the lock cannot be read", findings=findings)
    return lock.skills.get(path)


def _same(ready: ReadySkill, *, since: str, old_version: str | None) -> Suggested:
    return Suggested(
        path=ready.path,
        version=ready.skill.version,
        old_version=old_version,
        since=since,
        known=WHOLE,
        suggestion=suggestion_of([]),
    )


def _nothing(ready: ReadySkill, *, since: str, why: str) -> Suggested:
    return Suggested(
        path=ready.path,
        version=ready.skill.version,
        old_version=None,
        since=since,
        known=NOTHING,
        suggestion=suggestion_of([]),
        unknown=why,
    )


def _compared(ready: ReadySkill, earlier: ReadySkill, *, since: str) -> Suggested:
    return Suggested(
        path=ready.path,
        version=ready.skill.version,
        old_version=earlier.skill.version,
        since=since,
        known=WHOLE,
        suggestion=build_suggestion(_state(earlier), _state(ready)),
    )


def _state(ready: ReadySkill) -> State:
    try:
        data = {entry.path: Path(entry.source).read_bytes() for entry in ready.files.entries}
    except OSError as error:
        raise InputError(f"{ready.path}: a file cannot be read: {error.strerror}") from error
    return State(skill=ready.skill, main=data.pop(ready.skill.file), files=data)


def _by_files(ready: ReadySkill, entry: LockEntry, why: str) -> Suggested:
    """What the lock alone tells: which files are other ones. No less than minor, since what changed is not known."""
    now = {file.path: file.sha256 for file in ready.files.entries}
    reasons = [
        Reason(part=Part.MINOR, path=name, message=_what(name in entry.files, name in now))
        for name in sorted({*now, *entry.files})
        if now.get(name) != entry.files.get(name)
    ]
    return Suggested(
        path=ready.path,
        version=ready.skill.version,
        old_version=entry.version,
        since=f"{entry.version}, as locked",
        known=FILES,
        suggestion=suggestion_of(reasons),
        unknown=f"what changed inside the files, so that it is at least minor and may be major: {why}",
    )


def _what(was_there: bool, is_there: bool) -> str:  # noqa: FBT001 - two facts of one file
    return "file changed" if was_there and is_there else "file added" if is_there else "file removed"
