"""What a number in running text is. Nothing is guessed: whoever asks declares the notation.

A *number* is a run of decimal digits (of any script) with the declared group character in its right places and at most
one decimal part behind the declared decimal character, standing on its own. No number at all is what touches a letter
("42abc", "1e3", "10²"), a date, a time, a version, a fraction, a range or a sum ("2026-10-15", "10:30", "1.2.3", "3/4",
"3-5", "140+12"), an identifier ("INV-42", "n.42") or a decimal part alone (".5"). The full rules, with examples, are in
``docs/reference/checks.md``.

A *misfit* is a number under some other declaration ("1,5" where the decimal character is "."), or one whose value its
surroundings leave open: a dash that may be a minus ("–5", "solde : − 5"), "≠ 5", "1 1/2", "1 × 10³". It is never read,
and ``only``, ``first`` and ``last`` do not look past it: they would fall back to a number that nobody meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product

SPACES = " \u00a0\u2007\u2009\u202f"
"""Space, no-break, figure, thin and narrow no-break space: one and the same inside a number and before its unit."""

_EMPHASIS = frozenset("*_`")
_PERCENT = frozenset("%\uff05\u066a")
_MINUS = "-\u2010\u2011\u2212\ufe63\uff0d"
_SIGNS = frozenset("+" + _MINUS)
_DASHES_BESIDE_PD = frozenset(
    "\u2043\u2052\u207b\u208b\u2212\u02d7\u2796"
)  # minus signs and a bullet of other categories
_TIES = frozenset(_MINUS + "+_/@#^\\")  # with letters or digits on both sides these make one word of them
_GLUED_LEFT = frozenset(".,±")  # ".5" is a decimal part alone, "±5" has no sign
_GLUED_RIGHT = frozenset("‰‱")
_BEFORE_NO_SIGN = _SIGNS | _PERCENT | frozenset(")]}")
_BLANKS = frozenset(SPACES + "\t")
_OPENING = frozenset("([{<\"'“«‘")
_WRAPPING = _EMPHASIS | _OPENING
_SPACING = _EMPHASIS | _BLANKS
_BULLETS = frozenset("-\u2013\u2014")  # a true minus and the hyphens that make words open no list
_BEFORE_BULLET = _BLANKS | _BULLETS | frozenset("*>•")
# What changes the value of the number before it: a fraction, or a power of ten.
_GOES_ON = re.compile(
    rf"[*_`]*[{SPACES}\t]*(?:[\u00bc-\u00be\u2150-\u215f\u2189]|(?<=\s)\d+[/\u2044\u2215]\d+(?![/\u2044\u2215\d])"
    rf"|[×xX*·⋅∙][{SPACES}]?10[{SPACES}]?(?:\^|\*\*|[⁰¹²³⁴-⁹⁺⁻])|×10(?!\d|[.,]\d))"
)
# A core is digits with single characters between them: any but white space, brackets, quotes, operators, separators.
_CORE = r"\d+(?:(?:_|[^\w\s()\[\]{}<>\"“”„«»`*=;|×÷~&])\d+)*"
_GROUPED = {"western": r"(?!0)\d{1,3}(?:%s\d{3})+", "indian": r"(?!0)\d{1,2}(?:%s\d{2})*%s\d{3}"}
_MAX_PAIRS = 20  # in an Indian number with spaces: without a limit a text of pairs would take quadratic time


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberToken:
    """One number of a text. ``start`` and ``end`` enclose sign and digits; ``percent`` tells of a percent sign behind.

    ``value`` is None for a misfit. ``has_unit`` says whether the notation's unit follows.
    """

    value: Decimal | None
    start: int
    end: int
    percent: bool = False
    has_unit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How numbers are written: ``group`` is one of "", " ", ".", ",", "'"; ``grouping`` is "western" or "indian"."""

    decimal: str
    group: str = ""
    grouping: str = "western"
    unit: str = ""
    shape: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        group = {" ": f"[{SPACES}]", "'": "['’]"}.get(self.group, re.escape(self.group))
        grouped = _GROUPED[self.grouping].replace("%s", group) + "|" if self.group else ""
        shape = rf"(?P<whole>{grouped}\d+)(?:{re.escape(self.decimal)}(?P<part>\d+))?"
        object.__setattr__(self, "shape", re.compile(shape))

    def read(self, digits: str) -> Decimal | None:
        """The value of unsigned digits, or None where this notation does not write a number so."""
        match = self.shape.fullmatch(digits)
        if match is None:
            return None
        whole, part = ("".join(filter(str.isdecimal, text or "")) for text in match.group("whole", "part"))
        return Decimal(f"{whole}.{part}" if part else whole)


