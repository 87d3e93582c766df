"""A copy of a skill that an installer placed, against the lock: the same, or what was edited, missing, added.

What is known to be an installer's (:mod:`skillassay.locks.installer`) is named apart and makes no difference; a
SKILL.md with an installer's keys is the locked one only if it has the locked bytes without exactly these lines. All
else is as in the digest: CRLF in text counts as LF, the lock's own ignore list holds. A shell script with CRLF counts
as edited, since it does not run. The folder's name is no part of a digest. Reads the copy and git; writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from skillassay.canonical import sha256_hex
from skillassay.errors import InputError
from skillassay.findings import Severity
from skillassay.isolation.process import git
from skillassay.locks.installer import is_installer_file, reversals, says_the_same
from skillassay.locks.lockfile import Lock, LockEntry, parse_lock
from skillassay.regular import NotRegular, read_regular
from skillassay.skills.content import hash_whole
from skillassay.skills.digest import MAX_SKILL_FILE_BYTES, SCRIPT_CRLF, SKILL_FILE, build_manifest, read_files
from skillassay.skills.frontmatter import FrontmatterProblem, read_frontmatter, split_document

SAME, DIFFERS, UNLOCKED, ABSENT, UNREADABLE = "same", "differs", "unlocked", "absent", "unreadable"
_MOST_REVISIONS = 200
_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The files of an installed skill. ``files`` are digests by path, ``left_out`` what no digest counts."""

    folder: str
    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    skill_file: bytes = b""
    left_out: tuple[str, ...] = ()
    crlf: tuple[str, ...] = ()
    broken_scripts: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What became of one skill. ``locked`` is its folder in the lock; ``older`` is (version, git revision) of a lock in
    which it is the same. ``rewritten``: SKILL.md has other bytes, and says what the locked one beside the lock says.
    ``why`` is in words where nothing could be compared.
    """

    folder: str
    status: str
    locked: str | None = None
    version: str | None = None
    locked_digest: str | None = None
    digest: str | None = None
    edited: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    crlf: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    installer_files: tuple[str, ...] = ()
    installer_keys: Mapping[str, str] = field(default_factory=dict)
    renamed_from: str | None = None
    older: tuple[str, str] | None = None
    rewritten: bool = False
    why: str | None = None


def verify_installed(folder: Path, lock_path: Path, lock: Lock, *, skills: Sequence[str] = ()) -> tuple[Installed, ...]:
    """Every copy below ``folder``, or ``folder`` itself where it is one; with ``skills`` these alone, by name or path.

    Raises :class:`InputError` where there is no copy, or a wanted skill is not in the lock.
    """
    wanted = _wanted(lock, skills)
    single, copies = _copies(folder, lock.ignore)
    if single and len(wanted) == 1 and skills:
        return (_with_older(copies[0], wanted[0], lock_path),)
    found = []
    for copy in copies:
        entry, why = _entry_of(copy, lock)
        if skills and entry not in wanted:
            continue
        if entry is None:
            status = UNLOCKED if why is None and not copy.problems else UNREADABLE
            found.append(Installed(folder=copy.folder, status=status, why=why or "; ".join(copy.problems) or None))
        else:
            found.append(_with_older(copy, entry, lock_path))
    met = {one.locked for one in found}
    absent = (entry for entry in wanted if entry.path not in met) if skills else ()
    return (
        *found,
        *(Installed(folder="", status=ABSENT, locked=entry.path, version=entry.version) for entry in absent),
    )


def compare_copy(copy: Copy, entry: LockEntry) -> Installed:
    """One copy against one entry."""
    about = Installed(
        folder=copy.folder,
        status=UNREADABLE,
        locked=entry.path,
        version=entry.version,
        locked_digest=entry.digest,
        crlf=copy.crlf,
        left_out=tuple(path for path in copy.left_out if not is_installer_file(path)),
        renamed_from=_renamed(copy, entry),
    )
    if copy.problems:
        return replace(about, why="; ".join(copy.problems))
    if sha256_hex(build_manifest(list(entry.files.items()))) != entry.digest:
        return replace(about, why="the lock's entry was edited by hand: its digest is not that of its files")
    own = {path: digest for path, digest in copy.files.items() if path in entry.files or not is_installer_file(path)}
    keys: Mapping[str, str] = {}
    if SKILL_FILE in own and own[SKILL_FILE] != entry.files.get(SKILL_FILE):
        for before in reversals(copy.skill_file):
            if sha256_hex(before.data) == entry.files.get(SKILL_FILE):
                own[SKILL_FILE], keys = entry.files[SKILL_FILE], before.keys
                break
    edited = {path for path in own.keys() & entry.files.keys() if own[path] != entry.files[path]}
    edited |= copy.broken_scripts & own.keys()
    missing, added = entry.files.keys() - own.keys(), own.keys() - entry.files.keys()
    dropped = (*copy.files.keys() - own.keys(), *(path for path in copy.left_out if is_installer_file(path)))
    return replace(
        about,
        status=DIFFERS if edited or missing or added else SAME,
        digest=sha256_hex(build_manifest(list(own.items()))),
        edited=tuple(sorted(edited)),
        missing=tuple(sorted(missing)),
        added=tuple(sorted(added)),
        installer_files=tuple(sorted(dropped)),
        installer_keys=keys,
    )


def _renamed(copy: Copy, entry: LockEntry) -> str | None:
    locked, here = PurePosixPath(entry.path).name, Path(copy.folder).name
    return locked if locked and locked != here else None


def _wanted(lock: Lock, skills: Sequence[str]) -> tuple[LockEntry, ...]:
    chosen = []
    for called in skills:
        found = [entry for path, entry in lock.skills.items() if called in {path, entry.name}]
        exact = [entry for entry in found if entry.path == called]
        if len(exact or found) != 1:
            what = "is the name of several skills" if found else "is not"
            hint = f"in it are {', '.join(list(lock.skills)[:_LISTED]) or 'none'}"
            raise InputError(f"{called!r} {what} in the lock", hint=hint)
        chosen += exact or found
    return tuple(chosen)


def _copies(folder: Path, ignore: Sequence[str]) -> tuple[bool, list[Copy]]:
    """Whether the folder itself is a skill, and the copies in it."""
    try:
        inner = sorted(path for path in folder.iterdir() if path.is_dir() and _has_skill_file(path))
        single = _has_skill_file(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    if single:
        return True, [read_copy(folder, ignore)]
    if not inner:
        raise InputError(f"{folder} is no skill and holds none", hint="name the folder of a skill, or one of skills")
    return False, [read_copy(path, ignore) for path in inner]


def _has_skill_file(folder: Path) -> bool:
    return any(path.name.lower() == SKILL_FILE.lower() for path in folder.iterdir())


def read_copy(folder: Path, ignore: Sequence[str]) -> Copy:
    """Read an installed skill whole; ``problems`` say why it has no digest."""
    files, skill_file, findings = read_files(folder, path=".", ignore=ignore)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    broken = frozenset(finding.path for finding in errors if finding.code == SCRIPT_CRLF)
    problems = tuple(f"{one.path}: {one.message}" for one in errors if one.code != SCRIPT_CRLF)
    name = _name(skill_file or b"") or folder.resolve().name
    shown = folder.as_posix() if folder.name else folder.resolve().as_posix()
    if files is None:
        return Copy(folder=shown, name=name, problems=problems)
    return Copy(
        folder=shown,
        name=name,
        files={entry.path: entry.sha256 for entry in files.entries},
        skill_file=skill_file or b"",
        left_out=files.left_out,
        crlf=tuple(entry.path for entry in files.entries if entry.crlf),
        broken_scripts=broken,
        problems=problems,
    )


def _name(skill_file: bytes) -> str | None:
    try:
        name = read_frontmatter(split_document(skill_file)).values.get("name")
    except FrontmatterProblem:
        return None
    return name if isinstance(name, str) else None


def _entry_of(copy: Copy, lock: Lock) -> tuple[LockEntry | None, str | None]:
    """The entry that a copy is of: of its name in SKILL.md, else of its folder's; of several the one with its bytes."""
    here = Path(copy.folder).name
    found = [entry for entry in lock.skills.values() if entry.name == copy.name]
    found = found or [entry for entry in lock.skills.values() if PurePosixPath(entry.path).name == here]
    if len(found) > 1:
        found = [entry for entry in found if compare_copy(copy, entry).status == SAME][:1] or found
    if len(found) > 1:
        return None, f"several skills of the lock are called {copy.name!r}: name one with --skill PATH"
    return (found[0] if found else None), None


