"""Making foreign text safe to show. Owns the escaping for terminal, Markdown and CI logs; knows nothing of reports.

Model output, file names and skill texts are hostile: they may hold terminal escapes, bidirectional overrides, table
bars, HTML, mentions and workflow commands. What is shown is always one line of visible characters.
"""

from __future__ import annotations

import re
import unicodedata

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~$@&:-])")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line without control, format or bidirectional characters, cut to ``limit`` columns with ``…``.

    White space of every kind becomes one space; what cannot be seen becomes ``\\u{…}`` in hex, so that nothing hides.
    """
    shown = "".join(_visible(char) for char in " ".join(text.split()))
    return shown if limit is None else clip(shown, limit)


def _visible(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if unicodedata.category(char) in _INVISIBLE:
        return f"\\u{{{ord(char):x}}}"
    return char


def width(text: str) -> int:
    """Columns that a terminal needs for ``text``: wide East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
        for char in text
    )


def clip(text: str, limit: int) -> str:
    """The text cut to ``limit`` columns, the last of them ``…`` when something was cut."""
    if width(text) <= limit:
        return text
    kept, used = [], 0
    for char in text:
        used += width(char)
        if used > limit - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def markdown_cell(text: str, limit: int = 300) -> str:
    """The text as one inert Markdown table cell: no bar, no HTML, no link, no mention, no line break.

    An HTML entity stands for every character that Markdown or its host could read as markup; an empty text is a space.
    """
    shown = one_line(text, limit)
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", shown) or " "


def command_safe(text: str) -> str:
    """The text so that a CI log reads no workflow command in it: a line never begins with ``::`` or ``##[``."""
    return "\n".join(
        f" {line}" if line.lstrip().startswith(("::", "##[", "##vso[")) else line for line in text.split("\n")
    )
