"""Cases of this project as an ``evals.json``. Owns which checks have words that an importer reads back as they are.

    {"skill_name", "evals": [{"id", "name", "prompt", "expected_output", "files", "expectations" | "assertions"}]}

A criterion is its text. A check of a pattern or a phrase that looks at the answer as it is written is an object that
says so exactly; of any other check there is no such form, and it is named. ``id`` is a number as in the published form,
and ``name`` the case's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json

_EXACT = {
    "regex": ("pattern", "matches the pattern"),
    "not_regex": ("pattern", "does not match the pattern"),
    "contains": ("text", "contains"),
    "not_contains": ("text", "does not contain"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEvals:
    """The document, the files it names by their path here, and what of the cases has no place in it."""

    document: dict[str, Json]
    files: Mapping[str, str]
    without: tuple[str, ...]


def statement_of(check: Mapping[str, Any]) -> str:
    """What a check asks for, in words: said wherever a grading names it."""
    words = _EXACT.get(check["type"])
    said = f"{words[1]} {check[words[0]]!r}" if words else f"holds by the check {check['id']} ({check['type']})"
    return f"{check.get('file', 'The answer')} {said}"


def is_exact(check: Mapping[str, Any]) -> bool:
    """Whether the published form says all of the check."""
    words = _EXACT.get(check["type"])
    return words is not None and set(check) <= {"id", "type", words[0]}


def build_evals(skill: str, cases: Sequence[Mapping[str, Any]], *, key: str) -> WrittenEvals:
    """The document for the normal forms of a skill's ``cases``; ``key`` is the name of its lists of statements."""
    evals: list[Json] = []
    files: dict[str, str] = {}
    without: list[str] = []
    for number, case in enumerate(cases, start=1):
        item: dict[str, Json] = {"id": number, "name": case["id"], "prompt": case["query"]}
        if "reference" in case:
            item["expected_output"] = case["reference"]
        if case["files"]:
            item["files"] = [f"evals/{file['path']}" for file in case["files"]]
            files |= {file["path"]: file["sha256"] for file in case["files"]}
        item[key] = [*(_written(check) for check in case["checks"] if is_exact(check)), *_texts(case)]
        evals.append(item)
        without += _left_out(case)
    return WrittenEvals(document={"skill_name": skill, "evals": evals}, files=files, without=tuple(without))


def _written(check: Mapping[str, Any]) -> dict[str, Json]:
    field, _ = _EXACT[check["type"]]
    key = "pattern" if field == "pattern" else "phrase"
    return {"text": statement_of(check), "type": check["type"], key: check[field]}


def _texts(case: Mapping[str, Any]) -> list[str]:
    return [criterion["text"] for criterion in case["rubric"]]


def _left_out(case: Mapping[str, Any]) -> list[str]:
    """What an evals.json cannot say of a case."""
    lost = [f"check {check['id']} ({check['type']})" for check in case["checks"] if not is_exact(check)]
    lost += ["its behavior"] if "behavior" in case else []
    return [f"evals.json, case {case['id']}: {what} has no place there" for what in lost]
