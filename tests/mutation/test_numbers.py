"""Which digits are a number, and what it becomes: one more for one digit, else twice, in the same notation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.mutation.numbers import find_changes

BECOMES = [
    ("0", "1"),
    ("9", "10"),
    ("10", "20"),
    ("00", "01"),
    ("07", "14"),
    ("2,25", "4,50"),
    ("0.0", "0.1"),
    ("0,00", "0,01"),
    ("99.5", "199.0"),
    ("1,200", "2,400"),
    ("1.200,50", "2.401,00"),
    ("1,200.50", "2,401.00"),
    ("600.000,00", "1.200.000,00"),
    ("1 200", "2 400"),
    ("900\u00a0000", "1\u00a0800\u00a0000"),
    ("500\u202f000,5", "1\u202f000\u202f001,0"),
    ("1'500", "3'000"),
    ("600,000", "1200,000"),  # a group or three decimals: 2 * 600000 and 2 * 600.000 are both written so
    ("1,234,567", "2,469,134"),
]


@pytest.mark.parametrize(("old", "new"), BECOMES)
def test_another_number_in_the_same_notation(old: str, new: str) -> None:
    """Separators keep their places from the right; a new group has one only where it is certainly a group."""
    (change,) = find_changes(f"at most {old} EUR")
    assert (change.old, change.new) == (old, new)
    assert change.apply(f"at most {old} EUR") == f"at most {new} EUR"


NUMBERS = [
    ("no more than 30 days, 2 people", ["30", "2"]),
    ("a 30-day limit", ["30"]),
    ("-5 degrees, 80 %, 20€, (14)", ["5", "80", "20", "14"]),
    ("It ends after 5.", ["5"]),
    ("3 to 5, or 7: ten", ["3", "5", "7"]),
    ("`--days 30`", ["30"]),
    ("P1 to P4, v1.2, x2, 2nd, 10MB, SHA-256, a_1", []),
    ("2026-07-14, 08:30, 1/2, #12, 1.2.3, 10.0.0.1", []),
    ("[page 3](references/4 5.md) https://a.example/6 <a b=7>", ["3"]),
    ("1. First 8", ["8"]),
    ("- 1) First 8", ["8"]),
    ("## 2. Reading 9", ["9"]),
    ("## 2 Reading", []),
    ("\u0663 and \u0968", []),
]


@pytest.mark.parametrize(("line", "wanted"), NUMBERS)
def test_what_stands_by_itself_is_a_number(line: str, wanted: list[str]) -> None:
    """Not what is joined to letters or to other digits, nor ordinals, targets, addresses, digits of other scripts."""
    assert [change.old for change in find_changes(line)] == wanted


@given(st.integers(min_value=10, max_value=10**15))
def test_plain_whole_numbers_double(value: int) -> None:
    """Without separators the number is twice the old one."""
    (change,) = find_changes(f"n = {value}")
    assert int(change.new) == 2 * value


@given(st.text(alphabet="0123456789 .,'-/ab", max_size=20))
def test_a_change_is_one(line: str) -> None:
    """Every change leaves another line, and one that still has a number at that place."""
    for change in find_changes(line):
        new = change.apply(line)
        assert new != line
        assert new[change.start].isdigit()
