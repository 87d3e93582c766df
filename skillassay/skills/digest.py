"""The files of a skill and their digest. Owns the manifest, to the byte; takes no notice of modes, times and owners.

Manifest: for each file one line ``<SHA-256 of its content, 64 lowercase hex>`` two spaces ``<path>`` LF. Paths are
POSIX, relative to the skill's folder, UTF-8, in NFC; lines are sorted by the bytes of the path. The digest is the
SHA-256 of the manifest in lowercase hex (in-toto's ``dirHash``; Go's ``h1:`` holds the same hash in base64). On a
checkout with LF line ends and nothing to leave out, in the skill's folder:

    find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum

Content: of a text file (UTF-8 without NUL) every CRLF counts as LF, so that a Windows checkout verifies; a lone CR is
content; other files count byte for byte. Left out: ``ignore.DEFAULT_IGNORE`` and the caller's patterns. Empty folders
do not count. A link to a regular file inside the skill counts as that file, under the link's path.

Refused, each by a finding and without digest: links that leave, dangle, loop or lead to a folder; what is neither file
nor folder; names with control characters or backslashes, or not UTF-8; names that are one after NFC or case folding;
files of more than 512 MiB (SKILL.md: 4 MiB); shell scripts with CRLF, which Linux cannot run and folding would hide.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.skills.content import TooLarge, read_content
from skillassay.skills.ignore import build_ignore
from skillassay.skills.links import LinkFault, resolve_link

NO_SKILL_FILE = register("digest.no-skill-file", "The folder has no SKILL.md.")
SKILL_FILE_NAME = register(
    "digest.skill-file-name", "SKILL.md is spelled in other case, and some clients do not find it."
)
NOT_A_FILE = register("digest.skill-file-not-a-file", "SKILL.md is a folder.")
LINK_LEAVES = register("digest.link-leaves", "A link leads out of the skill's folder, or is absolute.")
LINK_DANGLES = register("digest.link-dangles", "A link leads to nothing.")
LINK_LOOPS = register("digest.link-loops", "A link leads back to itself or to a folder that holds it.")
LINK_TO_FOLDER = register("digest.link-to-folder", "A link leads to a folder.")
SPECIAL = register("digest.special-file", "A pipe, socket or device stands in the skill's folder.")
UNREADABLE = register("digest.unreadable", "A file or folder of the skill cannot be read.")
NAME_CONTROL = register("digest.name-control", "A file name holds control characters.")
NAME_BACKSLASH = register("digest.name-backslash", "A file name holds a backslash.")
NAME_NOT_UTF8 = register("digest.name-not-utf8", "A file name is not UTF-8.")
NAME_COLLISION = register("digest.name-collision", "Two names are one name on some file systems.")
NAME_DECOMPOSED = register("digest.name-decomposed", "A file name is stored decomposed (NFD); it is hashed in NFC.")
TOO_LARGE = register("digest.file-too-large", "A file of the skill is larger than 512 MiB, or SKILL.md than 4 MiB.")
SCRIPT_CRLF = register("digest.script-crlf", "A script has CRLF line ends, with which it does not start on Unix.")
_WARNINGS = frozenset((SKILL_FILE_NAME, NAME_DECOMPOSED))  # the others are errors; SCRIPT_CRLF is either

_LINKS = {
    LinkFault.LEAVES: LINK_LEAVES,
    LinkFault.DANGLES: LINK_DANGLES,
    LinkFault.LOOPS: LINK_LOOPS,
    LinkFault.TO_FOLDER: LINK_TO_FOLDER,
    LinkFault.SPECIAL: SPECIAL,
}

SKILL_FILE = "SKILL.md"
MAX_FILE_BYTES = 512 << 20
MAX_SKILL_FILE_BYTES = 4 << 20
_SHELL_ENDINGS = (".sh", ".bash")
_SHELLS = frozenset((b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh", b"fish", b"csh", b"tcsh"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file of a skill. ``size`` counts the bytes as hashed; ``crlf`` says that CRLF was read as LF.

    ``path`` is POSIX and NFC, from the skill's folder; ``source`` is where the bytes lie (the target, for a link).
    """

    path: str
    sha256: str
    size: int
    source: str
    crlf: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFiles:
    """The files of a skill, sorted by path. ``digest`` is None when a finding of :func:`read_files` is an error.

    ``left_out`` names what the ignore list left out (folders end in ``/``); ``folded`` the files that the manifest of
    the tree as stored would show otherwise: CRLF read as LF, a name stored in NFD, a link read as its target.
    """

    digest: str | None
    entries: tuple[FileEntry, ...]
    left_out: tuple[str, ...]
    folded: tuple[str, ...]

    @property
    def dir_hash(self) -> str | None:
        """The digest where it is also in-toto's ``dirHash`` of the files as stored: nothing was folded."""
        return None if self.folded else self.digest


