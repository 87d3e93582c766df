"""The cases of one file, carried or refused. Owns which suite a case belongs to and where its files may lie.

A case that should lead to no skill is a routing case. One that asks for something in the answer is a quality case, and
what it expects of skills is told there and not scored. One that only names skills, or beside them only what must not
stand in the answer, is a routing case too: as a quality case it would be passed by saying nothing.

Where trigger cases are asked for, a routing case that the file words as "should (not) trigger" becomes one: it says of
one skill what a routing case says of all.

A file is named against the skill's folder or against the folder of the imported file. The skill's folder is the one
with a SKILL.md; no other folder above the imported file is looked into, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.drafts import Draft, not_activating
from skillassay.interop.exchange import FileCopy, Found, Imported, name_cases, slug

_MOST_SHOWN = 60
NO_SCORE = "it has nothing to score: neither assertions nor expectations, a check, or a skill that it expects"


class Collection:
    """What comes of one file. ``skill`` is the skill under test, None where each case names its own.

    ``renamed`` maps the name that the file gives its own skill to the one that was asked for; ``label`` stands before
    what is said of its cases, where there are several files.
    """

    def __init__(
        self, *, source: Path, skill: str | None, renamed: Mapping[str, str] | None = None, label: str | None = None
    ) -> None:
        self.source = source
        self.label = label or source.name
        self._prefix = f"{label} " if label else ""
        self.skill = skill
        self._renamed = renamed or {}
        self.with_triggers = False
        self.quality: list[Found] = []
        self.triggers: list[Found] = []
        self.routing: list[Found] = []
        self.files: dict[FileCopy, None] = {}
        self.lost: list[str] = []
        self.n_read = 0
        self.n_refused = 0

    def name_of(self, skill: str) -> str:
        """The name here of a skill that the file names."""
        return self._renamed.get(skill, skill)

    def lose(self, what: str) -> None:
        """Say what of the file, outside any case, is not carried."""
        self.lost.append(f"{self.label}: {what}")

    def lose_fields(self, value: Mapping[str, Any], known: frozenset[str]) -> None:
        """Name each field of the file, or of a part that all cases share, that has no place here."""
        for key in sorted(set(map(str, value)) - known):
            self.lose(f"field {key!r}")

    def refuse(self, where: str, why: str) -> None:
        """Count a case that cannot even be looked at, and say why."""
        self.n_read += 1
        self._refuse([f"{self._prefix}{where}: not carried, {why}"])

    def draft(self, where: str, item: Json, *, id_key: str = "id") -> Draft | None:
        """A case to be filled in and added; None where it is no object, which is said and counted."""
        if not isinstance(item, Mapping):
            self.refuse(where, "it is no object")
            return None
        given = item.get(id_key)
        shown = f" ({str(given)[:60]})" if isinstance(given, (str, int)) and str(given).strip() else ""
        return Draft(where=f"{self._prefix}{where}{shown}", item=item, skill=self.skill)

    def add(self, draft: Draft) -> None:
        """Carry a case, or say why not; either way it counts."""
        self.n_read += 1
        as_routing = draft.is_negative or (draft.skills is not None and not draft.asks_something)
        copies: dict[str, FileCopy] = {}
        if draft.query is None:
            draft.refuse("it has no prompt")
        elif not as_routing and not (draft.rubric or draft.checks):
            draft.refuse(NO_SCORE)
        elif not as_routing and draft.skill is None:
            draft.refuse("it names no skill: name it with --skill")
        elif as_routing and draft.files:
            draft.refuse("it comes with files, and a routing case has none")
        else:
            copies = self._find_files(draft)
        if draft.refused:
            self._refuse(draft.refused)
            return
        as_trigger = as_routing and self.with_triggers and draft.should_trigger is not None and draft.skill is not None
        if as_trigger:
            place, body = self.triggers, _trigger_body(draft)
        elif as_routing:
            place, body = self.routing, _routing_body(draft)
        else:
            place, body = self.quality, _quality_body(draft, copies)
        prefix = slug(draft.skill or self.skill or "")
        place.append(Found(where=draft.where, prefix=prefix, base=draft.given, body=body))
        self.lost += draft.lost
        self.files |= dict.fromkeys(copies.values())

    def _refuse(self, why: list[str]) -> None:
        self.n_refused += 1
        self.lost += why

    def _find_files(self, draft: Draft) -> dict[str, FileCopy]:
        """The files of a case by their target. One that cannot be had makes it another question: it is refused."""
        copies: dict[str, FileCopy] = {}
        root = enclosing_skill(self.source)
        bases = [*([root] if root is not None else []), self.source.parent]
        for name in draft.files:
            if not isinstance(name, str) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                draft.refuse(f"its file {str(name)[:200]!r} leaves the skill")
                continue
            places = [*((base, name) for base in bases), (self.source.parent, _below(self.source.parent, name))]
            found = next((base / place for base, place in places if _lies_in(base, place)), None)
            if found is None:
                draft.refuse(f"its file {name[:200]!r} does not exist: add it and import again")
                continue
            target = f"files/{slug(draft.skill or '')}/{PurePosixPath(name).as_posix()}"
            copies[target] = FileCopy(source=found, target=target)
        return copies


def finish(collections: Sequence[Collection]) -> Imported:
    """All that came of the files, named together: two files may have the same id for different cases."""
    cases, twice = name_cases([item for one in collections for item in one.quality])
    routing, twice_routed = name_cases([item for one in collections for item in one.routing])
    triggers, twice_triggering = name_cases([item for one in collections for item in one.triggers])
    twice += [*twice_routed, *twice_triggering]
    lost = [line for one in collections for line in one.lost]
    return Imported(
        cases=tuple(cases),
        routing=tuple(routing),
        triggers=tuple(triggers),
        files=tuple(dict.fromkeys(copy for one in collections for copy in one.files)),
        lost=(*lost, *twice),
        n_read=sum(one.n_read for one in collections),
        n_refused=sum(one.n_refused for one in collections) + len(twice),
    )


def enclosing_skill(source: Path) -> Path | None:
    """The folder of the skill that a file lies in, at most two folders up; None where it lies in none."""
    return next((folder for folder in source.absolute().parents[:3] if (folder / "SKILL.md").is_file()), None)


def _below(folder: Path, name: str) -> str:
    """``name`` as seen from ``folder`` where it begins with that folder's own name, as a path from the skill does."""
    return name.removeprefix(f"{folder.absolute().name}/")


