"""Foreign text on lines of a terminal. Owns where lines break; knows nothing of what they say."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from skillassay.printable import clip, one_line, width

MOST_LINES = 4
"""How many lines one reason may fill: an answer or an error may be of any length, and the record has it whole."""


def wrap(text: str, columns: int, *, lead: str = "", deeper: int = 4) -> list[str]:
    """Foreign text behind ``lead``, broken at blanks; further lines are indented below the text by ``deeper`` more."""
    lines, line = [], lead
    indent = " " * (len(lead) + deeper)
    is_empty = True
    for word in one_line(text).split(" "):
        if not is_empty and width(f"{line} {word}") > columns:
            lines.append(line)
            line, is_empty = indent, True
        line += word if is_empty else f" {word}"
        is_empty = False
    return [*lines, line]


def columns_table(headers: Sequence[str], rows: Sequence[Sequence[str]], align: Sequence[str]) -> list[str]:
    """Headers, a rule and the rows with two blanks between columns: four to eight columns narrower than ``simple``."""
    widths = [max(width(cell) for cell in column) for column in zip(headers, *rows, strict=True)]
    body = [headers, ["-" * wide for wide in widths], *rows]
    return tabulate(body, tablefmt="plain", disable_numparse=True, colalign=align).split("\n")


def reason(text: str, columns: int, *, lead: str, most_lines: int = MOST_LINES) -> list[str]:
    """A reason of any length, on a few lines; words wider than a line (Japanese, a wall of letters) are cut."""
    return whole(clip(one_line(text), (columns - len(lead)) * most_lines), columns, lead=lead)


def whole(text: str, columns: int, *, lead: str) -> list[str]:
    """All of a text behind ``lead``, on as many lines as it takes; words wider than a line are cut, and stay."""
    room = columns - len(lead)
    words = one_line(text).split(" ")
    return wrap(" ".join(piece for word in words for piece in _pieces(word, room)), columns, lead=lead, deeper=0)


def _pieces(word: str, room: int) -> list[str]:
    pieces = [""]
    for char in word if width(word) > room else ():
        if width(pieces[-1] + char) > room:
            pieces.append("")
        pieces[-1] += char
    return pieces if pieces != [""] else [word]