def _with_older(copy: Copy, entry: LockEntry, lock_path: Path) -> Installed:
    """The comparison, and where the copy differs the older lock in which it is as locked, if git knows one."""
    compared = compare_copy(copy, entry)
    if compared.status != DIFFERS:
        return compared
    if SKILL_FILE in compared.edited:
        source = _source(entry, lock_path)
        compared = replace(compared, rewritten=source is not None and says_the_same(copy.skill_file, source))
    for revision, lock in _older_locks(lock_path):
        before = [old for old in lock.skills.values() if old.path == entry.path or old.name == entry.name]
        same = next((old for old in before if compare_copy(copy, old).status == SAME), None)
        if same is not None:
            return replace(compared, older=(same.version, revision))
    return compared


def _source(entry: LockEntry, lock_path: Path) -> bytes | None:
    """SKILL.md as it is locked, where the project lies beside its lock and still has it."""
    try:
        data = read_regular(lock_path.parent / entry.path / SKILL_FILE, max_bytes=MAX_SKILL_FILE_BYTES)
    except (OSError, NotRegular):
        return None
    return data if hash_whole(data).sha256 == entry.files.get(SKILL_FILE) else None


def _older_locks(lock_path: Path) -> Iterator[tuple[str, Lock]]:
    """The lock at the newest commits that changed it; none where git does not know the file, or cannot say."""
    folder, name = lock_path.parent, f"./{lock_path.name}"
    known = git(folder, "log", "--format=%H", f"-n{_MOST_REVISIONS}", "--", name)
    revisions = known.stdout.decode("ascii", "replace").split() if known is not None and known.exit_code == 0 else []
    for revision in revisions:
        shown = git(folder, "cat-file", "blob", f"{revision}:{name}")
        lock = parse_lock(shown.stdout)[0] if shown is not None and shown.exit_code == 0 else None
        if lock is not None:
            yield revision[:12], lock
