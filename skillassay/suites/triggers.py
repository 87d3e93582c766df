"""Trigger suites: requests that should load a skill, and near ones that should not. Owns their format and their split.

    {
      "triggers": 1, "suite": NAME, "version": "1.0.0", "skill"?: SKILL,
      "cases": [{"id", "query", "should_trigger": true | false, "skill"?: SKILL, "split"?: "train" | "validation"}]
    }

``skill`` at the head is that of each case without one. A case without ``split`` has the one that follows from its name:
of SHA-256 of the UTF-8 bytes ``SUITE/ID`` the first four bytes are a number, highest byte first; divided by five it
leaves 0, 1 or 2 for train (about 60 %), 3 or 4 for validation. So a further case, another order or another wording
moves no case. The split is part of a case's digest, as it is in the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from skillassay.canonical import digest_of
from skillassay.documents import Document, load_document
from skillassay.findings import Finding, Severity, register
from skillassay.schema import document_findings
from skillassay.suites.case import DUPLICATE_ID

NO_SKILL = register("triggers.no-skill", "A trigger case names no skill, and its suite names none for all cases.")
ONE_SIDED = register(
    "triggers.one-sided", "A part of a trigger suite lacks requests that should load the skill, or that should not."
)


class Split(StrEnum):
    """What a case is for: to write a description by, or to try it on."""

    TRAIN = "train"
    VALIDATION = "validation"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerCase:
    """One request. ``skill`` is as the author wrote it; ``skill_path`` is None until the project knows it."""

    id: str
    query: str
    should_trigger: bool
    skill: str
    split: Split
    suite: str
    suite_version: str
    line: int | None = None
    skill_path: str | None = None

    @property
    def normal(self) -> dict[str, Any]:
        """The normal form, which the digest covers."""
        return {
            "id": self.id,
            "query": self.query,
            "should_trigger": self.should_trigger,
            "skill": self.skill,
            "split": self.split.value,
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the normal form."""
        return digest_of(self.normal)

    def of(self, skill_path: str | None) -> TriggerCase:
        """The case with the folder of its skill."""
        return replace(self, skill_path=skill_path)


def derived_split(suite: str, case_id: str) -> Split:
    """The split of a case that states none."""
    first = hashlib.sha256(f"{suite}/{case_id}".encode()).digest()[:4]
    return Split.TRAIN if int.from_bytes(first, "big") % 5 < 3 else Split.VALIDATION


def load_triggers(path: Path, *, shown_as: str) -> tuple[tuple[TriggerCase, ...], tuple[Finding, ...]]:
    """Read a trigger suite: all of its cases and warnings, or none and what is wrong."""
    document, findings = load_document(path, shown_as=shown_as)
    if document is None:
        return (), findings
    findings = document_findings(document, "triggers") or tuple(_problems(document))
    if findings:
        return (), findings
    cases = _cases(document)
    return cases, tuple(_one_sided(cases, document.path))


def _problems(document: Document) -> Iterator[Finding]:
    """What a schema cannot say: ids twice, no skill anywhere."""
    head: Any = document.value
    seen: set[str] = set()
    for index, body in enumerate(head["cases"]):
        line = document.line_of(("cases", index))
        if body["id"] in seen:
            yield _error(DUPLICATE_ID, document.path, f"duplicate id {body['id']!r} of a case", "rename one", line)
        seen.add(body["id"])
        if "skill" not in body and "skill" not in head:
            message = f"case {body['id']!r} names no skill, and neither does the suite"
            yield _error(NO_SKILL, document.path, message, "add `skill` to the case or to the head", line)


def _cases(document: Document) -> tuple[TriggerCase, ...]:
    head: Any = document.value
    lines = document.lines_below(("cases",))
    return tuple(
        TriggerCase(
            id=body["id"],
            query=body["query"],
            should_trigger=body["should_trigger"],
            skill=body.get("skill", head.get("skill")),
            split=Split(body["split"]) if "split" in body else derived_split(head["suite"], body["id"]),
            suite=head["suite"],
            suite_version=head["version"],
            line=lines[index] if lines else None,
        )
        for index, body in enumerate(head["cases"])
    )


def _one_sided(cases: Iterable[TriggerCase], path: str) -> Iterator[Finding]:
    """A warning for each part of a skill's cases that holds one kind alone: half of what it should say is not there."""
    kinds: dict[tuple[str, Split], set[bool]] = {}
    skills = dict.fromkeys(case.skill for case in cases)
    for case in cases:
        kinds.setdefault((case.skill, case.split), set()).add(case.should_trigger)
    for skill in skills:
        for split in Split:
            have = kinds.get((skill, split), set())
            missing = [word for kind, word in ((True, "should"), (False, "should not")) if kind not in have]
            if missing:
                message = (
                    f"{PurePosixPath(skill).name}: {split.value} has no request that {' or '.join(missing)} load it"
                )
                hint = "add cases, or state their `split`"
                yield Finding(code=ONE_SIDED, severity=Severity.WARNING, path=path, message=message, hint=hint)


def _error(code: str, path: str, message: str, hint: str, line: int | None) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)
