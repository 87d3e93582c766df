"""Reading another tool's evals into a suite here. Owns the mapping and the list of what it could not carry.

Read is the ``evals.json`` of the Agent Skills guide and of skill-creator: ``{"skill_name", "evals": [{"id", "prompt",
"expected_output", "files", "assertions" | "expectations"}]}``. Assertions become rubric criteria, word for word;
``expected_output`` becomes the judge's ``reference`` and is never shown to the candidate. Nothing is dropped silently:
whatever has no place here is listed with its case. A case that lacks a file is not carried at all: it would be another
question, and its id would be taken when the file is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import InputError

KNOWN_KEYS = frozenset({"id", "prompt", "expected_output", "files", "assertions", "expectations", "name", "eval_name"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCopy:
    """A file to lay beside the suite: where it lies now, and its path relative to the suite's folder."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Cases in this project's form, the files they need, and what could not be carried (one line each)."""

    cases: tuple[dict[str, Json], ...]
    files: tuple[FileCopy, ...]
    lost: tuple[str, ...]


def read_evals(value: Json, *, source: Path, skill: str | None) -> Imported:
    """Map the content of an ``evals.json`` at ``source``. ``skill`` overrides its ``skill_name``.

    Raises :class:`InputError` when the file is not of this shape.
    """
    if not isinstance(value, dict) or not isinstance(value.get("evals"), list):
        raise InputError(
            f"{source}: not an evals.json: an object with a list `evals` is expected",
            hint="the format is described at docs/reference/import.md",
        )
    name = skill or value.get("skill_name")
    if not isinstance(name, str) or not name:
        raise InputError(f"{source}: it names no skill", hint="name it with --skill")
    mapping = _Mapping(source=source, skill=name)
    unknown = sorted(set(value) - {"skill_name", "evals"})
    lost = [f"{source.name}: field {key!r}" for key in unknown]
    for index, item in enumerate(value["evals"]):
        mapping.add(index, item)
    return Imported(cases=tuple(mapping.cases), files=tuple(mapping.files), lost=(*lost, *mapping.lost))


class _Mapping:
    """Cases collected from one file."""

    def __init__(self, *, source: Path, skill: str) -> None:
        self.source = source
        self.skill = skill
        self.cases: list[dict[str, Json]] = []
        self.files: list[FileCopy] = []
        self.lost: list[str] = []

    def add(self, index: int, item: Json) -> None:
        """Map one eval, or say why it cannot be."""
        where = f"evals[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("prompt"), str) or not item["prompt"].strip():
            self.lost.append(f"{where}: not carried, it has no prompt")
            return
        case_id = _case_id(self.skill, item.get("id", index))
        where = f"{where} ({case_id})"
        rubric = self._rubric(item, where)
        if not rubric:
            self.lost.append(f"{where}: not carried, it has neither assertions nor expectations")
            return
        case: dict[str, Json] = {"id": case_id, "skill": self.skill, "query": item["prompt"]}
        copies, missing = self._files(item)
        if missing:
            self.lost += [f"{where}: not carried, {why}" for why in missing]
            return
        if copies:
            case["files"] = list(copies)
        case["rubric"] = rubric
        if isinstance(item.get("expected_output"), str) and item["expected_output"].strip():
            case["reference"] = item["expected_output"]
        note = item.get("name") or item.get("eval_name")
        if isinstance(note, str):
            case["note"] = note
        self.lost += [f"{where}: field {key!r}" for key in sorted(set(item) - KNOWN_KEYS)]
        self.cases.append(case)
        self.files += [copy for copy in copies.values() if copy not in self.files]

    def _rubric(self, item: Mapping[str, Any], where: str) -> list[str]:
        texts: list[str] = []
        for entry in (*_list(item, "assertions"), *_list(item, "expectations")):
            text = entry if isinstance(entry, str) else entry.get("text") if isinstance(entry, dict) else None
            if not isinstance(text, str) or not text.strip():
                self.lost.append(f"{where}: an assertion without text")
                continue
            if isinstance(entry, dict) and set(entry) - {"text"}:
                fields = ", ".join(sorted(set(entry) - {"text"}))
                self.lost.append(f"{where}: of assertion {text[:60]!r} the fields {fields}")
            if text not in texts:
                texts.append(text)
        return texts

    def _files(self, item: Mapping[str, Any]) -> tuple[dict[str, FileCopy], list[str]]:
        """The files of an eval by their target, and why each of the others cannot be had.

        A file is named against the skill's folder or against ``evals/``; both are in use.
        """
        copies: dict[str, FileCopy] = {}
        missing = []
        for name in _list(item, "files"):
            if not isinstance(name, str) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                missing.append(f"its file {name!r} leaves the skill")
                continue
            bases = (self.source.parent.parent, self.source.parent)
            found = next((base / name for base in bases if _lies_in(base, name)), None)
            if found is None:
                missing.append(f"its file {name!r} does not exist: add it and import again")
                continue
            target = f"files/{_slug(self.skill)}/{PurePosixPath(name).as_posix()}"
            copies[target] = FileCopy(source=found, target=target)
        return copies, missing


def _lies_in(base: Path, name: str) -> bool:
    try:
        found = base / name
        return found.is_file() and found.resolve().is_relative_to(base.resolve())
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def _list(item: Mapping[str, Any], key: str) -> list[Any]:
    value = item.get(key)
    return value if isinstance(value, list) else []


def _case_id(skill: str, given: Json) -> str:
    return f"{_slug(skill)}-{_slug(str(given)) or 'case'}"[:80]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A suite with the imported cases behind its own: the new document, ids added, ids that were there already."""

    document: Json
    added: tuple[str, ...]
    present: tuple[str, ...]


def merge_cases(document: Json, cases: Sequence[dict[str, Json]], *, shown_as: str) -> Merged:
    """Append cases to a suite's document. A case that is there word for word is left; the same id with another content
    raises :class:`InputError`, since a suite is append-only.
    """
    own = document if isinstance(document, list) else document["cases"]
    by_id = {case["id"]: case for case in own}
    added, present = [], []
    for case in cases:
        if case["id"] not in by_id:
            added.append(case)
            by_id[case["id"]] = case
        elif by_id[case["id"]] == case:
            present.append(case["id"])
        else:
            raise InputError(
                f"{shown_as}: case {case['id']!r} is there with another content",
                hint="rename one of them, or raise the suite's version and edit it by hand",
            )
    merged = [*own, *added]
    return Merged(
        document=merged if isinstance(document, list) else {**document, "cases": merged},
        added=tuple(case["id"] for case in added),
        present=tuple(present),
    )
