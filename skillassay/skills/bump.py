"""Edits a skill's version in place. Owns the edit; every other byte of SKILL.md stays as it was.

What is kept: comments, quoting style, line ends, byte-order mark, order of keys. The edit is made on the text at the
parser's marks, and is then read back: body and every value but the version must be what they were, and the version what
was asked for. Where that cannot be had, ``InputError`` says what to do by hand and nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from skillassay.canonical import write_atomic
from skillassay.errors import InputError
from skillassay.findings import Finding, Severity
from skillassay.skills.frontmatter import Document, Frontmatter, FrontmatterProblem, read_frontmatter, split_document
from skillassay.skills.skill import Skill, parse_skill
from skillassay.versions import Part, is_semver, next_version, suggest_version

FIRST_VERSION = "0.1.0"
_BY_HAND = 'write the version by hand: `version: "X.Y.Z"` under `metadata:`'


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionEdit:
    """An edit of SKILL.md: its bytes after it, the version before (None: there was none) and after, and what was done.

    ``data`` equals the old bytes when nothing was to be done.
    """

    data: bytes
    old: str | None
    new: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """Put ``text`` in place of the frontmatter's characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


def bump_version(data: bytes, *, part: Part, path: str) -> tuple[bytes, str, str]:
    """Raise one part of the version: (new bytes, old version, new version). ``path`` is SKILL.md's, for messages.

    The version is ``metadata.version``, else a top-level ``version``; where both stand and agree, both are raised.
    """
    document, front = _open(data, path)
    places = _version_places(front, path)
    if not places:
        raise InputError(f"{path} has no version", hint="run `skillassay bump --init` for this skill")
    old = _text_at(front, places[0])
    if not is_semver(old):
        hint = "run `skillassay bump --init` for this skill, which rewrites it"
        raise InputError(f"{path}: version {old!r} is not SemVer (X.Y.Z)", hint=hint)
    new = next_version(old, part)
    changes = [_replace(document, front, place, new, path=path) for place in places]
    return _applied(data, document, changes, new, path=path), old, new


def init_version(data: bytes, *, path: str, version: str = FIRST_VERSION) -> VersionEdit:
    """Give the skill a SemVer ``metadata.version``: unchanged where it has one; else in the smallest edit.

    ``1.0`` and ``v1`` are rewritten where they stand; a top-level ``version`` is repeated under ``metadata``; where
    there is none, ``version`` is added.
    """
    document, front = _open(data, path)
    places = _version_places(front, path)
    old = _text_at(front, places[0]) if places else None
    new = version if old is None else old if is_semver(old) else suggest_version(old)
    if new is None or not is_semver(new):
        raise InputError(f"{path}: version {old or version!r} has no SemVer reading", hint=_BY_HAND)
    changes, done = [], []
    if old is not None and new != old:
        changes += [_replace(document, front, place, new, path=path) for place in places]
        done.append(f"rewrote version {old!r} as {new}")
    if ("metadata", "version") not in places:
        changes.append(_added(document, front, new, path=path))
        done.append(f"added metadata.version {new}" + (", as the top-level `version` says" if old is not None else ""))
    if not changes:
        return VersionEdit(data=data, old=old, new=new, says=f"nothing to do: metadata.version is {new}")
    return VersionEdit(
        data=_applied(data, document, changes, new, path=path), old=old, new=new, says=" and ".join(done)
    )


def apply_bump(root: Path, skill: Skill, *, part: Part) -> VersionEdit:
    """Raise a skill's version on disk. Raises ``InputError`` and leaves the file as it was."""
    target, data = _load(root, skill)
    changed, old, new = bump_version(data, part=part, path=skill.file_path)
    write_atomic(target, changed)
    return VersionEdit(data=changed, old=old, new=new, says=f"{old} is now {new}")


def apply_init(root: Path, skill: Skill, *, version: str = FIRST_VERSION) -> VersionEdit:
    """Give a skill on disk a version. Raises ``InputError`` and leaves the file as it was."""
    target, data = _load(root, skill)
    edit = init_version(data, path=skill.file_path, version=version)
    if edit.data != data:
        write_atomic(target, edit.data)
    return edit


def _load(root: Path, skill: Skill) -> tuple[Path, bytes]:
    # The real path: a rename over a link would turn the link into a file.
    target = (root / skill.file_path).resolve()
    try:
        return target, target.read_bytes()
    except OSError as error:
        raise InputError(f"{skill.file_path} cannot be read: {error.strerror}") from error


def _open(data: bytes, path: str) -> tuple[Document, Frontmatter]:
    try:
        document = split_document(data)
        return document, read_frontmatter(document)
    except FrontmatterProblem as problem:
        found = Finding(
            code=problem.code,
            severity=Severity.ERROR,
            path=path,
            message=problem.message,
            hint=problem.hint,
            line=problem.line,
        )
        message = f"{path} cannot be edited, line {problem.line}: {problem.message}"
        raise InputError(message, hint=problem.hint, findings=(found,)) from problem


