"""Which tool's evals a value is: by its shape alone, and what is close to one is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import InputError
from skillassay.interop.importing import load_source, read_import
from skillassay.interop.shapes import SIGNS, Shape, describe_found, detect_shape

DATA = Path(__file__).parents[1] / "data" / "interop"
PUBLIC = {
    "evals-assertions.json": Shape.EVALS,
    "evals-expectations.json": Shape.EVALS,
    "evals-negative.json": Shape.EVALS,
    "evals-objects.json": Shape.EVALS,
    "questions-empty.json": Shape.QUESTIONS,
    "questions-list.json": Shape.QUESTIONS,
    "questions-one.json": Shape.QUESTIONS,
    "questions-wrapper.json": Shape.QUESTIONS,
    "scenarios-patterns.yaml": Shape.PATTERNS,
    "scenarios-rubric.yaml": Shape.RUBRICS,
    "stimuli.yaml": Shape.STIMULI,
    "triggers-two-lists.json": Shape.TWO_LISTS,
    "triggers.json": Shape.TRIGGERS,
    "triggers.jsonl": Shape.TRIGGERS,
}


def test_every_form_in_the_data_has_its_shape() -> None:
    """The table names each file of the folder, and each file is of the shape that it says."""
    assert {path.name: detect_shape(load_source(path)) for path in DATA.iterdir()} == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_the_name_of_a_file_says_nothing(tmp_path: Path, name: str) -> None:
    """Under another name, without a suffix, the same file is of the same shape."""
    other = tmp_path / "anything"
    other.write_bytes((DATA / name).read_bytes())
    assert detect_shape(load_source(other)) is PUBLIC[name]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"evals": []}, Shape.EVALS),
        ({"evals": [7, None]}, Shape.EVALS),
        ({"evals": [{"prompt": "p", "should_trigger": True}]}, Shape.EVALS),
        ({"stimuli": []}, Shape.STIMULI),
        ({"question": "q"}, Shape.QUESTIONS),
        ({"cases": [{"question": "q"}, 3]}, Shape.QUESTIONS),
        ([{"question": "q", "should_trigger": False}], Shape.QUESTIONS),
        ([None, {"query": "q", "should_trigger": False}], Shape.TRIGGERS),
        ({"prompt": "p", "expected_skill": None}, Shape.TRIGGERS),
        ({"shouldTrigger": []}, Shape.TWO_LISTS),
        ({"should_trigger": ["a"], "should_not_trigger": []}, Shape.TWO_LISTS),
        ({"scenarios": [{"name": "n"}, {"rubric": []}]}, Shape.RUBRICS),
    ],
)
def test_a_shape_is_known_by_what_it_cannot_be_without(value: Any, shape: Shape) -> None:
    """Whatever else is there or missing changes nothing."""
    assert detect_shape(value) is shape


@pytest.mark.parametrize(
    "value",
    [
        {"evals": {"1": {"prompt": "p"}}},
        {"eval": []},
        {"stimuli": {"a": 1}},
        {"scenarios": []},
        {"scenarios": [{"name": "n", "prompt": "p"}]},
        {"scenarios": [{"rubric": []}, {"expected_patterns": []}]},
        {"evals": [], "stimuli": []},
        {"cases": [{"id": "a", "skill": "s", "query": "q", "rubric": ["r"]}], "suite": "s", "version": "1"},
        {"cases": []},
        {"shouldTrigger": "a", "shouldNotTrigger": []},
        {"should_trigger": True},
        [{"query": "q"}],
        [{"prompt": "p", "should_trigger": "yes"}],
        [{"should_trigger": True}],
        [{"question": 7}],
        ["a query"],
        "text",
        None,
        7,
    ],
)
def test_what_is_only_close_is_none(value: Any) -> None:
    """A field of another type, a suite of this project's own, two shapes at once."""
    assert detect_shape(value) is None


def test_an_unknown_shape_is_one_error_with_what_was_looked_for_and_found(tmp_path: Path) -> None:
    """All signs, and the keys that are there."""
    with pytest.raises(InputError) as caught:
        read_import({"tasks": [], "b": 1}, source=tmp_path / "x.json", skill="s")
    assert "found an object with the keys b, tasks;" in caught.value.message
    assert [sign for sign in SIGNS.values() if sign not in caught.value.message] == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "an object with no key"),
        ([{"b": 1, "a": 2}, 3], "a list of 2, the first an object with the keys a, b"),
        ([1], "a list of 1, the first no object"),
        ({str(number): 0 for number in range(10)}, "the keys 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"),
        (None, "nothing"),
        ("x", "a single value"),
    ],
)
def test_what_was_found_is_said_in_words(value: Any, words: str) -> None:
    """Without a value that somebody wrote."""
    assert describe_found(value).endswith(words)