def build_manifest(files: Iterable[tuple[str, str]]) -> bytes:
    """The manifest of (path, SHA-256 hex) pairs."""
    # Sorting text sorts its UTF-8 bytes too: code point order is UTF-8 byte order.
    return "".join([f"{sha256}  {path}\n" for path, sha256 in sorted(files)]).encode()


def read_files(
    folder: str | Path, *, path: str, ignore: Sequence[str] = ()
) -> tuple[SkillFiles | None, bytes | None, tuple[Finding, ...]]:
    """Read every file of the skill in ``folder`` once: the files, the raw bytes of SKILL.md, and findings.

    ``path`` is the folder's POSIX path from the project root, for the findings. No files come back when the folder has
    no SKILL.md under any spelling, or cannot be listed; nothing below it is read then.
    """
    walk = _Walk(os.path.abspath(folder), path, tuple(ignore))  # noqa: PTH100 - links above the skill stay as they are
    files = walk.run()
    return files, walk.skill_data, sort_findings(walk.findings) if walk.findings else ()


class _Walk:
    """One pass over a folder. Plain strings and one open per file: a thousand skills are read in a moment."""

    __slots__ = (
        "_decomposed", "_entries", "_folded", "_ignore", "_left_out", "_pending", "_prefix", "_root", "_skill_file",
        "findings", "skill_data",
    )  # fmt: skip

    def __init__(self, root: str, path: str, ignore: tuple[str, ...]) -> None:
        self._root = root
        self._prefix = "" if path == "." else f"{path}/"
        self._ignore = build_ignore(ignore)
        self._skill_file = SKILL_FILE
        self._entries: list[FileEntry] = []
        self._left_out: list[str] = []
        self._folded: list[str] = []
        self._decomposed: list[str] = []
        self._pending: list[tuple[str, str]] = []
        self.findings: list[Finding] = []
        self.skill_data: bytes | None = None

    def run(self) -> SkillFiles | None:
        top = self._list(self._root, "")
        if top is None or not self._find_skill_file(top):
            return None
        self._folder(top, "")
        while self._pending:
            folder, rel = self._pending.pop()
            inner = self._list(folder, rel)
            if inner is not None:
                self._folder(inner, rel)
        entries = sorted(self._entries, key=lambda entry: entry.path)
        if self._decomposed:
            below = tuple(self._decomposed)
            self._folded += [entry.path for entry in entries if f"{entry.path}/".startswith(below)]
        failed = any(finding.severity is Severity.ERROR for finding in self.findings)
        manifest = b"" if failed else build_manifest([(entry.path, entry.sha256) for entry in entries])
        return SkillFiles(
            digest=None if failed else hashlib.sha256(manifest).hexdigest(),
            entries=tuple(entries),
            left_out=tuple(sorted(self._left_out)),
            folded=tuple(sorted(set(self._folded))),
        )

    def _add(self, code: str, rel: str, message: str, hint: str | None = None, *, warns: bool = False) -> None:
        severity = Severity.WARNING if warns or code in _WARNINGS else Severity.ERROR
        path = f"{self._prefix}{rel}".rstrip("/") or "."
        self.findings.append(Finding(code=code, severity=severity, path=path, message=message, hint=hint))

    def _list(self, folder: str, rel: str) -> list[os.DirEntry[str]] | None:
        try:
            with os.scandir(folder) as listing:
                return list(listing)
        except OSError as error:
            self._add(UNREADABLE, rel, f"the folder cannot be read: {error.strerror}")
            return None

    def _find_skill_file(self, top: list[os.DirEntry[str]]) -> bool:
        found = sorted(entry.name for entry in top if len(entry.name) == 8 and entry.name.lower() == "skill.md")
        if not found:
            self._add(NO_SKILL_FILE, SKILL_FILE, "the folder has no SKILL.md")
        elif SKILL_FILE not in found:
            self._skill_file = found[0]
            hint = f"rename it to {SKILL_FILE}"
            self._add(SKILL_FILE_NAME, found[0], f"the file is called {found[0]}: some clients do not find it", hint)
        return bool(found)

    def _folder(self, listing: list[os.DirEntry[str]], rel: str) -> None:
        seen: dict[str, str] = {}
        for entry in listing:
            name = entry.name
            if not (name.isascii() and name.isprintable() and "\\" not in name):
                checked = self._checked_name(name, rel)
                if checked is None:
                    continue
                name = checked
            path = f"{rel}{name}"
            is_link = entry.is_symlink()
            if path != self._skill_file and self._ignore.matches(name, path):
                self._left_out.append(f"{path}/" if not is_link and entry.is_dir() else path)
                continue
            key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold())
            if key in seen:
                one, other = sorted((f"{rel}{seen[key]}", path))
                message = f"`{one}` and `{other}` are one name on some file systems"
                self._add(NAME_COLLISION, other, message, "rename one of the two")
            seen[key] = name
            if is_link:
                self._link(entry.path, path)
            elif entry.is_file():
                self._file(entry.path, path)
            elif entry.is_dir():
                if path == self._skill_file:
                    self._add(NOT_A_FILE, path, f"{path} is a folder, not a file")
                self._pending.append((entry.path, f"{path}/"))
            else:
                self._add(SPECIAL, path, "neither a file nor a folder", "remove the pipe, socket or device")

    def _checked_name(self, stored: str, rel: str) -> str | None:
        """The name in NFC; None, with a finding, when it cannot stand in a manifest."""
        raw = os.fsencode(stored)
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            shown = raw.decode("utf-8", "backslashreplace")
            self._add(NAME_NOT_UTF8, f"{rel}{shown}", "the file name is not UTF-8", "rename the file")
            return None
        shown = "".join([sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text])
        if any(unicodedata.category(sign) == "Cc" for sign in text):
            self._add(NAME_CONTROL, f"{rel}{shown}", "the file name holds control characters", "rename the file")
            return None
        if "\\" in text:
            hint = "rename the file: on Windows a backslash separates folders"
            self._add(NAME_BACKSLASH, f"{rel}{text}", "the file name holds a backslash", hint)
            return None
        name = unicodedata.normalize("NFC", text)
        if name != text:
            self._decomposed.append(f"{rel}{name}/")
            message = "the name is stored decomposed (NFD) and hashed in NFC"
            self._add(NAME_DECOMPOSED, f"{rel}{name}", message, "rename it to the composed form")
        return name

    def _link(self, link: str, path: str) -> None:
        try:
            fault, where = resolve_link(self._root, link)
        except OSError as error:
            self._add(UNREADABLE, path, f"the link cannot be followed: {error.strerror}")
            return
        if fault is None:
            self._folded.append(path)
            self._file(where, path)
            return
        dangles = fault is LinkFault.DANGLES
        hint = "remove the link, or restore its target" if dangles else "replace the link by what it should hold"
        self._add(_LINKS[fault], path, where, hint)

    def _file(self, source: str, path: str) -> None:
        max_bytes = MAX_SKILL_FILE_BYTES if path == self._skill_file else MAX_FILE_BYTES
        try:
            content = read_content(source, max_bytes=max_bytes)
        except OSError as error:
            self._add(UNREADABLE, path, f"the file cannot be read: {error.strerror}")
            return
        except TooLarge:
            self._add(TOO_LARGE, path, f"the file is larger than {max_bytes >> 20} MiB", "keep it out of the skill")
            return
        if path == self._skill_file:
            self.skill_data = content.data
        if content.crlf:
            self._folded.append(path)
            self._check_script(path, content.head)
        entry = FileEntry(path=path, sha256=content.sha256, size=content.size, source=source, crlf=content.crlf)
        self._entries.append(entry)

    def _check_script(self, path: str, head: bytes) -> None:
        """A finding for a script with CRLF: an error for a shell's, which does not run however it is started."""
        if path.endswith(_SHELL_ENDINGS) or _names_shell(head):
            hint = "save it with LF; `*.sh text eol=lf` in .gitattributes keeps it so"
            self._add(SCRIPT_CRLF, path, "a shell script with CRLF line ends does not run on Unix", hint)
        elif path.endswith(".py") or ("." not in path.rpartition("/")[2] and head.startswith(b"#!")):
            message = "a script with CRLF line ends does not start on Unix"
            self._add(SCRIPT_CRLF, path, message, "save it with LF", warns=True)


def _names_shell(head: bytes) -> bool:
    """Whether the first line is a ``#!`` that starts a shell, itself or through env."""
    if not head.startswith(b"#!"):
        return False
    words = [word.rpartition(b"/")[2] for word in head[2:].partition(b"\n")[0].split()]
    if words[:1] == [b"env"]:
        words = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    return bool(words) and words[0] in _SHELLS