def _version_places(front: Frontmatter, path: str) -> list[tuple[str, ...]]:
    metadata = front.values.get("metadata", {})
    places: list[tuple[str, ...]] = []
    if isinstance(metadata, dict) and "version" in metadata:
        places.append(("metadata", "version"))
    if "version" in front.values:
        places.append(("version",))
    texts = [_text_at(front, place) for place in places]
    if any(not isinstance(text, str) for text in texts):
        raise InputError(f"{path}: the version is not text", hint=_BY_HAND)
    if len(set(texts)) > 1:
        hint = "keep `metadata.version` and remove `version`"
        raise InputError(f"{path}: `metadata.version` {texts[0]!r} and `version` {texts[1]!r} disagree", hint=hint)
    return places


def _text_at(front: Frontmatter, place: tuple[str, ...]) -> Any:
    value: Any = front.values
    for key in place:
        value = value[key]
    return value


def _replace(document: Document, front: Frontmatter, place: tuple[str, ...], new: str, *, path: str) -> _Change:
    """The change of one scalar, inside its quotes."""
    event = front.places[place][1]
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in ("'", '"'):
        start, end = start + 1, end - 1
    if document.yaml[start:end] != event.value:
        message = f"{path}: the version is written over several lines or with escapes"
        raise InputError(message, hint=_BY_HAND)
    return _Change(start=start, end=end, text=new)


def _added(document: Document, front: Frontmatter, new: str, *, path: str) -> _Change:
    """The change that adds ``metadata.version``."""
    text, line = document.yaml, f'version: "{new}"'
    first = min((key.start_mark.index for key, _ in front.places.values()), default=0)
    indent = text[text.rfind("\n", 0, first) + 1 : first]
    if ("metadata",) not in front.places:
        if text[:first].rstrip().endswith("{"):
            return _inserted(first, f"metadata: {{{line}}}, ")
        if indent.strip():
            _refuse(path)
        return _inserted(len(text), f"{indent}metadata:\n{indent}  {line}\n")
    if ("metadata", "version") in front.places:  # a null: the key is there
        key, value = front.places[("metadata", "version")]
        start, end = value.start_mark.index, value.end_mark.index
        return (
            _inserted(key.end_mark.index + 1, f' "{new}"')
            if start == end
            else _Change(start=start, end=end, text=f'"{new}"')
        )
    key, value = front.places[("metadata",)]
    start = value.start_mark.index
    metadata = front.values.get("metadata")
    if isinstance(metadata, dict) and value.flow_style:
        return _inserted(start + 1, f"{line}, " if metadata else line)
    if isinstance(metadata, dict):
        begin = text.rfind("\n", 0, start) + 1
        return _refuse(path) if text[begin:start].strip() else _inserted(begin, f"{text[begin:start]}{line}\n")
    if metadata is None and start == value.end_mark.index:
        return _inserted(text.index("\n", key.end_mark.index) + 1, f"{indent}  {line}\n")
    return _refuse(path)


def _inserted(at: int, text: str) -> _Change:
    return _Change(start=at, end=at, text=text)


def _refuse(path: str) -> NoReturn:
    raise InputError(f"{path}: `metadata` cannot be added to as it is written", hint=_BY_HAND)


def _applied(data: bytes, document: Document, changes: list[_Change], new: str, *, path: str) -> bytes:
    """The file with the changes made, checked by reading it again."""
    text = data.decode()
    begin = 1 if document.has_bom else 0
    opening = text.index("\n", text.index("---"))
    newline = "\r\n" if text[opening - 1] == "\r" else "\n"
    for change in sorted(changes, key=lambda one: one.start, reverse=True):
        start = begin + _unfolded(text[begin:], document.text, document.start + change.start)
        end = begin + _unfolded(text[begin:], document.text, document.start + change.end)
        text = text[:start] + change.text.replace("\n", newline) + text[end:]
    changed = text.encode()
    _verify(data, changed, new, path=path)
    return changed


def _unfolded(text: str, folded: str, index: int) -> int:
    """The place in ``text``, which may have CRLF, of a place in the same text with LF."""
    at = 0
    for _ in range(folded.count("\n", 0, index)):
        at = text.index("\n", at) + 1
    return at + index - (folded.rfind("\n", 0, index) + 1)


def _verify(before: bytes, after: bytes, new: str, *, path: str) -> None:
    old_skill, old_findings = parse_skill(before, path=path, folder_name=None)
    new_skill, new_findings = parse_skill(after, path=path, folder_name=None)
    try:
        old_front, new_front = (read_frontmatter(split_document(data)) for data in (before, after))
        same = _without_version(old_front.values) == _without_version(new_front.values)
        same = same and split_document(before).body == split_document(after).body
        reached = {_text_at(new_front, place) for place in _version_places(new_front, path)} == {new}
    except FrontmatterProblem:
        same = reached = False
    added = {one.code for one in new_findings} - {one.code for one in old_findings}
    if not (same and reached) or (old_skill is None) != (new_skill is None) or added:
        raise InputError(f"{path}: the version cannot be edited safely as the file is written", hint=_BY_HAND)


def _without_version(values: Any) -> dict[str, Any]:
    kept = {key: value for key, value in values.items() if key != "version"}
    metadata = kept.get("metadata")
    if isinstance(metadata, dict):
        kept["metadata"] = {key: value for key, value in metadata.items() if key != "version"}
    return {key: value for key, value in kept.items() if key != "metadata" or value}
