"""``numeric_range``, and what a number in running text is. Nothing is guessed: the check declares the notation.

A *number* is a run of decimal digits (of any script) with the declared group character in its right places and at most
one decimal part behind the declared decimal character, standing on its own. No number at all is what touches a letter
("42abc", "1e3", "10²"), a date, a time, a version, a fraction, a range or a sum ("2026-10-15", "10:30", "1.2.3", "3/4",
"3-5", "140+12"), an identifier ("INV-42", "n.42") or a decimal part alone (".5"). The full rules, with examples, are in
``docs/reference/checks.md``.

A *misfit* is a number under some other declaration ("1,5" where the decimal character is "."). It is never read, and
``only``, ``first`` and ``last`` do not look past it: they would fall back to a number that nobody meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from typing import Any

from skillassay.checks.base import SpecProblem
from skillassay.patterns import Pattern, PatternProblem, span_in_context

Run = Callable[[str], tuple[bool, str]]

SPACES = " \u00a0\u2007\u2009\u202f"
"""Space, no-break, figure, thin and narrow no-break space: one and the same inside a number and before its unit."""

_EMPHASIS = frozenset("*_`")
_PERCENT = frozenset("%\uff05\u066a")
_SIGNS = frozenset("+-\u2212")
_TIES = frozenset("-\u2010\u2011\u2212+_/@#^\\")  # with letters or digits on both sides these make one word of them
_GLUED_LEFT = frozenset(".,±")  # ".5" is a decimal part alone, "±5" has no sign
_GLUED_RIGHT = frozenset("‰‱")
_BEFORE_NO_SIGN = _SIGNS | _PERCENT | frozenset(")]}")
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


def find_numbers(text: str, *, decimal: str, group: str = "", grouping: str = "western") -> list[NumberToken]:
    """The numbers of the text, in order, percentages among them. Misfits are left out."""
    found = scan_numbers(text, Notation(decimal=decimal, group=group, grouping=grouping))
    return [token for token in found if token.value is not None]


def scan_numbers(text: str, notation: Notation) -> list[NumberToken]:
    """Numbers and misfits of the text, in order."""
    cores = [match.span() for match in re.finditer(_CORE, text)]
    tokens = []
    for start, end in _join_spaced(text, cores, notation):
        left, right = _look_left(text, start), _look_right(text, end, notation.unit)
        if left is None or right is None:
            continue
        (first, negative), (percent, has_unit) = left, right
        value = notation.read(text[start:end])
        if value is None and not any(other.shape.fullmatch(text, start, end) for other in _ANY_NOTATION):
            continue
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


def _look_left(text: str, start: int) -> tuple[int, bool] | None:
    """Where the number starts with its sign, and whether it is negative; None if it is glued to what stands before."""
    at = start - _is_money(text[start - 1 : start])
    if at < start and text[at - 1 : at].isdecimal():
        return None
    bare = _skip_back(text, at, _EMPHASIS)
    if text[bare - 1 : bare] in _SIGNS:
        sign = bare - 1
        money = _is_money(text[sign - 1 : sign])
        before = text[sign - 1 - money : sign - money]
        glued = before.isdecimal() if money else _is_wordy(before) or before in _BEFORE_NO_SIGN
        return None if glued else (sign, text[sign] != "+")
    before = text[at - 1 : at]
    if before in _GLUED_LEFT or (at == start and _is_wordy(before)):
        return None
    tie = _skip_back(text, at, _TIES)
    glued = tie < at and _is_wordy(text[tie - 1 : tie])
    return None if glued else (start, False)


def _look_right(text: str, end: int, unit: str) -> tuple[bool, bool] | None:
    """Whether a percent sign and whether the unit follows; None if the number is glued to what stands behind."""
    bare = _skip(text, end, _EMPHASIS)
    places = [bare, bare + 1] if text[bare : bare + 1] in tuple(SPACES) else [bare]
    for place in places if unit else ():
        behind = text[place + len(unit) : place + len(unit) + 1]
        if text.startswith(unit, place) and not (unit[-1].isalnum() and _is_wordy(behind)):
            return False, True
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
    return None if tie > at and not per and (_is_wordy(after) or _is_money(after)) else (percent, False)


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


def build_numeric_range(spec: Mapping[str, Any]) -> Run:
    """The picked number lies between ``min`` and ``max``, both included."""
    problems = _problems(spec)
    find = None
    try:
        find = Pattern(spec["find"]) if "find" in spec else None
        if find is not None and find.n_groups != 1:
            problems.append(f"find has {find.n_groups} groups, and needs exactly one around the number")
    except PatternProblem as error:
        problems.append(f"find: {error}")
    if problems:
        raise SpecProblem("; ".join(problems))
    low, high = (Decimal(str(spec[key])) if key in spec else None for key in ("min", "max"))
    chosen = {key: spec[key] for key in ("decimal", "group", "grouping", "unit") if key in spec}
    notation, pick, percent = Notation(**chosen), spec.get("pick", "only"), bool(spec.get("percent"))
    bounds = f"{'-∞' if low is None else low} to {'∞' if high is None else high}"

    def run(answer: str) -> tuple[bool, str]:
        text = answer
        if find is not None:
            match = find.search(answer)
            if match is None or match[1] is None:
                return False, f"find {find.text[:80]!r} selects nothing"
            text = match[1]
        tokens = [t for t in scan_numbers(text, notation) if t.percent == percent and (t.has_unit or not notation.unit)]
        token, problem = _pick(text, tokens, pick, lambda value: _within(value, low, high))
        if token is None or token.value is None:
            return False, problem
        shown = span_in_context(text, token.start, token.end)
        return _within(token.value, low, high), f"{shown} is {token.value}, wanted {bounds}"

    return run


def _problems(spec: Mapping[str, Any]) -> list[str]:
    bounds = {key: Decimal(str(spec[key])) for key in ("min", "max") if key in spec}
    problems = [] if bounds else ["give min, max or both"]
    if not all(bound.is_finite() for bound in bounds.values()):
        problems.append("min and max are finite numbers")
    elif len(bounds) == 2 and bounds["min"] > bounds["max"]:
        problems.append(f"min {bounds['min']} is over max {bounds['max']}: no answer can pass")
    if spec["decimal"] == spec.get("group"):
        problems.append(f"decimal and group are both {spec['decimal']!r}")
    if "grouping" in spec and not spec.get("group"):
        problems.append("grouping without group says nothing")
    if spec.get("percent") and "unit" in spec:
        problems.append("percent is a unit of its own: give percent or unit")
    return problems


def _within(value: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _pick(
    text: str, tokens: Sequence[NumberToken], pick: str, fits: Callable[[Decimal], bool]
) -> tuple[NumberToken | None, str]:
    """The number to judge, or None and why there is none. ``only`` takes one value, however often it is told."""
    if pick == "any":
        readable = [token for token in tokens if token.value is not None]
        fitting = [token for token in readable if token.value is not None and fits(token.value)]
        tokens = fitting[:1] or readable[:1] or tokens
    elif pick != "only":
        tokens = tokens[:1] if pick == "first" else tokens[-1:]
    if not tokens:
        return None, "no number of the declared kind"
    misfit = next((token for token in tokens if token.value is None), None)
    if misfit is not None:
        return None, f"{span_in_context(text, misfit.start, misfit.end)} is not written as declared"
    if len({token.value for token in tokens}) > 1:
        shown = ", ".join(text[token.start : token.end] for token in tokens[:8])
        return None, f"{len(tokens)} numbers where one was expected: {shown}"
    return tokens[0], ""


_SCHEMA = {
    "properties": {
        "min": {"type": "number"},
        "max": {"type": "number"},
        "decimal": {"enum": [".", ","]},
        "group": {"enum": ["", " ", ".", ",", "'"]},
        "grouping": {"enum": ["western", "indian"]},
        "find": {"type": "string"},
        "pick": {"enum": ["only", "first", "last", "any"]},
        "unit": {"type": "string", "minLength": 1},
        "percent": {"type": "boolean"},
    },
    "required": ["decimal"],
}
TYPES = {"numeric_range": (build_numeric_range, _SCHEMA)}
