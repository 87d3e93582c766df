"""Folding of text for comparison: two spellings of one sentence become one. Owns what counts as mere presentation.

In this order, repeated until nothing changes (so folding twice is folding once):

1. Unicode NFKC: full-width letters and digits become plain, ligatures open, no-break spaces become spaces, "²" is "2".
2. Invisible characters go: category Cf and every default-ignorable one (zero-width, soft hyphen, direction marks,
   variation selectors).
3. Dashes (U+2010 to U+2015, U+2043, U+2212) become "-". Quotes and apostrophes (‘ ’ ‚ ‛ ʼ ‹ ›) become "'", the double
   ones (“ ” „ ‟ « ») '"'; the white space that French sets inside a pair of guillemets goes with them.
4. Markdown emphasis goes: every back-quote; runs of "*" and "_" except those that are text: between white space or
   line ends on both sides ("2 * 3"), "_" between letters or digits ("leave_balance"), "*" between digits ("2*3").
5. At the start of each line list bullets ("-", "*", "+", "•" and the like, before a space or the line's end) and quote
   markers (">") go. Numbers of ordered lists stay: they cannot be told from figures of the text.
6. Every run of white space, line ends too, becomes one space.
7. White space and quotes at both ends go; at the start of the whole text also further bullets and markers.

Case, accents, final punctuation, headings, tables and links are left alone. No digit is lost, but "- 5" at the start of
a line is a bullet before a 5 ("-5" stays): figures are compared by ``numeric_range``, not by folded text.
"""

from __future__ import annotations

import re
import unicodedata

import regex

_INVISIBLE = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
_SIGNS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
)
# Inward pairs (»ja«, as in German) first: their insides touch them, where French sets spaces.
_GUILLEMETS = (
    (re.compile(r"(?<!\S)»([^\s«»](?:[^«»]*[^\s«»])?)«"), '"'),
    (re.compile("«([^«»]*)»"), '"'),
    (re.compile("‹([^‹›]*)›"), "'"),
)
_LONE_GUILLEMETS = str.maketrans({"«": '"', "»": '"', "‹": "'", "›": "'"})
_EMPHASIS = re.compile(r"\*+|_+")
_BULLET = r"[-+*•◦▪▫●○‣·](?: |$)"
_LINE_START = re.compile(rf"(?:{_BULLET}|> ?)+")
_TEXT_START = re.compile(rf"(?:{_BULLET}|[>\s'\"])+")


def fold_text(text: str) -> str:
    """The text on one line, without what is mere presentation. Idempotent; the module's docstring is the definition."""
    while (folded := _fold_once(text)) != text:
        text = folded
    return text


def _fold_once(text: str) -> str:
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_SIGNS)
    joined = " ".join(filter(None, map(_fold_line, text.splitlines())))
    for pair, quote in _GUILLEMETS:
        joined = pair.sub(lambda match, quote=quote: f"{quote}{match[1].strip()}{quote}", joined)  # type: ignore[misc]
    joined = joined.translate(_LONE_GUILLEMETS)
    # One expression for every mixture of quotes and bullets: peeling them one layer a round would be quadratic.
    start = _TEXT_START.match(joined)
    return joined[start.end() if start else 0 :].rstrip(" '\"")


def _fold_line(line: str) -> str:
    line = " ".join(line.replace("`", "").split())
    line = _EMPHASIS.sub(_emphasis, line)
    start = _LINE_START.match(line)
    return line[start.end() if start else 0 :].strip()


def _emphasis(match: re.Match[str]) -> str:
    """Nothing for a run that marks emphasis, the run itself where it is part of the text."""
    line, start, end = match.string, match.start(), match.end()
    before, after = line[start - 1 : start], line[end : end + 1]
    if before in {"", " "} and after in {"", " "}:
        return match[0]
    if match[0][0] == "_":
        return match[0] if before.isalnum() and after.isalnum() else ""
    return match[0] if before.isdecimal() and after.isdecimal() else ""
