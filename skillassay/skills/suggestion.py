"""Which part of a skill's version a change asks for, with every reason. Pure: two states in, a value out.

    patch  wording and comments
    minor  instructions, scripts, references and other files, description, allowed-tools, compatibility
    major  inputs: arguments of scripts, what the body says it must be given, files that others call, the skill's name

It goes by structure (:mod:`skillassay.skills.wording`, :mod:`skillassay.skills.arguments`), and so suggests: whoever
made the change knows what it means. The version itself never counts as a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.skills.arguments import differs_in_comments_alone, is_script, read_arguments
from skillassay.skills.skill import Skill
from skillassay.skills.wording import body_changes
from skillassay.versions import Part

_ORDER = (Part.MAJOR, Part.MINOR, Part.PATCH)
_KEYS = {"description": Part.MINOR, "allowed-tools": Part.MINOR, "compatibility": Part.MINOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A skill at one time: what SKILL.md says, its bytes, and the bytes of its other files by path."""

    skill: Skill
    main: bytes
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a part must be raised. ``path`` is from the skill's folder."""

    part: Part
    path: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The reasons, gravest first."""

    reasons: tuple[Reason, ...]

    @property
    def part(self) -> Part | None:
        """The part to raise; None where no bump is needed."""
        return self.reasons[0].part if self.reasons else None


def build_suggestion(before: State, after: State) -> Suggestion:
    """Compare two states of one skill."""
    found = [*_frontmatter(before.skill, after.skill), *_body(before, after), *_files(before, after)]
    has_other_bytes = _folded(before.main) != _folded(after.main)
    if not found and has_other_bytes and before.skill.version == after.skill.version:
        found.append(Reason(part=Part.PATCH, path=after.skill.file, message="how it is written, not what it says"))
    return suggestion_of(found)


def suggestion_of(reasons: list[Reason]) -> Suggestion:
    """The reasons in order: by part, file and line."""
    order = sorted(reasons, key=lambda one: (_ORDER.index(one.part), one.path, one.line or 0, one.message))
    return Suggestion(reasons=tuple(dict.fromkeys(order)))


def _frontmatter(before: Skill, after: Skill) -> Iterator[Reason]:
    if before.name != after.name:
        message = f"the skill is called {after.name!r} instead of {before.name!r}: who names it does not find it"
        yield Reason(part=Part.MAJOR, path=after.file, message=message, line=1)
    was, now = _stated(before), _stated(after)
    for key in sorted(was.keys() | now.keys()):
        if was.get(key) != now.get(key):
            what = "added" if key not in was else "removed" if key not in now else "changed"
            yield Reason(part=_KEYS.get(key, Part.PATCH), path=after.file, message=f"{key} {what}", line=1)


def _stated(skill: Skill) -> dict[str, Any]:
    """What the frontmatter says besides name and version."""
    metadata = {key: value for key, value in skill.metadata.items() if key != "version"}
    rest = {key: value for key, value in skill.frontmatter.items() if key not in {"name", "version", "metadata"}}
    return rest | ({"metadata": metadata} if metadata else {})


def _body(before: State, after: State) -> Iterator[Reason]:
    for change in body_changes(before.skill.body, after.skill.body, line=after.skill.body_line):
        yield Reason(part=change.part, path=after.skill.file, message=change.message, line=change.line)


def _files(before: State, after: State) -> Iterator[Reason]:
    was, now = before.files, after.files
    for path in sorted(was.keys() - now.keys()):
        yield _removed(path, before, after)
    for path in sorted(now.keys() - was.keys()):
        yield Reason(part=Part.MINOR, path=path, message="file added")
    for path in sorted(was.keys() & now.keys()):
        old, new = _folded(was[path]), _folded(now[path])
        if old != new:
            yield from _changed(path, old, new)


def _removed(path: str, before: State, after: State) -> Reason:
    new_path = next((name for name, data in after.files.items() if data == before.files[path]), None)
    what = "file removed" if new_path is None else f"file moved to {new_path}"
    texts = {before.skill.file: before.main, **before.files}
    callers = [name for name, data in texts.items() if name != path and path.encode() in data]
    if callers:
        return Reason(part=Part.MAJOR, path=path, message=f"{what}; {', '.join(sorted(callers))} named it")
    if is_script(path, before.files[path]):
        return Reason(part=Part.MAJOR, path=path, message=f"script removed: {what}")
    return Reason(part=Part.MINOR, path=path, message=what)


def _changed(path: str, old: bytes, new: bytes) -> Iterator[Reason]:
    if not (is_script(path, old) or is_script(path, new)):
        yield Reason(part=Part.MINOR, path=path, message="file changed")
        return
    try:
        before, after = old.decode(), new.decode()
    except UnicodeDecodeError:
        yield Reason(part=Part.MINOR, path=path, message="program changed")
        return
    if differs_in_comments_alone(path, before, after):
        yield Reason(part=Part.PATCH, path=path, message="comments of the script")
        return
    was, now = read_arguments(path, before), read_arguments(path, after)
    if was is None or now is None:
        message = "script changed; what it is called with cannot be read here: major if that changed"
        yield Reason(part=Part.MINOR, path=path, message=message)
        return
    gone = [f"no longer takes {name}" for name in was if name not in now]
    needed = [f"cannot be called without {name}" for name, must in now.items() if must and not was.get(name)]
    for message in (*gone, *needed):
        yield Reason(part=Part.MAJOR, path=path, message=f"the script {message}")
    if not gone and not needed:
        yield Reason(part=Part.MINOR, path=path, message="script changed, called as before")


def _folded(data: bytes) -> bytes:
    """The bytes as the digest counts them: of a text CRLF as LF."""
    if b"\0" in data:
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data
    return data.replace(b"\r\n", b"\n")
