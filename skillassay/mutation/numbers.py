"""Another number in the place of one, in the same notation. Owns which digits are a number, and what it becomes.

A number is a run of digits, with groups of three behind a separator and with decimals, that stands by itself. Not one
is what is joined to a letter, an underscore or another run of digits: ``P1``, ``v1.2``, ``2026-07-14``, ``08:30``,
``1/2``, ``#12``. Neither are the number of a list item or of a heading, and what stands in a link's target, an address
or an HTML tag. A hyphen before a letter joins nothing: ``30-day`` is thirty days.

One digit becomes one more; every other number is doubled, and one of zeros alone gets a one as its last digit.
Separators keep their places from the right, so that ``1.200,50`` becomes ``2.401,00`` and ``1,200.50`` ``2,401.00``
whatever the language: doubling is the same under both readings of ``1,200``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACES = " \u00a0\u202f\u2009'\u2019"
_NUMBER = re.compile(
    rf"(?<!\w)(?:[0-9]{{1,3}}(?P<group>[{_SPACES}.,])[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*|[0-9]+)"
    r"(?P<decimals>[.,][0-9]+)?(?!\w)"
)
_JOINED_BEFORE = re.compile(r"[\w)\]][.,:/#-]$|[/#\\]$")
_JOINED_AFTER = re.compile(r"[.:/]\w|[,-]\d|[/\\]")
_APART = re.compile(
    r"\]\([^)]*\)|[a-zA-Z][a-zA-Z0-9+.-]*://\S+|<[^<>]*>|^\s*(?:[-*+]\s+)*[0-9]{1,9}[.)](?=\s)|^\s*#{1,6}\s+[0-9]+"
)
_GROUP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A number on a line, as it is written and as it will be."""

    start: int
    old: str
    new: str

    def apply(self, line: str) -> str:
        """The line with the other number."""
        return line[: self.start] + self.new + line[self.start + len(self.old) :]


def find_changes(line: str) -> Iterator[Change]:
    """Every number on a line with what it becomes, in their order."""
    apart = [found.span() for found in _APART.finditer(line)]
    for found in _NUMBER.finditer(line):
        start, end = found.span()
        is_joined = _JOINED_BEFORE.search(line[:start]) or _JOINED_AFTER.match(line[end:])
        if not is_joined and not any(first <= start < last for first, last in apart):
            yield Change(start=start, old=found[0], new=_changed(found[0], found["group"], found["decimals"]))


def _changed(number: str, group: str | None, decimals: str | None) -> str:
    digits = "".join(char for char in number if char.isdecimal())
    value = int(digits)
    value = value + 1 if len(digits) == 1 else 2 * value or 1
    rest = list(str(value).zfill(len(digits)))
    written = [rest.pop() if char.isdecimal() else char for char in reversed(number)]
    # Only a separator that cannot be a decimal sign may stand where none stood.
    is_known = group is not None and (group in _SPACES or decimals is not None or number.count(group) > 1)
    n_whole = len(number.partition(group)[0]) if group is not None else 0
    for char in reversed(rest):
        if is_known and group is not None and n_whole % _GROUP == 0:
            written.append(group)
        written.append(char)
        n_whole += 1
    return "".join(reversed(written))
