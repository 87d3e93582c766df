"""What an import comes to: cases in this project's form, and what was lost on the way. Owns ids and merging.

A case's id is made from the skill and the id (or name) that it has there. Where it has none, or several differ under
one id, eight hex digits of its content stand behind it: never its place in the file, which moves. A suite is
append-only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.canonical import Json, digest_of
from skillassay.errors import InputError

MAX_ID_CHARS = 80
_N_HEX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCopy:
    """A file to lay beside the suite: where it lies now, and its path relative to the suite's folder."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Quality, routing and trigger cases, the files they need, and what could not be carried (one line each).

    ``n_read`` cases were there; each is carried into one suite, or is one of the ``n_refused`` and has a line in
    ``lost`` that says ``not carried``.
    """

    cases: tuple[dict[str, Json], ...]
    routing: tuple[dict[str, Json], ...] = ()
    triggers: tuple[dict[str, Json], ...] = ()
    files: tuple[FileCopy, ...] = ()
    lost: tuple[str, ...] = ()
    n_read: int = 0
    n_refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A case before it has its id. ``base`` is the id that it asks for, empty where it had none."""

    where: str
    prefix: str
    base: str
    body: Mapping[str, Json]


def slug(text: str) -> str:
    """``text`` in the form of an id: lower case, hyphens for all else; empty where nothing is left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def name_cases(found: Sequence[Found]) -> tuple[list[dict[str, Json]], list[str]]:
    """The cases with their ids, and a line for each that says the same as another one under the same id."""
    unique = {(_plain_id(item), _mark(item.body)): item for item in reversed(found)}
    n_with = Counter(plain for plain, _ in unique)
    cases, twice = [], []
    for item in found:
        plain, mark = _plain_id(item), _mark(item.body)
        if unique[plain, mark] is not item:
            twice.append(f"{item.where}: not carried, it is word for word the case before it under the same id")
            continue
        name = plain if n_with[plain] == 1 else _marked_id(plain, mark)
        cases.append({"id": name, **item.body})
    return cases, twice


def _plain_id(item: Found) -> str:
    return "-".join(part for part in (item.prefix, item.base or _mark(item.body)) if part)[:MAX_ID_CHARS]


def _marked_id(plain: str, mark: str) -> str:
    return f"{plain[: MAX_ID_CHARS - _N_HEX - 1]}-{mark}"


def _mark(body: Mapping[str, Json]) -> str:
    return digest_of({key: value for key, value in body.items() if key != "id"})[:_N_HEX]


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
        there = _there(case, by_id)
        if there is not None:
            present.append(there)
        elif case["id"] in by_id:
            raise InputError(
                f"{shown_as}: case {case['id']!r} is there with another content",
                hint="rename one of them, or raise the suite's version and edit it by hand",
            )
        else:
            added.append(case)
            by_id[case["id"]] = case
    merged = [*own, *added]
    return Merged(
        document=merged if isinstance(document, list) else {**document, "cases": merged},
        added=tuple(case["id"] for case in added),
        present=tuple(present),
    )


def _there(case: Mapping[str, Json], by_id: Mapping[str, Mapping[str, Json]]) -> str | None:
    """The id under which the case is there: its own, or the one it had while no other, or another one, had the same."""
    name, mark = str(case["id"]), _mark(case)
    names = [name, _marked_id(name, mark), *([name[: -len(mark) - 1]] if name.endswith(f"-{mark}") else [])]
    return next((one for one in names if one in by_id and _mark(by_id[one]) == mark), None)
