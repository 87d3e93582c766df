"""Headings, list items, table rows and code, by hand from CommonMark's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.mutation.structure import Part, parse_structure


def texts(source: str, parts: tuple[Part, ...]) -> list[str]:
    """The text of each part."""
    lines = source.split("\n")
    return ["\n".join(lines[part.start : part.end]) for part in parts]


ITEMS = {
    "three marks": ("- a\n* b\n+ c", ["- a", "* b", "+ c"]),
    "numbers": ("1. a\n2) b", ["1. a", "2) b"]),
    "wrapped lines, indented or not": ("- a\n  b\nc\n- d", ["- a\n  b\nc", "- d"]),
    "an inner list belongs to its item": (
        "1. a\n   - b\n   - c\n2. d",
        ["1. a\n   - b\n   - c", "   - b", "   - c", "2. d"],
    ),
    "a second paragraph, indented": ("- a\n\n  b\n\nc", ["- a\n\n  b"]),
    "text below a blank line is outside": ("- a\n\nb", ["- a"]),
    "a blank line between items": ("- a\n\n- b", ["- a", "- b"]),
    "a fence inside an item": ("- a\n  ```\n  - no\n  ```\n- b", ["- a\n  ```\n  - no\n  ```", "- b"]),
    "no items in a fence": ("```\n- a\n1. b\n```\n- c", ["- c"]),
    "a fence of four is not closed by three": ("````\n```\n- a\n````\n- b", ["- b"]),
    "a fence that is never closed": ("~~~\n- a", []),
    "inline code does not open a fence": ("```a``` b\n- c", ["- c"]),
    "a rule is no item": ("* * *\n- - -\n***", []),
    "a mark needs a blank behind it": ("-a\n1.b\n*c*", []),
    "indented by four it is code": ("a\n\n    - b\n\nc", []),
    "a year that begins a wrapped line": ("It was in\n1984. Then\n- a", ["- a"]),
    "a heading ends a list": ("- a\n# b\nc", ["- a"]),
    "an inner list behind a tab": ("- a\n\t- b\n- c", ["- a\n\t- b", "\t- b", "- c"]),
    "an item without text": ("-\n- a", ["-", "- a"]),
}


@pytest.mark.parametrize("name", ITEMS)
def test_list_items(name: str) -> None:
    """Each item with what it holds."""
    source, wanted = ITEMS[name]
    assert texts(source, parse_structure(source.split("\n")).items) == wanted


SECTIONS = {
    "up to the next of the level or above": (
        "## a\n1\n### b\n2\n## c\n3",
        ["## a\n1\n### b\n2\n", "### b\n2\n", "## c\n3"],
    ),
    "a title has the text before the next heading": ("# t\n0\n## a\n1", ["# t\n0", "## a\n1"]),
    "a title without a text is none": ("# t\n\n## a\n1", ["## a\n1"]),
    "one heading alone holds all": ("x\n# t\n1\n2", ["# t\n1\n2"]),
    "two titles are two sections": ("# a\n1\n# b\n2", ["# a\n1\n", "# b\n2"]),
    "underlined headings": ("Title\n=====\n0\n\nA\n---\n1", ["Title\n=====\n0\n", "A\n---\n1"]),
    "a rule below a blank line underlines nothing": ("a\n\n---\nb", []),
    "no blank, no heading": ("#a\nb", []),
    "none in code": ("```\n# a\nb\n```\n\n    # c\n", []),
    "a comment of a shell inside an item's fence": ("- a\n  ```\n  # b\n  ```", []),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections(name: str) -> None:
    """Each heading with its text."""
    source, wanted = SECTIONS[name]
    found = texts(source, parse_structure(source.split("\n")).sections)
    assert [one.rstrip("\n") for one in found] == [one.rstrip("\n") for one in wanted]


def test_rows_below_the_head() -> None:
    """The rows of each table, with or without outer bars; not the head, not a bar in a sentence, nothing in code."""
    source = (
        "| a | b |\n| - | :-: |\n| 1 | 2 |\n| 3 | 4 |\n\nx | y\n\nc | d\n--|--\n5 | 6\nend\n```\n|a|\n|-|\n|7|\n```"
    )
    assert texts(source, parse_structure(source.split("\n")).rows) == ["| 1 | 2 |", "| 3 | 4 |", "5 | 6"]


def test_code_is_told() -> None:
    """Fences with their marks, and what is indented by four below a blank line; a wrapped line is none."""
    source = "a\n    wrapped\n\n    code\n    more\n\n- x\n\n  inside\n\n      code of x\n```\nb\n```"
    told = parse_structure(source.split("\n")).is_code
    code = [line for line, is_code in zip(source.split("\n"), told, strict=True) if is_code]
    assert code == ["    code", "    more", "      code of x", "```", "b", "```"]


def test_the_innermost_item_of_a_line() -> None:
    """A line of an inner item belongs to that one, a line outside to none."""
    structure = parse_structure(["- a", "  - b", "    c", "", "d"])
    assert structure.item_at(2) == Part(start=1, end=3)
    assert structure.item_at(0) == Part(start=0, end=3)
    assert structure.item_at(4) is None


LINE = st.text(alphabet="-*+1.#|`~ \tab=", max_size=8)


@given(st.lists(LINE, max_size=12))
def test_any_lines_have_parts_within_them(lines: list[str]) -> None:
    """No text is refused; each part begins with its own first line and ends within the text."""
    structure = parse_structure(lines)
    assert len(structure.is_code) == len(lines)
    for part in (*structure.sections, *structure.items, *structure.rows):
        assert 0 <= part.start < part.end <= len(lines)
        assert lines[part.start].strip()
