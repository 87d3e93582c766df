"""One case of another tool on its way here. Owns what becomes of each part, and that no part is dropped unsaid.

A statement becomes a criterion, word for word. What code can decide becomes a check, built before it is taken: one that
the engine here refuses is lost and listed. What cannot be carried is a line; what makes it another case is a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from skillassay.canonical import Json, short_digest
from skillassay.checks import build_check
from skillassay.checks.base import SpecProblem
from skillassay.interop.exchange import slug

NEGATIVE = frozenset({"not_regex", "not_contains"})
"""Checks that an empty answer passes: they say what must not stand there."""
_MOST_SHOWN = 60


class Draft:
    """What was read of one case: collected field by field, then carried or refused as a whole."""

    def __init__(self, *, where: str, item: Mapping[str, Any], skill: str | None) -> None:
        self.where = where
        self.item = item
        self.skill = skill
        self.query: str | None = None
        self.given = ""
        self.rubric: list[Json] = []
        self.checks: list[dict[str, Json]] = []
        self.skills: tuple[str, ...] | None = None
        self.scripts: tuple[str, ...] | None = None
        self.should_trigger: bool | None = None
        self.reference: str | None = None
        self.files: list[Json] = []
        self.notes: list[str] = []
        self.lost: list[str] = []
        self.refused: list[str] = []
        self._texts: set[str] = set()
        self._ids: set[str] = set()

    def lose(self, what: str) -> None:
        """Say what of the case is not carried."""
        self.lost.append(f"{self.where}: {what}")

    def refuse(self, why: str) -> None:
        """Say why the case is not carried at all."""
        self.refused.append(f"{self.where}: not carried, {why}")

    def lose_fields(self, known: Iterable[str], *, of: Mapping[str, Any] | None = None, named: str = "") -> None:
        """Name each field that has no place here; ``of`` a part of the case that is ``named`` so."""
        for key in sorted(set(map(str, self.item if of is None else of)) - set(known)):
            self.lose(f"{named}field {key!r}")

    def text(self, *keys: str) -> str | None:
        """The text under the first of ``keys`` that has one; what is there and is none is named."""
        for key in keys:
            value = self.item.get(key)
            if isinstance(value, str) and value.strip():
                return value
            if value is not None and value != "":
                self.lose(f"field {key!r}, which is no text")
        return None

    def entries(self, key: str) -> list[Json]:
        """The list under ``key``; what is there and is none is named."""
        value = self.item.get(key)
        if value is not None and not isinstance(value, list):
            self.lose(f"field {key!r}, which is no list")
        return value if isinstance(value, list) else []

    def name(self, *keys: str) -> None:
        """Take the id from the first of ``keys`` that has one; a name that an id cannot say whole is noted."""
        for key in keys:
            value = self.item.get(key)
            if isinstance(value, bool) or (value is not None and not isinstance(value, (str, int, float))):
                self.lose(f"field {key!r}, which is neither text nor number")
            elif value is not None and str(value).strip():
                own = slug(str(value))
                if key != "id" and (self.given or own != value):
                    self.notes.append(str(value))
                self.given = self.given or own

    def add_statement(self, text: str, *, name: str | None = None) -> None:
        """A criterion; under its own name where it has one that is free."""
        if text in self._texts:
            return
        self._texts.add(text)
        own = slug(name or "")[:80]
        is_named = bool(own) and own not in self._ids
        self._ids.add(own)
        self.rubric.append({"id": own, "text": text} if is_named else text)

    def add_check(self, kind: str, *, note: str | None = None, what: str = "", **fields: Json) -> bool:
        """A check by code, if the engine here builds it; otherwise it is lost, ``what`` being its name there."""
        own = {"type": kind, **fields}
        spec: dict[str, Json] = {"id": f"{kind.replace('_', '-')}-{short_digest(own)[:8]}", **own}
        try:
            build_check(spec, where=what or kind)
        except SpecProblem as problem:
            self.lose(f"{problem}")
            return False
        if spec["id"] not in self._ids:
            self._ids.add(spec["id"])
            self.checks.append({**spec, "note": note} if note else spec)
        return True

    def expect(self, skills: Sequence[str], *, where: str) -> None:
        """The skills that the case should lead to, or that it should lead to none; said twice, it must be one thing."""
        if self.skills is not None and set(self.skills) != set(skills):
            self.refuse(f"{where} contradicts what else it expects of skills")
        self.skills = tuple(dict.fromkeys(skills))

    def expect_script(self, value: Json) -> None:
        """The script that should run, against the skill's own folder where it is a path in there."""
        if value is None:
            return
        owner = self.skills[0] if self.skills else self.skill
        if not isinstance(value, str) or not owner or not _is_plain(value):
            self.lose(f"expected script {_shown(value)}, which is no path in a skill")
            return
        parts = PurePosixPath(value).parts
        inside = parts[1:] if parts[0] == owner else parts
        inside = inside if inside[:1] == ("scripts",) else ("scripts", *inside)
        self.scripts = (*(self.scripts or ()), "/".join((owner, *inside)))

    @property
    def is_negative(self) -> bool:
        """Whether it should lead to no skill."""
        return self.skills == ()

    @property
    def asks_something(self) -> bool:
        """Whether anything of it says what must stand in the answer."""
        return bool(self.rubric) or any(check["type"] not in NEGATIVE for check in self.checks)


def not_activating(skill: str) -> str:
    """The note that keeps which skill should not answer, where it is said of all."""
    return f"must not activate {skill}"


def _is_plain(name: str) -> bool:
    pure = PurePosixPath(name)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts and not set(name) & set("\\ \t\n\0")


def _shown(value: Json) -> str:
    return repr(value)[:_MOST_SHOWN]
