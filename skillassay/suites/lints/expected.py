"""The values that a check expects, as texts to look for elsewhere. Owns what of a specification is such a value.

Looked for is what could be copied: the text of ``contains`` and ``exact``, a regular expression that is one literal,
the value of ``json_equal`` as a whole, a figure that ``numeric_range`` leaves no room around, a reference answer and
its variants. A value counts when it is *telling*: at least ``MIN_CHARS`` characters of letters and digits, or a figure
of at least ``MIN_DIGITS`` significant digits. Shorter ones ("P1", "yes", 12) stand in other texts by chance. Measured
on the shipped suites, a word of a query stands in the text of a skill that it is not about in 40 to 66 % of pairs where
it has up to three letters, in 24 % with four, in 7 % with five to nine; a figure in 46 % with one digit, 6 % with two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from skillassay.checks.figures import Notation, scan_numbers
from skillassay.suites.case import Case
from skillassay.suites.lints.base import folded

MIN_CHARS = 6
MIN_DIGITS = 3

_FLAGS = re.compile(r"^\(\?[aimsux]+\)")
_ANCHORS = re.compile(r"\\[bBAZ]|(?<!\\)[\^$]")
_META = re.compile(r"(?<!\\)[.*+?()\[\]{}|]|\\[a-zA-Z0-9]")
_ESCAPE = re.compile(r"\\(.)")
_LETTERS = re.compile(r"[^\W_]")

_QUOTE = r"""["'`“”„«»]?"""
_ITEM = rf"{_QUOTE}\w[\w-]*(?: \w[\w-]*){{0,2}}{_QUOTE}"
_CHOICE = r"(?:,? (?:or|oder|ou|o) | ?/ ?)"
_NO_OTHER = r"(?!(?:not|nicht|non|pas|no)\b)"
"""``X or not`` asks about X alone and gives it away."""
_RIGHT = (
    re.compile(rf"{_QUOTE}{_CHOICE}{_NO_OTHER}{_ITEM}"),
    re.compile(rf"{_QUOTE}(?:, {_ITEM})+{_CHOICE}{_ITEM}"),
    re.compile(rf"{_QUOTE}(?:, {_ITEM}){{2,}}(?:[.?!:;)]|$)"),
)
_LEFT = (
    re.compile(rf"{_ITEM}{_CHOICE}{_QUOTE}$"),
    re.compile(rf"(?:^|[:(]| ){_ITEM}, (?:{_ITEM}, )+{_QUOTE}$"),
)
"""What follows and what precedes one of several options: a word that joins alternatives, or a list of short ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One value that an answer must hold. ``item`` is the check's id, or the field of the case.

    ``is_answer`` tells a whole answer, or a figure, from a word that must occur. ``number`` and ``notation`` are set
    for a figure, ``is_json`` for a value whose white space says nothing.
    """

    item: str
    text: str
    is_answer: bool = False
    is_json: bool = False
    number: Decimal | None = None
    notation: Notation | None = None

    def stands_in(self, text: str) -> bool:
        """Whether the value stands in a text, by the folding of checks; a figure by the check's own notation."""
        if self.number is not None and self.notation is not None:
            return any(token.value == self.number for token in scan_numbers(text, self.notation))
        if self.is_json:
            return _without_blanks(self.text) in _without_blanks(text)
        return any(True for _ in _places(folded(self.text), folded(text)))

    def is_option_in(self, text: str) -> bool:
        """Whether it stands in a text as one of several to choose from, and nowhere otherwise: that gives no answer.

        Told of texts alone; a figure or a JSON value in a list is not looked for.
        """
        if self.number is not None or self.is_json:
            return False
        wanted, whole = folded(self.text), folded(text)
        places = list(_places(wanted, whole))
        return bool(places) and all(_is_option(whole[:at], whole[at + len(wanted) :]) for at in places)


def _places(wanted: str, whole: str) -> Iterator[int]:
    """Where a folded text stands in another as words of its own."""
    at = 0
    while (at := whole.find(wanted, at)) >= 0:
        before, after = whole[at - 1 : at] if at else "", whole[at + len(wanted) : at + len(wanted) + 1]
        if not (_joins(before, wanted[0]) or _joins(wanted[-1], after)):
            yield at
        at += 1


def _is_option(before: str, after: str) -> bool:
    """Whether what stands around a value puts it beside an alternative."""
    return any(rule.search(before) for rule in _LEFT) or any(rule.match(after) for rule in _RIGHT)


def _joins(left: str, right: str) -> bool:
    """Whether two neighbours are parts of one word or figure."""
    return left.isalnum() and right.isalnum()


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def expected_values(case: Case) -> Iterator[Expected]:
    """The telling values of a case: of its checks on the answer, its reference and accepted variants."""
    found = [value for check in case.checks if (value := _of_check(check)) is not None]
    references = case.references.positive if case.references is not None else ()
    texts = [("reference", case.reference), *(("acceptable_variants", text) for text in case.acceptable_variants)]
    texts += [("references", one.response) for one in references]
    found += [Expected(item=item, text=text, is_answer=True) for item, text in texts if text]
    yield from filter(is_telling, found)


def options_in_query(case: Case) -> frozenset[str]:
    """The checks whose value stands in the query as one of several options, however short it is."""
    found = (_of_check(check) for check in case.checks)
    return frozenset(value.item for value in found if value is not None and value.is_option_in(case.query))


def is_telling(value: Expected) -> bool:
    """Whether a value is long enough that it does not stand in another text by chance."""
    if value.number is not None:
        return len(value.number.normalize().as_tuple().digits) >= MIN_DIGITS
    return len(_LETTERS.findall(folded(value.text))) >= MIN_CHARS


def _of_check(check: Mapping[str, Any]) -> Expected | None:
    kind, item = check["type"], check["id"]
    if kind in {"contains", "exact"}:
        return Expected(item=item, text=check["text"], is_answer=kind == "exact") if check["text"].strip() else None
    if kind == "regex":
        literal = literal_of(check["pattern"])
        return None if literal is None else Expected(item=item, text=literal)
    if kind == "json_equal" and isinstance(check["value"], (list, dict)):
        text = json.dumps(check["value"], ensure_ascii=False)
        return Expected(item=item, text=text, is_answer=True, is_json=True)
    if kind == "numeric_range" and "min" in check and check["min"] == check.get("max"):
        chosen = {key: check[key] for key in ("decimal", "group", "grouping") if key in check}
        number = Decimal(str(check["min"]))
        text = format(number.normalize(), "f")
        return Expected(item=item, text=text, is_answer=True, number=number, notation=Notation(**chosen))
    return None


def literal_of(pattern: str) -> str | None:
    """The text that a pattern is, anchors, word ends and flags apart; None for one that says more than a text."""
    core = _ANCHORS.sub("", _FLAGS.sub("", pattern))
    if _META.search(core) is not None:
        return None
    return _ESCAPE.sub(r"\1", core).strip() or None