def _lies_in(base: Path, name: str) -> bool:
    try:
        found = base / name
        return found.is_file() and found.resolve().is_relative_to(base.resolve())
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def _quality_body(draft: Draft, copies: Mapping[str, FileCopy]) -> dict[str, Json]:
    body: dict[str, Json] = {"skill": draft.skill, "query": draft.query}
    if copies:
        body["files"] = list(copies)
    if draft.checks:
        body["checks"] = draft.checks
    if draft.rubric:
        body["rubric"] = draft.rubric
    if draft.reference is not None:
        body["reference"] = draft.reference
    if draft.skills is not None or draft.scripts is not None:
        body["expect"] = _expect(draft)
    return body | _note(draft)


def _routing_body(draft: Draft) -> dict[str, Json]:
    """A routing case; what it says of the answer has no place there and is named."""
    _lose_grading(draft)
    return {"query": draft.query, "expect": _expect(draft)} | _note(draft)


def _trigger_body(draft: Draft) -> dict[str, Json]:
    """A trigger case; it has no scripts either."""
    _lose_grading(draft)
    for script in draft.scripts or ():
        draft.lose(f"script {script}, since a trigger case has none")
    draft.notes = [note for note in draft.notes if note != not_activating(draft.skill or "")]
    return {"skill": draft.skill, "query": draft.query, "should_trigger": draft.should_trigger} | _note(draft)


def _lose_grading(draft: Draft) -> None:
    for entry in draft.rubric:
        text = entry if isinstance(entry, str) else entry["text"]
        draft.lose(f"statement {text[:_MOST_SHOWN]!r}, since a routing case is not graded")
    for check in draft.checks:
        words = " ".join(repr(check[key])[:_MOST_SHOWN] for key in ("pattern", "text", "note") if key in check)
        draft.lose(f"check {check['type']} {words}, since a routing case is not graded")
    if draft.reference is not None:
        draft.lose("the expected output, since a routing case is not graded")


def _expect(draft: Draft) -> dict[str, Json]:
    skills = {"skills": list(draft.skills)} if draft.skills is not None else {}
    return skills | ({"scripts": list(draft.scripts)} if draft.scripts is not None else {})


def _note(draft: Draft) -> dict[str, Json]:
    return {"note": "; ".join(dict.fromkeys(draft.notes))} if draft.notes else {}
