"""Lists of questions with a ground truth, as some vendors keep them beside their skills. Owns what the fields become.

    [{"id", "question", "expected_skill" | null, "expected_script" | null, "ground_truth", "expected_behavior": […]}]

The same under ``{"skill", "cases"}``, or one such object alone. ``expected_behavior`` is the rubric, ``ground_truth``
the judge's reference; ``expected_skill: null`` says that no skill should answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.collecting import Collection
from skillassay.interop.evals import add_assertion, expect_skill

TOP = frozenset({"skill", "cases"})
_FIELDS = frozenset({
    "id", "question", "expected_skill", "expected_script", "ground_truth", "expected_behavior", "should_trigger",
    "files",
})  # fmt: skip


def question_items(value: Json) -> list[Json]:
    """The cases of the list, the wrapper or the single object."""
    if isinstance(value, list):
        return value
    cases = value.get("cases")
    return cases if isinstance(cases, list) else [value]


def read_questions(value: Json, into: Collection) -> None:
    """All questions of a file."""
    if isinstance(value, Mapping) and isinstance(value.get("cases"), list):
        into.lose_fields(value, TOP)
    for index, item in enumerate(question_items(value)):
        draft = into.draft(f"[{index}]", item)
        if draft is None:
            continue
        draft.name("id")
        draft.query = draft.text("question")
        for entry in draft.entries("expected_behavior"):
            add_assertion(draft, entry)
        draft.reference = draft.text("ground_truth")
        draft.files = draft.entries("files")
        expect_skill(draft, into)
        draft.expect_script(draft.item.get("expected_script"))
        draft.lose_fields(_FIELDS)
        into.add(draft)


def named_skills(value: Any) -> set[str]:
    """The skills that the questions expect."""
    items = [item for item in question_items(value) if isinstance(item, Mapping)]
    return {item["expected_skill"] for item in items if isinstance(item.get("expected_skill"), str)}
