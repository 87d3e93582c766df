"""Which tool's evals a value is, told by its shape. Owns the signs; a file's name is none of them. Pure.

The signs are fields that the shape cannot be without, so that an unknown field, an empty list or a case that lacks
something changes nothing. What fits none is named with what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from skillassay.canonical import Json


class Shape(StrEnum):
    """The shapes that are read, each in the words that a user is told."""

    EVALS = "evals.json (Agent Skills guide, skill-creator)"
    QUESTIONS = "questions with a ground truth"
    PATTERNS = "scenarios with expected patterns"
    RUBRICS = "scenarios with assertions and a rubric"
    STIMULI = "stimuli with graders"
    TRIGGERS = "trigger queries"
    TWO_LISTS = "two lists of trigger queries"


SIGNS: Mapping[Shape, str] = {
    Shape.EVALS: "an object with a list `evals`",
    Shape.QUESTIONS: "a list of objects with `question`, such a list under `cases`, or one such object",
    Shape.PATTERNS: "an object with a list `scenarios` that has `expected_patterns` or `forbidden_patterns`",
    Shape.RUBRICS: "an object with a list `scenarios` that has `assertions` or a `rubric`",
    Shape.STIMULI: "an object with a list `stimuli`",
    Shape.TRIGGERS: "a list (or JSON lines) of `query` or `prompt` with `should_trigger` or `expected_skill`",
    Shape.TWO_LISTS: "an object with the lists `shouldTrigger` and `shouldNotTrigger`",
}
"""What each shape is known by."""

TWO_LIST_KEYS = (("shouldTrigger", "shouldNotTrigger"), ("should_trigger", "should_not_trigger"))
_PATTERNS = frozenset({"expected_patterns", "forbidden_patterns", "mock_response"})
_RUBRICS = frozenset({"assertions", "rubric", "expect_tools", "reject_tools", "expect_activation", "setup"})
_MOST_KEYS = 8


def detect_shape(value: Json) -> Shape | None:
    """The shape of ``value``; None where it is none of them, or two at once."""
    if isinstance(value, list):
        return _shape_of_items(value)
    if not isinstance(value, Mapping):
        return None
    found = [shape for shape, holds in _object_signs(value) if holds]
    return found[0] if len(found) == 1 else None


def _object_signs(value: Mapping[str, Any]) -> Iterable[tuple[Shape, bool]]:
    scenarios = _objects(value.get("scenarios"))
    yield Shape.EVALS, isinstance(value.get("evals"), list)
    yield Shape.STIMULI, isinstance(value.get("stimuli"), list)
    yield Shape.PATTERNS, any(_PATTERNS & set(item) for item in scenarios)
    yield Shape.RUBRICS, any(_RUBRICS & set(item) for item in scenarios)
    yield Shape.TWO_LISTS, two_lists(value) is not None
    yield Shape.QUESTIONS, _is_question(value) or any(map(_is_question, _objects(value.get("cases"))))
    yield Shape.TRIGGERS, _is_trigger(value)


def _shape_of_items(items: Sequence[Json]) -> Shape | None:
    if not items:
        return Shape.QUESTIONS  # published so; it holds nothing, whatever it would have held
    objects = _objects(items)
    if any(map(_is_question, objects)):
        return Shape.QUESTIONS
    return Shape.TRIGGERS if any(map(_is_trigger, objects)) else None


def two_lists(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """The keys of the two lists, where at least one is there and none is anything but a list."""
    for keys in TWO_LIST_KEYS:
        lists = [value[key] for key in keys if key in value]
        if lists and all(isinstance(one, list) for one in lists):
            return keys
    return None


def _objects(value: Json) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _is_question(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("question"), str)


def _is_trigger(item: Mapping[str, Any]) -> bool:
    asks = isinstance(item.get("query"), str) or isinstance(item.get("prompt"), str)
    return asks and (isinstance(item.get("should_trigger"), bool) or "expected_skill" in item)


def describe_found(value: Json) -> str:
    """What a value looks like, for somebody who expected another shape."""
    if isinstance(value, Mapping):
        return f"an object with {_keys(value)}"
    if not isinstance(value, list):
        return f"{'nothing' if value is None else 'a single value'}"
    first = next(iter(value), None)
    return f"a list of {len(value)}, the first " + (
        f"an object with {_keys(first)}" if isinstance(first, Mapping) else "no object"
    )


def _keys(value: Mapping[str, Any]) -> str:
    names = sorted(str(key)[:40] for key in value)
    more = f" and {len(names) - _MOST_KEYS} more" if len(names) > _MOST_KEYS else ""
    return f"the keys {', '.join(names[:_MOST_KEYS])}{more}" if names else "no key"
