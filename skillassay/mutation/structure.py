"""Where the parts of a Markdown text begin and end: headings with their sections, list items, table rows, code.

Reads what CommonMark makes of the lines, as far as a skill's instructions need it. No language is understood, and
nothing inside code (fenced, or indented by four) is a part. Left out: quotations, link definitions, HTML blocks, and
a list marker behind another one on its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"( *)([-*+]|(\d{1,9})[.)])( +|$)")
_BREAK = re.compile(r" {0,3}([-*_])(?: *\1){2,} *")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+) *")
_DELIMITER = re.compile(r" *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *")
_CODE_INDENT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Lines ``start`` to ``end`` (exclusive), counted from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The parts of a text in their order, and for each line whether it is code."""

    sections: tuple[Part, ...]
    items: tuple[Part, ...]
    rows: tuple[Part, ...]
    is_code: tuple[bool, ...]

    def item_at(self, line: int) -> Part | None:
        """The innermost list item that holds a line."""
        holding = [item for item in self.items if item.start <= line < item.end]
        return max(holding, key=lambda item: item.start, default=None)


@dataclass(slots=True)
class _Open:
    """A list item that is not over: its text begins at column ``content``."""

    start: int
    content: int


@dataclass(slots=True)
class _Reading:
    """The state of one pass over the lines."""

    lines: Sequence[str]
    open: list[_Open] = field(default_factory=list)
    items: list[Part] = field(default_factory=list)
    headings: list[tuple[int, int]] = field(default_factory=list)
    is_code: list[bool] = field(default_factory=list)
    fence: str | None = None
    after_blank: bool = True
    in_paragraph: bool = False
    last: int = -1

    def close(self, indent: int) -> None:
        """End the items whose text begins right of ``indent``."""
        while self.open and indent < self.open[-1].content:
            self.items.append(Part(start=self.open.pop().start, end=self.last + 1))

    def read(self) -> None:
        for number, line in enumerate(self.lines):
            self.is_code.append(False)
            if self.fence is not None:
                self._in_fence(number, line)
            elif not line.strip():
                self.after_blank, self.in_paragraph = True, False
                continue
            else:
                self.in_paragraph = self._line(number, line)
            self.after_blank, self.last = False, number
        self.close(-1)
        self.items.sort(key=lambda item: item.start)

    def _in_fence(self, number: int, line: str) -> None:
        self.is_code[number] = True
        marks = _FENCE.fullmatch(line)
        if marks is not None and self.fence is not None and marks[1].startswith(self.fence) and not marks[2].strip():
            self.fence = None

    def _line(self, number: int, line: str) -> bool:
        """Read one line that is neither blank nor within a fence; whether a paragraph may go on after it."""
        indent = len(line) - len(line.lstrip(" "))
        fence = _FENCE.fullmatch(line)
        if fence is not None and (fence[1][0] == "~" or "`" not in fence[2]):
            self.close(indent)
            self.fence, self.is_code[number] = fence[1], True
            return False
        if self._is_heading(number, line, indent):
            return False
        item = self._item(line, indent)
        if item is not None:
            self.close(indent)
            self.open.append(_Open(start=number, content=item))
            return True
        if self.in_paragraph:
            return True  # a paragraph goes on whatever its next line's indentation is
        self.close(indent)
        inside = self.open[-1].content if self.open else 0
        self.is_code[number] = indent >= inside + _CODE_INDENT and (self.after_blank or self._code_before(number))
        return not self.is_code[number] and not _BREAK.fullmatch(line)

    def _code_before(self, number: int) -> bool:
        return number > 0 and self.is_code[number - 1]

    def _item(self, line: str, indent: int) -> int | None:
        """The column at which the text of a list item begins; None where the line begins none."""
        marker = _ITEM.match(line)
        room = (self.open[-1].content if self.open else 0) + _CODE_INDENT
        if marker is None or _BREAK.fullmatch(line) or indent >= room:
            return None
        is_list = bool(self.open) or not self.in_paragraph
        if not is_list and (marker[3] not in {None, "1"} or not line[marker.end() :].strip()):
            return None  # a number at the beginning of a paragraph's further line
        n_blanks = len(marker[4])
        return indent + len(marker[2]) + (n_blanks if 1 <= n_blanks <= _CODE_INDENT else 1)

    def _is_heading(self, number: int, line: str, indent: int) -> bool:
        heading = _HEADING.match(line)
        if heading is not None and not (self.open and indent >= self.open[-1].content):
            self.close(indent)
            self.headings.append((number, len(heading[1])))
            return True
        if self.in_paragraph and not self.open and (rule := _UNDERLINE.fullmatch(line)) is not None:
            self.headings.append((number - 1, 1 if rule[1][0] == "=" else 2))
            return True
        return False


def parse_structure(lines: Sequence[str]) -> Structure:
    """The parts of a text that was cut into its lines."""
    reading = _Reading(lines=[line.expandtabs(_CODE_INDENT) for line in lines])
    reading.read()
    return Structure(
        sections=tuple(_sections(lines, reading.headings)),
        items=tuple(reading.items),
        rows=tuple(_rows(lines, reading.is_code)),
        is_code=tuple(reading.is_code),
    )


def _sections(lines: Sequence[str], headings: Sequence[tuple[int, int]]) -> list[Part]:
    """Each heading with its text, up to the next heading of its level or above.

    A title, which holds every other heading, has the text before the next one as its own; without any it is no section.
    """
    parts = []
    for index, (start, level) in enumerate(headings):
        later = [number for number, other in headings[index + 1 :] if other <= level]
        end = later[0] if later else len(lines)
        if index == 0 and len(headings) > 1 and not later:
            end = headings[1][0]
        if any(line.strip() for line in lines[start + 1 : end]):
            parts.append(Part(start=start, end=end))
    return parts


def _rows(lines: Sequence[str], is_code: Sequence[bool]) -> list[Part]:
    """The rows of each table below its head."""
    rows, within = [], False
    for number in range(1, len(lines)):
        line = lines[number]
        if is_code[number] or "|" not in line:
            within = False
        elif _DELIMITER.fullmatch(line) is not None and "|" in lines[number - 1] and not is_code[number - 1]:
            within = True
        elif within:
            rows.append(Part(start=number, end=number + 1))
    return rows
