"""Making foreign text safe to show. Owns the escaping for terminal and Markdown; knows nothing of reports.

Model output, file names and skill texts are hostile: they may hold terminal escapes, bidirectional overrides, table
bars, HTML, mentions and hidden characters. What is shown is always made of visible characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# "www." and "@" and "#" are links to the host that renders the text, even when written as entities: a zero-width space
# behind them is not.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#+!|~$@&:-]|(?<=[wW])\.")
_LINKING = frozenset("@#")
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
"""What Unicode calls default-ignorable, or draws as nothing, in other categories than the above."""
MAX_STACKED = 4


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line without control, format or bidirectional characters, cut to ``limit`` columns with ``…``.

    White space of every kind becomes one space; what cannot be seen becomes ``\\u{…}`` in hex, so that nothing hides
    (but the two selectors of an emoji's style, which real answers are full of). Of stacked marks four stay.
    """
    shown = " ".join(text.split())
    if not (shown.isascii() and shown.isprintable()):
        shown = "".join(_visible(shown))
    return shown if limit is None else clip(shown, limit)


def visible_text(text: str) -> str:
    """The text with its line ends, tabs and spaces as they are, and everything that cannot be seen as in ``one_line``.

    A carriage return before a line end is none of its own.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join("".join(_visible(part)) for part in line.split("\t")) for line in lines)


def _visible(text: str) -> Iterator[str]:
    n_marks = 0
    for char in text:
        category = unicodedata.category(char)
        if category in _UNSEEN or _BLANK.match(char):
            yield f"\\u{{{ord(char):x}}}"
            n_marks = 0
            continue
        n_marks = n_marks + 1 if category[0] == "M" else 0
        if n_marks <= MAX_STACKED:
            yield char
        elif n_marks == MAX_STACKED + 1:
            yield "…"


def width(text: str) -> int:
    """Columns that a terminal needs for ``text``: wide East Asian characters take two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def clip(text: str, limit: int) -> str:
    """The text cut to ``limit`` columns, the last of them ``…`` when something was cut; nothing for no column."""
    if width(text) <= limit:
        return text
    kept, used = [], 0
    for char in text:
        used += _columns(char)
        if used > limit - 1:
            break
        kept.append(char)
    return "".join(kept) + "…" if limit > 0 else ""


def markdown_cell(text: str, limit: int = 300) -> str:
    """The text as one inert Markdown table cell: no bar, no HTML, no link, no mention, no line break.

    An HTML entity stands for every character that Markdown or its host could read as markup; an empty text is a space.
    """
    return _MARKDOWN.sub(_entity, one_line(text, limit)) or " "


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};{'&#8203;' if match[0] in _LINKING else ''}"
