"""Why a piece of YAML is refused, in an author's words. Owns the causes and their hints; reads no file.

A parser says "did not find expected key"; the author needs "text after the closing quote". The cause is found in the
source line at the parser's mark, so that libyaml and the pure parser are explained alike. The commonest causes in
public skills, in order: an unquoted ``: ``, text after a closing quote, ``@`` or a backtick at the start of a value,
a broken ``[list]``, a bare ``*``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

_PRINTABLE = r"\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
# Compiled by their first use: only a broken file needs them.
_UNPRINTABLE = f"[^{_PRINTABLE}]"
_PAIR = r"\s*(?:- +)*([^\s#'\"\[\]{},][^:]*|'[^']*'|\"[^\"]*\"):[ \t]+(\S.*)"
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')"""
_QUOTE_WHOLE = "put the whole value in quotes, or write `>-` after the colon and the text on an indented line below"
_STARTS = {
    "@": "a value cannot begin with `@`",
    "`": "a value cannot begin with a backtick",
    "%": "a value cannot begin with `%`",
    "*": "a value that begins with `*` is an alias to YAML, not text",
    "&": "a value that begins with `&` is an anchor to YAML, not text",
    "!": "a value that begins with `!` is a tag to YAML, not text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What is wrong at which character (``index`` from 0, ``column`` from 1), and what to do."""

    message: str
    hint: str | None
    index: int
    column: int


def explain(text: str, error: yaml.YAMLError) -> Cause:
    """The cause of a parser's or scanner's error on ``text``."""
    odd = re.search(_UNPRINTABLE, text)
    if odd is not None:
        return _cause(text, odd.start(), f"control character U+{ord(odd[0]):04X}", "remove it")
    if not isinstance(error, yaml.MarkedYAMLError):
        return _cause(text, 0, str(error), None)
    problem, context = error.problem or "", error.context or ""
    unclosed = "end of stream" in problem and "quoted" in context
    look_back = unclosed or "simple key" in context or ("flow" in context and _on_other_line(text, error))
    mark: Any = error.context_mark if look_back and error.context_mark is not None else error.problem_mark
    index = min(mark.index, len(text)) if mark is not None else 0
    if unclosed:
        return _cause(text, index, "a quotation mark is opened and never closed", "close it, or quote the whole value")
    message, hint = _cause_on_line(text, index, problem, context)
    return _cause(text, index, message, hint)


def _cause(text: str, index: int, message: str, hint: str | None) -> Cause:
    return Cause(message=message, hint=hint, index=index, column=index - text.rfind("\n", 0, index))


def _on_other_line(text: str, error: yaml.MarkedYAMLError) -> bool:
    opened: Any = error.context_mark
    noticed: Any = error.problem_mark
    return bool(opened and noticed and "\n" in text[opened.index : noticed.index])


def _cause_on_line(text: str, index: int, problem: str, context: str) -> tuple[str, str | None]:
    start = text.rfind("\n", 0, index) + 1
    end = text.find("\n", index)
    line = text[start : end if end >= 0 else len(text)]
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "a tab indents the line", "indent with spaces"
    pair = re.match(_PAIR, line)
    value = pair[2] if pair is not None else ""
    quoted = re.match(_QUOTED, value)
    if quoted is not None and value[quoted.end() :].strip() and not value[quoted.end() :].lstrip().startswith("#"):
        key = pair[1].strip() if pair is not None else ""
        return f"text after the closing quote in the value of `{key}`", _QUOTE_WHOLE
    at = text[index : index + 1]
    sign = at if at and at in "@`%" else value[:1]
    if sign in _STARTS:
        return _STARTS[sign], f'quote the value, as in "{sign}…"'
    if "mapping values are not allowed" in problem:
        return "an unquoted `: ` inside a value", _QUOTE_WHOLE
    if "flow" in context or value[:1] in ("[", "{"):
        return (
            "a list in `[ ]` or a mapping in `{ }` is broken",
            "close every bracket, and quote items that hold brackets, commas or `@`",
        )
    if "escape" in problem:
        return "an unknown `\\` escape inside double quotes", "use single quotes, or write `\\\\` for a backslash"
    if "simple key" in context:
        hint = "indent it if it continues the value above; is the closing `---` missing above it?"
        return f"{line.strip()[:40]!r} is neither `key: value` nor part of a value", hint
    if "block scalar" in context:
        return "text stands on the line of `>` or `|`", "put the text on an indented line below"
    return problem or "it cannot be read", None
