"""What the trials of a run read: each file of the catalog and of the planned cases, copied once before the first trial.

A copy is kept only when its bytes have the digest that was planned (a text with CRLF counts as its LF form, as in the
digest itself). So no edit of the project while a run is under way, not even one that is undone before its end, changes
what a candidate, a tool or a script sees. Copies, not hard links: an edit in place would reach through a link.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from skillassay.canonical import sha256_hex
from skillassay.errors import EnvironmentFault, InputError
from skillassay.isolation.process import remove_tree
from skillassay.project import ReadySkill
from skillassay.prompts import Offered, PromptSkill
from skillassay.suites.case import Case
from skillassay.tools import Catalog, CatalogSkill, ToolFile, decode_text

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The catalog, its texts for a prompt, and the planned cases; all their files lie in the run's private folder.

    ``previous`` maps a skill's path to the catalog in which that skill is its earlier state, ``placebo`` to the one in
    which it is its placebo.
    """

    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]
    cases: tuple[Case, ...]
    previous: Mapping[str, Offered]
    placebo: Mapping[str, Offered]


class OtherState(Protocol):
    """A skill that is something else than what lies in the project, with whatever keeps its files there."""

    @property
    def ready(self) -> ReadySkill:
        """The skill as it is then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """A file with the digest that the plan knows it by."""

    source: Path
    sha256: str
    shown_as: str


def build_catalog(skills: Sequence[ReadySkill]) -> Catalog:
    """What a candidate may be offered: every readable skill, in the order of their names."""
    ordered = sorted(skills, key=lambda ready: (ready.skill.name, ready.path))
    return Catalog(skills=tuple(_catalog_skill(ready) for ready in ordered))


@contextmanager
def take_snapshot(
    skills: Sequence[ReadySkill],
    cases: Sequence[Case],
    earlier: Mapping[str, OtherState] | None = None,
    *,
    placebos: Mapping[str, OtherState] | None = None,
) -> Iterator[Snapshot]:
    """Copy and verify all files, and remove the copies at the end, whatever the end.

    ``earlier`` holds earlier states of some of the skills, ``placebos`` placebos of some, by path.

    Raises :class:`InputError` when a file is no longer what was planned, :class:`EnvironmentFault` without room.
    """
    folder = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        others = [state.ready for states in (earlier, placebos) for state in (states or {}).values()]
        copies = _copy_all(_planned_files([*skills, *others], cases), folder)
        now, texts = _offered(skills, copies)
        yield Snapshot(
            catalog=now,
            prompt_skills=texts,
            previous=_each_offered(skills, earlier or {}, copies),
            placebo=_each_offered(skills, placebos or {}, copies),
            cases=tuple(
                replace(case, files=tuple(replace(file, source=copies[file.source]) for file in case.files))
                for case in cases
            ),
        )
    finally:
        remove_tree(folder)


def older_skills(skills: Sequence[ReadySkill], earlier: ReadySkill) -> tuple[ReadySkill, ...]:
    """The skills with one of them in another state."""
    return tuple(earlier if ready.path == earlier.path else ready for ready in skills)


def _each_offered(
    skills: Sequence[ReadySkill], others: Mapping[str, OtherState], copies: Mapping[Path, Path]
) -> dict[str, Offered]:
    """By path what is offered where that skill is in its other state."""
    found = {path: _offered(older_skills(skills, state.ready), copies) for path, state in others.items()}
    return {path: Offered(catalog=catalog, prompt_skills=texts) for path, (catalog, texts) in found.items()}


def _offered(skills: Sequence[ReadySkill], copies: Mapping[Path, Path]) -> tuple[Catalog, tuple[PromptSkill, ...]]:
    catalog = _moved(build_catalog(skills), copies)
    return catalog, tuple(_prompt_skill(skill) for skill in catalog.skills)


def _planned_files(skills: Iterable[ReadySkill], cases: Iterable[Case]) -> Iterator[_Planned]:
    for ready in skills:
        for entry in ready.files.entries:
            yield _Planned(source=Path(entry.source), sha256=entry.sha256, shown_as=f"{ready.path}/{entry.path}")
    for case in cases:
        for file in case.files:
            yield _Planned(source=file.source, sha256=file.sha256, shown_as=f"{file.path} of case {case.id}")


def _copy_all(files: Iterable[_Planned], folder: Path) -> Mapping[Path, Path]:
    """Copies by source. Names are numbers: nothing of a name that someone else chose becomes a path here."""
    copies: dict[Path, Path] = {}
    changed: list[str] = []
    for file in files:
        if (data := _read(file)) is None:
            changed.append(file.shown_as)
        elif file.source not in copies:
            copies[file.source] = _write(folder / str(len(copies)), data, file)
    if changed:
        shown = ", ".join(changed[:_MOST_NAMED]) + (", …" if len(changed) > _MOST_NAMED else "")
        message = f"{len(changed)} files changed while the run was being prepared: {shown}"
        raise InputError(message, hint="no model was called; run again when nobody edits them")
    return copies


def _read(file: _Planned) -> bytes | None:
    """The bytes as they lie there; None when they are not those planned."""
    try:
        # Asked before opening: a pipe in its place would wait for a writer for ever.
        data = file.source.read_bytes() if file.source.is_file() else None
    except OSError:
        return None
    if data is None:
        return None
    text = decode_text(data)
    return data if sha256_hex(data if text is None else text.encode()) == file.sha256 else None


def _write(target: Path, data: bytes, file: _Planned) -> Path:
    try:
        target.write_bytes(data)
        target.chmod(file.source.stat().st_mode & 0o755 | 0o600)
    except OSError as error:
        raise EnvironmentFault(f"{file.shown_as} cannot be copied for the run: {error.strerror or error}") from error
    return target


def _catalog_skill(ready: ReadySkill) -> CatalogSkill:
    skill = ready.skill
    return CatalogSkill(
        name=skill.name,
        path=ready.path,
        description=skill.description,
        frontmatter=skill.frontmatter,
        instructions=skill.body,
        files={entry.path: ToolFile(source=Path(entry.source), size=entry.size) for entry in ready.files.entries},
    )


def _moved(catalog: Catalog, copies: Mapping[Path, Path]) -> Catalog:
    return Catalog(
        skills=tuple(
            replace(
                skill,
                files={path: replace(file, source=copies[file.source]) for path, file in skill.files.items()},
            )
            for skill in catalog.skills
        )
    )


def _prompt_skill(skill: CatalogSkill) -> PromptSkill:
    texts = {}
    for path, file in skill.files.items():
        if path.lower() == "skill.md" or path in skill.scripts:
            continue
        text = decode_text(file.source.read_bytes())
        if text is not None:
            texts[path] = text
    return PromptSkill(
        name=skill.name,
        path=skill.path,
        description=skill.description,
        instructions=skill.instructions,
        texts=texts,
        scripts=skill.scripts,
    )
