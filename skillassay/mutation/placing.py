"""A mutant as a skill that can be run: files of its own in a private folder, everything else as the skill has it.

The user's folder is read and never written. A mutant that our reader refuses, that has another name, or that says what
the skill says, is none: it is not viable, and counted as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skillassay.canonical import sha256_hex
from skillassay.errors import EnvironmentFault, InputError
from skillassay.isolation.script import KINDS, kind_of
from skillassay.mutation.mutants import Kind, Mutant, Source
from skillassay.mutation.structure import Part
from skillassay.project import ReadySkill
from skillassay.skills.digest import FileEntry, build_manifest
from skillassay.skills.frontmatter import read_frontmatter, split_document
from skillassay.skills.git_folder import GitFolder
from skillassay.skills.skill import Skill, parse_skill
from skillassay.tools import decode_text


def read_source(ready: ReadySkill) -> Source:
    """The texts of a skill, as its digest knows them. Raises :class:`InputError` when a file is another one by now."""
    contents = {entry.path: _read(entry, ready.path) for entry in ready.files.entries}
    decoded = {path: decode_text(data) for path, data in contents.items()}
    texts = {path: text for path, text in decoded.items() if text is not None}
    file = ready.skill.file
    return Source(
        file=file,
        body=ready.skill.body_line - 1,
        description=_description(contents[file]),
        texts=texts,
        others=frozenset(set(decoded) - set(texts)),
        scripts=tuple(path for path in sorted(decoded) if path.startswith("scripts/") and kind_of(path) in KINDS),
    )


def _read(entry: FileEntry, skill_path: str) -> bytes:
    try:
        data = Path(entry.source).read_bytes()
    except OSError:
        data = None
    text = None if data is None else decode_text(data)
    if data is None or sha256_hex(data if text is None else text.encode()) != entry.sha256:
        message = f"{skill_path}/{entry.path} changed while the mutants were being made"
        raise InputError(message, hint="no model was called; run again when nobody edits it")
    return data


def _description(data: bytes) -> Part:
    """The lines of the key, up to the next one of the frontmatter."""
    document = split_document(data)
    starts = {
        path[0]: document.line_at(key.start_mark.index) - 1
        for path, (key, _) in read_frontmatter(document).places.items()
        if len(path) == 1
    }
    start = starts["description"]
    fence = document.yaml_line - 1 + document.yaml.count("\n")
    return Part(start=start, end=min(line for line in (*starts.values(), fence) if line > start))


class Placed:
    """The mutants of one skill as skills. What was written for them is there as long as this is."""

    def __init__(self, ready: ReadySkill, sources: Mapping[str, Path]) -> None:
        """``sources`` are where the skill's own bytes are taken from, by path: copies that nobody edits."""
        entries = [replace(entry, source=str(sources[entry.path])) for entry in ready.files.entries]
        self._ready = ready
        self._entries = {entry.path: entry for entry in entries}
        self._folder = GitFolder()
        self._n_files = 0

    def build(self, mutant: Mutant) -> ReadySkill:
        """The mutant as a skill. Raises :class:`EnvironmentFault` where its files cannot be written."""
        skill = mutated_skill(self._ready, mutant)
        assert skill is not None, "only viable mutants are built"
        entries = dict(self._entries)
        for path, text in mutant.edits.items():
            entry = entries.pop(path)
            if text is not None:
                entries[path] = _entry(entry, text, self._write(text.encode(), entry.path))
        files = tuple(entries[path] for path in sorted(entries))
        digest = digest_of_files(files)
        return ReadySkill(
            path=self._ready.path,
            skill=skill,
            files=replace(self._ready.files, digest=digest, entries=files),
            digest=digest,
        )

    def _write(self, data: bytes, path: str) -> Path:
        # A number: nothing of a name that somebody chose becomes a path here.
        target = self._folder.path / str(self._n_files)
        self._n_files += 1
        try:
            target.write_bytes(data)
        except OSError as error:
            raise EnvironmentFault(f"a mutant of {path} cannot be written: {error.strerror or error}") from error
        return target

    def remove(self) -> None:
        """Remove what was written."""
        self._folder.remove()


def _entry(entry: FileEntry, text: str, source: Path | str) -> FileEntry:
    data = text.encode()
    return replace(entry, sha256=sha256_hex(data), size=len(data), source=str(source), crlf=False)


def digest_of_files(entries: Sequence[FileEntry]) -> str:
    """The digest of a skill with these files."""
    return sha256_hex(build_manifest((entry.path, entry.sha256) for entry in entries))


def mutant_digest(ready: ReadySkill, mutant: Mutant) -> str:
    """The digest that the skill has as this mutant, without writing anything."""
    entries = {entry.path: entry for entry in ready.files.entries}
    for path, text in mutant.edits.items():
        entry = entries.pop(path)
        if text is not None:
            entries[path] = _entry(entry, text, entry.source)
    return digest_of_files(tuple(entries.values()))


def mutated_skill(ready: ReadySkill, mutant: Mutant) -> Skill | None:
    """What SKILL.md says in a mutant; None where the mutant is not viable."""
    file = ready.skill.file
    skill: Skill | None = ready.skill
    if file in mutant.edits:
        text = mutant.edits[file]
        name = None if ready.path == "." else ready.path.rpartition("/")[2]
        skill, _ = parse_skill((text or "").encode(), path=ready.path, folder_name=name, file=file)
    if skill is None or skill.name != ready.skill.name:
        return None
    is_other = skill.description != ready.skill.description
    others = [{k: v for k, v in one.frontmatter.items() if k != "description"} for one in (skill, ready.skill)]
    if is_other != (mutant.kind is Kind.DESCRIPTION) or others[0] != others[1]:
        return None
    return skill if mutant_digest(ready, mutant) != ready.digest else None
