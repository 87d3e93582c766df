"""Which skills a project has. Owns the search; a bad skill becomes a package with findings and never hides the others.

A glob names skill folders from the project root, ``/`` between parts, ``*``, ``?`` and ``[seq]`` within one; a part
with a sign matches names that begin with a dot only where it begins with one; ``.`` is the root itself as one skill.
Folders without a SKILL.md, in any case of its letters, are passed over. A folder reached twice, by a link or by two
globs, counts once, under its own path where a glob names it. Links to folders outside the project are not followed.
"""

from __future__ import annotations

import fnmatch
import os
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import InputError
from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.skills.adk_lints import Reading, lint_loading, lint_scripts
from skillassay.skills.digest import NO_SKILL_FILE, SKILL_FILE, SkillFiles, read_files
from skillassay.skills.lints import Text, lint_body, lint_visibility
from skillassay.skills.skill import Skill, parse_skill

NO_SKILLS = register("discovery.no-skills", "The globs find no skill.")
UNKNOWN_SKILL = register("discovery.unknown-skill", "A skill that was asked for does not exist.")
SAME_NAME = register("discovery.same-name", "Two skills have one name.")
LINK_OUTSIDE = register("discovery.link-outside", "A skill's folder is a link that leads out of the project.")
LINK_DANGLES = register("discovery.link-dangles", "A link where a skill's folder could stand leads to nothing.")
FOLDER_NAME = register(
    "discovery.folder-name", "A folder's name is not UTF-8, or holds control characters or a backslash."
)
UNREADABLE = register("discovery.unreadable", "A folder that a glob searches cannot be listed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillPackage:
    """One skill folder: what its SKILL.md says, its files, and what is wrong with it.

    ``path`` is POSIX, from the project root. ``skill`` is None when no client could load it, ``files`` when the folder
    could not be read; the findings say why.
    """

    path: str
    skill: Skill | None
    files: SkillFiles | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """All skills, sorted by path; ``findings`` are those of the search alone."""

    packages: tuple[SkillPackage, ...]
    findings: tuple[Finding, ...]

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings of the search and of every package, in display order."""
        return sort_findings([*self.findings, *(one for package in self.packages for one in package.findings)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """A folder met by a glob: where it lies, its path to show, and whether a link stood on the way."""

    absolute: str
    path: str
    is_linked: bool


def discover(
    root: Path, *, globs: Sequence[str], ignore: Sequence[str] = (), only: Collection[str] | None = None
) -> Discovery:
    """Find and read every skill. ``only`` keeps those whose name, folder path or folder name it holds.

    Raises ``InputError`` for a root that is no folder and for a glob that leaves it.
    """
    search = _Search(root)
    for glob in globs:
        search.add(glob)
    packages = []
    for folder in search.folders():
        package = load_package(folder.absolute, path=folder.path, ignore=ignore)
        if package is not None:
            packages.append(package)
    findings = search.findings
    if not packages and only is None:
        hint = "put a SKILL.md in a folder that one of them names, or name its folder in the contract"
        findings.append(_finding(NO_SKILLS, ".", f"no skill found by {', '.join(globs) or 'no glob at all'}", hint))
    if only is not None:
        findings.extend(_missing(packages, only))
        packages = [package for package in packages if _answers_to(package) & set(only)]
    findings.extend(_same_names(packages))
    return Discovery(packages=tuple(packages), findings=sort_findings(findings))


def load_package(folder: str, *, path: str, ignore: Sequence[str] = ()) -> SkillPackage | None:
    """Read, parse and lint one skill folder; None when it holds no SKILL.md in any spelling."""
    files, data, findings = read_files(folder, path=path, ignore=ignore)
    if files is None and findings and findings[0].code == NO_SKILL_FILE:
        return None
    if data is None or files is None:
        return SkillPackage(path=path, skill=None, files=files, findings=findings)
    paths = [entry.path for entry in files.entries]
    file = SKILL_FILE if SKILL_FILE in paths else next(one for one in paths if one.lower() == "skill.md")
    name = None if path == "." else path.rpartition("/")[2]
    skill, parsed = parse_skill(data, path=path, folder_name=name, file=file)
    found = [*findings, *parsed]
    if skill is not None:
        text = Text(path=skill.file_path, body=skill.body, line=skill.body_line)
        found += lint_body(text, paths=frozenset(paths), left_out=files.left_out)
        unseen = lint_visibility(text.path, paths=paths, skill_file=file)
        found += [unseen] if unseen is not None else []
        if not any(finding.severity is Severity.ERROR for finding in parsed):
            reading = Reading(path=text.path, folder_name=name, description=skill.description, body=skill.body)
            scripts = lint_scripts(text.path, [(entry.path, Path(entry.source)) for entry in files.entries])
            found += [one for one in (lint_loading(data, reading), scripts) if one is not None]
    return SkillPackage(path=path, skill=skill, files=files, findings=sort_findings(found) if found else ())


class _Search:
    """The folders that the globs name, each once."""

    __slots__ = ("_found", "_root", "findings")

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        if not os.path.isdir(self._root):  # noqa: PTH112 - the search works on plain strings
            raise InputError(f"{root} is not a folder", hint="give the project's root folder")
        self._found: dict[str, _Folder] = {}
        self.findings: list[Finding] = []

    def folders(self) -> list[_Folder]:
        return sorted(self._found.values(), key=lambda folder: folder.path)

    def add(self, glob: str) -> None:
        """Expand one glob. Raises ``InputError`` when it leaves the root."""
        parts = [part for part in glob.split("/") if part not in ("", ".")]
        if glob.startswith(("/", "~")) or ".." in parts or "\\" in glob or glob[1:2] == ":" or not glob.strip():
            hint = "write it relative to the project root, as in skills/*"
            raise InputError(f"the glob {glob!r} leaves the project or is no path in it", hint=hint)
        folders = [_Folder(absolute=self._root, path=".", is_linked=False)]
        for part in parts:
            folders = [inner for folder in folders for inner in self._expand(folder, part)]
        for folder in folders:
            self._keep(folder)

    def _keep(self, folder: _Folder) -> None:
        real = os.path.realpath(folder.absolute) if folder.is_linked else folder.absolute
        if real != self._root and not real.startswith(self._root + os.sep):
            if os.path.lexists(f"{folder.absolute}/{SKILL_FILE}"):
                message = "the folder is a link that leads out of the project"
                self.findings.append(_finding(LINK_OUTSIDE, folder.path, message, "copy the skill into the project"))
            return
        known = self._found.get(real)
        if known is None or (folder.is_linked, folder.path) < (known.is_linked, known.path):
            self._found[real] = folder

    def _expand(self, folder: _Folder, part: str) -> Iterator[_Folder]:
        has_sign = any(sign in part for sign in "*?[")
        try:
            with os.scandir(folder.absolute) as listing:
                entries = list(listing)
        except OSError as error:
            self.findings.append(_finding(UNREADABLE, folder.path, f"the folder cannot be listed: {error.strerror}"))
            return
        for entry in entries:
            name = _text_of(entry.name)
            shown = name if name is not None else ascii(entry.name)
            if has_sign:
                if not fnmatch.fnmatchcase(shown, part) or (shown[0] == "." and part[0] != "."):
                    continue
            elif shown != part:
                continue
            path = shown if folder.path == "." else f"{folder.path}/{shown}"
            if entry.is_dir() and name is not None:
                is_linked = folder.is_linked or entry.is_symlink()
                yield _Folder(absolute=entry.path, path=path, is_linked=is_linked)
            else:
                self._pass_over(entry, path)

    def _pass_over(self, entry: os.DirEntry[str], path: str) -> None:
        """What is no folder is no skill; two things are worth a word."""
        if entry.is_dir():
            message = "the folder's name is not UTF-8, or holds control characters or a backslash"
            self.findings.append(_finding(FOLDER_NAME, path, message, "rename the folder"))
        elif entry.is_symlink() and not os.path.exists(entry.path):  # noqa: PTH110 - plain strings, as above
            message, hint = "the link leads to nothing", "remove it, or restore its target"
            self.findings.append(_finding(LINK_DANGLES, path, message, hint))


def _text_of(name: str) -> str | None:
    if name.isascii() and name.isprintable() and "\\" not in name:
        return name
    try:
        text = os.fsencode(name).decode()
    except UnicodeDecodeError:
        return None
    if "\\" in text or any(unicodedata.category(sign) == "Cc" for sign in text):
        return None
    return unicodedata.normalize("NFC", text)


def _answers_to(package: SkillPackage) -> set[str]:
    names = {package.path, package.path.rpartition("/")[2]}
    return names | {package.skill.name} if package.skill is not None else names


def _missing(packages: Sequence[SkillPackage], only: Collection[str]) -> Iterator[Finding]:
    known = set().union(*(_answers_to(package) for package in packages)) if packages else set()
    for name in sorted(set(only) - known):
        shown = ", ".join(package.skill.name if package.skill else package.path for package in packages[:20])
        yield _finding(UNKNOWN_SKILL, ".", f"no skill is called {name!r}", f"there are: {shown or 'none'}")


def _same_names(packages: Sequence[SkillPackage]) -> Iterator[Finding]:
    first: dict[str, Skill] = {}
    for package in packages:
        skill = package.skill
        if skill is None:
            continue
        other = first.setdefault(skill.name, skill)
        if other is not skill:
            message = f"two skills are called `{skill.name}`: `{other.path}` and `{skill.path}`"
            hint = "rename one: by name, clients load only one of the two"
            yield Finding(
                code=SAME_NAME, severity=Severity.WARNING, path=skill.file_path, message=message, hint=hint, line=1
            )


def _finding(code: str, path: str, message: str, hint: str | None = None) -> Finding:
    severity = Severity.WARNING if code == LINK_DANGLES else Severity.ERROR
    return Finding(code=code, severity=severity, path=path, message=message, hint=hint)