_ANY_NOTATION = tuple(
    Notation(decimal=decimal, group=group, grouping=grouping)
    for decimal, group, grouping in product(".,", ("", " ", ".", ",", "'"), _GROUPED)
    if decimal != group
)


def scan_numbers(text: str, notation: Notation) -> list[NumberToken]:
    """Numbers and misfits of the text, in order."""
    cores = [match.span() for match in re.finditer(_CORE, text)]
    tokens = []
    for start, end in _join_spaced(text, cores, notation):
        left, right = _look_left(text, start), _look_right(text, end, notation.unit)
        if left is None or right is None:
            continue
        (first, negative), (percent, has_unit, behind) = left, right
        value = notation.read(text[start:end])
        if value is None and not any(other.shape.fullmatch(text, start, end) for other in _ANY_NOTATION):
            continue
        if negative is None or _is_denied(text, first) or _GOES_ON.match(text, end) or _GOES_ON.match(text, behind):
            value = None
        if value is not None and negative:
            value = value.copy_negate()  # exact, where unary minus would round to the context's precision
        tokens.append(NumberToken(value=value, start=first, end=end, percent=percent, has_unit=has_unit))
    return tokens


def _join_spaced(text: str, cores: Sequence[tuple[int, int]], notation: Notation) -> Iterator[tuple[int, int]]:
    """Cores that one space parts, joined where together they are a number with spaces between its groups.

    The longest such row is taken ("1 234 567" is one number, "4 2" are two). Where space is not the declared group
    character only no-break spaces join, and what they join is a misfit.
    """
    at = 0
    while at < len(cores):
        last = _end_of_row(text, cores, at, notation)
        yield cores[at][0], cores[last][1]
        at = last + 1


def _end_of_row(text: str, cores: Sequence[tuple[int, int]], at: int, notation: Notation) -> int:
    """Index of the last core of the longest grouped number that starts with core ``at``."""
    indian = notation.grouping == "indian"
    joints, decimals = (SPACES, notation.decimal) if notation.group == " " else (SPACES[1:], ".,")
    head = text[slice(*cores[at])]
    if not head.isdecimal() or unicodedata.decimal(head[0]) == 0 or len(head) > (2 if indian else 3):
        return at
    last = at
    for index in range(at + 1, min(len(cores), at + _MAX_PAIRS) if indian else len(cores)):
        gap, piece = text[cores[index - 1][1] : cores[index][0]], text[slice(*cores[index])]
        whole = re.split(f"[{decimals}]", piece, maxsplit=1)[0]
        if len(gap) != 1 or gap not in joints or not whole.isdecimal():
            break
        if len(whole) == 3:
            last = index
        if whole != piece or len(whole) != (2 if indian else 3):
            break
    return last


def _look_left(text: str, start: int) -> tuple[int, bool | None] | None:
    """Where the number starts with its sign, and whether it is negative (None: a dash before it leaves that open).

    None instead of both if it is glued to what stands before.
    """
    at = start - _is_money(text[start - 1 : start])
    if at < start and text[at - 1 : at].isdecimal():
        return None
    bare = _skip_back(text, at, _EMPHASIS)
    if text[bare - 1 : bare] in _SIGNS:
        sign = bare - 1
        money = _is_money(text[sign - 1 : sign])
        before = text[sign - 1 - money : sign - money]
        glued = before.isdecimal() if money else _is_wordy(before) or _is_dash(before) or before in _BEFORE_NO_SIGN
        return None if glued else (sign, text[sign] != "+")
    before = text[at - 1 : at]
    if before in _GLUED_LEFT or (at == start and _is_wordy(before)):
        return None
    tie = _skip_back(text, at, _TIES)
    if tie < at and _is_wordy(text[tie - 1 : tie]):
        return None
    dash = _find_dash(text, at)
    return (start, False) if dash is None else (dash, None)


