"""Trigger queries: does a request lead to the skill? Owns the three forms in use; each query is a routing case.

    [{"query" | "prompt", "should_trigger": true}]      the Agent Skills guide, skill-creator
    {"id", "prompt", "expected_skill"} on each line     JSON lines
    {"shouldTrigger": […], "shouldNotTrigger": […]}     two lists, of texts or of objects with a query

A routing case says which skills should be activated, exactly; that one skill should not is carried as: none should.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.collecting import Collection
from skillassay.interop.evals import expect_skill
from skillassay.interop.shapes import two_lists

_FIELDS = frozenset({"id", "name", "query", "prompt", "should_trigger", "expected_skill"})


def read_triggers(value: Json, into: Collection) -> None:
    """A list of queries, or one."""
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        _read(f"[{index}]", item, into)


def read_two_lists(value: Mapping[str, Any], into: Collection) -> None:
    """The queries that should trigger and those that should not."""
    keys = two_lists(value) or ()
    into.lose_fields(value, frozenset({*keys, "skill", "skill_name"}))
    for key, wanted in zip(keys, (True, False), strict=False):
        for index, entry in enumerate(value.get(key, ())):
            item = {"query": entry} if isinstance(entry, str) else entry
            where = f"{key}[{index}]"
            if isinstance(item, Mapping) and item.get("should_trigger", wanted) is not wanted:
                into.refuse(where, "the list that it is in contradicts its 'should_trigger'")
            else:
                _read(where, {**item, "should_trigger": wanted} if isinstance(item, Mapping) else item, into)


def _read(where: str, item: Json, into: Collection) -> None:
    draft = into.draft(where, item)
    if draft is None:
        return
    draft.name("id", "name")
    draft.query = draft.text("query", "prompt")
    expect_skill(draft, into)
    draft.lose_fields(_FIELDS)
    into.add(draft)