def _find_dash(text: str, at: int) -> int | None:
    """Place of a dash before ``at`` that may be a minus: directly, before a bracket, or over spaces; else None.

    Over spaces a bullet is none, and neither is the long dash of a sentence ("Total — 5").
    """
    near = at
    while near > 0 and (text[near - 1] in _WRAPPING or _is_invisible(text[near - 1])):
        near -= 1
    if _is_dash(text[near - 1 : near]):
        return near - 1
    far = near
    while far > 0 and (text[far - 1] in _SPACING or _is_invisible(text[far - 1])):
        far -= 1
    dash = far - 1
    if far == near or not _is_dash(text[dash:far]) or _is_bullet(text, dash):
        return None
    before = _skip_back(text, dash, _SPACING)
    in_sentence = before < dash and (_is_wordy(text[before - 1 : before]) or text[before - 1 : before] in tuple(")]»"))
    return None if text[dash] == "\u2014" and in_sentence else dash


def _is_bullet(text: str, dash: int) -> bool:
    """Whether the dash is the last of the bullets and quote markers at the start of its line, with a space behind."""
    first = _skip_back(text, dash, _BEFORE_BULLET)
    return text[dash] in _BULLETS and text[dash + 1 : dash + 2] in {" ", "\t"} and text[first - 1 : first] in {"", "\n"}


def _is_denied(text: str, start: int) -> bool:
    at = _skip_back(text, start, _SPACING)
    return text[max(0, at - 1) : at] == "≠" or text[max(0, at - 2) : at] == "!="


def _look_right(text: str, end: int, unit: str) -> tuple[bool, bool, int] | None:
    """Whether a percent sign and whether the unit follows, and where they end; None if the number is glued to more."""
    bare = _skip(text, end, _EMPHASIS)
    places = [bare, bare + 1] if text[bare : bare + 1] in tuple(SPACES) else [bare]
    for place in places if unit else ():
        behind = text[place + len(unit) : place + len(unit) + 1]
        if text.startswith(unit, place) and not (unit[-1].isalnum() and _is_wordy(behind)):
            return False, True, place + len(unit)
    percent = text[places[-1] : places[-1] + 1] in _PERCENT
    at = places[-1] + 1 if percent else end + _is_money(text[end : end + 1])
    behind = text[at : at + 1]
    if behind in _GLUED_RIGHT or (_is_wordy(behind) if at == end else behind.isdecimal()):
        return None
    if at == end and behind == "." and _is_wordy(text[at + 1 : at + 2]):
        return None
    tie = _skip(text, at, _TIES)
    after = text[tie : tie + 1]
    per = text[at:tie] == "/" and after.isalpha()  # "2,25/mois" is a rate, "3/4" never came so far
    return None if tie > at and not per and (_is_wordy(after) or _is_money(after)) else (percent, False, at)


def _skip(text: str, at: int, chars: frozenset[str]) -> int:
    while text[at : at + 1] in chars:
        at += 1
    return at


def _skip_back(text: str, at: int, chars: frozenset[str]) -> int:
    while at > 0 and text[at - 1] in chars:
        at -= 1
    return at


def _is_wordy(char: str) -> bool:
    """A letter, a mark on one, or a number sign of any kind ("²", "½")."""
    return char != "" and unicodedata.category(char)[0] in "LMN"


def _is_money(char: str) -> bool:
    return char != "" and unicodedata.category(char) == "Sc"


def _is_dash(char: str) -> bool:
    return char in _DASHES_BESIDE_PD or (char != "" and unicodedata.category(char) == "Pd")


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf"
