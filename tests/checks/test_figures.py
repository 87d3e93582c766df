"""Numbers in running text."""

from __future__ import annotations

import itertools
import re
import sys
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.checks.figures import Notation, NumberToken, scan_numbers

FRENCH = {"decimal": ",", "group": " "}
ENGLISH = {"decimal": ".", "group": ","}
INDIAN = {"decimal": ".", "group": ",", "grouping": "indian"}
DIGITS = ("0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९")


def find_numbers(text: str, **notation: str) -> list[NumberToken]:
    """The tokens that are numbers; misfits are left out."""
    return [token for token in scan_numbers(text, Notation(**notation)) if token.value is not None]


def values(text: str, **notation: str) -> list[str]:
    """The values found, as text."""
    return [str(token.value) for token in find_numbers(text, **{"decimal": ".", **notation})]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Le solde est de 1 jour.", ["1"]),
        ("d'1 jour, l’2", ["1", "2"]),
        ("**42** _43_ `44` (45) [46] “47” «48» <49>", ["42", "43", "44", "45", "46", "47", "48", "49"]),
        ("x<42> f(43)=44; |45|46|", ["42", "43", "44", "45", "46"]),
        ("4 2", ["4", "2"]),
        ("42, 43. 44! 45? 46: 47; 48…", ["42", "43", "44", "45", "46", "47", "48"]),
        ("total:42 #43 n°44 42,Lyon", ["42", "43", "44", "42"]),
        ("007 0 00", ["7", "0", "0"]),
        ("42—fin", ["42"]),
        ("12/jour 2.25/mois", ["12", "2.25"]),
        ("2*3=6, 2 × 3", ["2", "3", "6", "2", "3"]),
        ("１２３ ٤٢ ४२", ["123", "42", "42"]),
        ("42\u200b", ["42"]),
    ],
)
def test_what_stands_on_its_own_is_a_number(text: str, found: list[str]) -> None:
    """Edge punctuation, quotes, brackets and emphasis do not matter."""
    assert values(text) == found


PARTS = """
    42abc x42 v4.2 1er T5 10² 5½ ½ 1e3 1e-3 1.5E+3 42人 4\ufe0f\u20e3
    INV-42 a_42 n.42 issues/42 a@5 x^2 42-day 42.Lyon 1_000 4٫2 4\u200b2 5…6
    2026-10-15 15/10/2026 15.10.2026 10:30 10:30:05 1.2.3 8/10 06-12-34
    3-5 3–5 3−5 140-12 140+12 10€-15€ 10%-15% 5€20 .5 ,5 a,5 ±5 5‰ --5 +-5 x-5 x−5 (a)-5
"""


@pytest.mark.parametrize("text", PARTS.split())
def test_what_is_part_of_something_else_is_no_number(text: str) -> None:
    """Neither a number nor a misfit, in no notation."""
    for decimal in ".,":
        assert scan_numbers(text, Notation(decimal=decimal)) == []
        assert scan_numbers(f"see {text} there", Notation(decimal=decimal, group=" ")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-42", "-42"),
        ("−42", "-42"),
        ("+42", "42"),
        ("(−42)", "-42"),
        ("solde: -42 jours", "-42"),
        ("=-42", "-42"),
        ("-**42**", "-42"),
        ("**-42**", "-42"),
        ("-€42", "-42"),
        ("€-42", "-42"),
        ("- 42", "42"),
        ("--- 42", "42"),
        ("‐42", "-42"),
        ("‑42", "-42"),
        ("－42", "-42"),
        ("﹣42", "-42"),
        ("−1 234", "-1"),
    ],
)
def test_a_sign_stands_directly_before(text: str, found: str) -> None:
    """Hyphens, minus and plus before the digits, their emphasis or their money sign."""
    assert values(text)[0] == found


DASHES = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) == "Pd"] + ["\u2212"]
NOTATIONS = [
    Notation(decimal=decimal, group=group, unit=unit) for decimal in ".," for group in ("", " ") for unit in ("", "j")
]


@pytest.mark.parametrize("dash", DASHES, ids=lambda char: f"U+{ord(char):04X}")
def test_no_dash_is_dropped_from_a_number(dash: str) -> None:
    """Law: every dash that Unicode knows makes the number behind it negative, unreadable or none, never positive."""
    befores = ["", "solde :", "solde : ", "(", "**", "a\n", "est ", ")", "5", "x", "|"]
    betweens = ["", "**", "(", "\u2060", "€", "\u200b**", "«"]
    for before, between, notation in itertools.product(befores, betweens, NOTATIONS):
        tokens = scan_numbers(f"{before}{dash}{between}1 j", notation)
        found = [token.value for token in tokens if token.end > len(before)]
        assert [value for value in found if value is not None and value >= 0] == [], (before, between)


@pytest.mark.parametrize("dash", DASHES, ids=lambda char: f"U+{ord(char):04X}")
def test_a_dash_before_a_no_break_space_is_no_bullet(dash: str) -> None:
    """Law: what is kept on one line with its figure may be its sign."""
    for space, before in itertools.product("\u00a0\u202f\u2009", ["", "solde : ", "soit :", "(", "= ", "| "]):
        for text in (f"{before}{dash}{space}1", f"{before}**{dash}**{space}**1**"):
            assert [token.value for token in scan_numbers(text, Notation(decimal=","))] == [None]


@pytest.mark.parametrize(
    "text", ["− 1", "solde : − 1", "solde : - 1", "total - 1", "solde – 1", "(— 1)", "**−** 1", "-\t−\t1"]
)
def test_a_dash_and_a_space_before_a_number_leave_it_open(text: str) -> None:
    """A minus set off by a space and the dash of a sentence look alike."""
    assert [token.value for token in scan_numbers(text, Notation(decimal=","))] == [None]


@pytest.mark.parametrize(
    "text",
    ["- 1", "– 1", "— 1", "- **1**", "a\n  - 1", "> - 1", "- - 1", "* - 1", "-\t1", "Total — 1", "**Total** — **1**"],
)
def test_a_bullet_or_the_long_dash_of_a_sentence_is_no_sign(text: str) -> None:
    """At the start of a line with a plain space behind it; the long dash also behind a word, spaced on both sides."""
    assert values(text) == ["1"]


@pytest.mark.parametrize(
    "text",
    [
        *("≠ 1", "≠1", "!= 1", "≠ **1**", "≠ -1"),
        *("1 ½", "1\u00a0½", "**1** ½", "1 1/2", "1 1⁄2", "1 ⅓ x"),
        *("1 × 10³", "1 ×10", "1×10 ", "1 x 10^3", "1 * 10**3", "**1** × 10⁻³"),
    ],
)
def test_what_changes_a_value_makes_a_misfit(text: str) -> None:
    """A denial before it, a fraction or a power of ten behind it."""
    assert scan_numbers(text, Notation(decimal=","))[0].value is None


def test_a_fraction_behind_the_unit_counts_too() -> None:
    """One day and a half is not one day."""
    tokens = scan_numbers("1 jour ½, 2 jour 1/2", Notation(decimal=",", unit="jour"))
    assert [token.value for token in tokens if token.has_unit] == [None, None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 × 10 €", ["2", "10"]),
        ("(1)", ["1"]),
        ("1 le 15/10/2026", ["1"]),
        ("1 / 2", ["1", "2"]),
        ("2 × 100", ["2", "100"]),
    ],
)
def test_what_only_resembles_these_is_a_number(text: str, found: list[str]) -> None:
    """A product, brackets (an accountant's negative among them), a date behind the number."""
    assert values(text) == found


@pytest.mark.parametrize(
    ("text", "notation", "found"),
    [
        ("3 418,50", FRENCH, ["3418.50"]),
        ("3\u202f418,50 3\u00a0418 3\u2009418 3\u2007418", FRENCH, ["3418.50", "3418", "3418", "3418"]),
        ("1 234 567", FRENCH, ["1234567"]),
        ("4 2", FRENCH, ["4", "2"]),
        ("1  234", FRENCH, ["1", "234"]),
        ("1\n234", FRENCH, ["1", "234"]),
        ("en 2024 120 000 euros", FRENCH, ["2024", "120000"]),
        ("1 234 56", FRENCH, ["1234", "56"]),
        ("0 123", FRENCH, ["0", "123"]),
        ("1,5 200", FRENCH, ["1.5", "200"]),
        ("1 234,5 678", FRENCH, ["1234.5", "678"]),
        ("-1 234 €", FRENCH, ["-1234"]),
        ("1 234abc", FRENCH, []),
        ("le 15/10/2026 120 000", FRENCH, ["120000"]),
        ("1,234,567.89 1234.5", ENGLISH, ["1234567.89", "1234.5"]),
        ("12,34 1234,567 0,123 1,2345", ENGLISH, []),
        ("3.418,50 3.41 1.234", {"decimal": ",", "group": "."}, ["3418.50", "1234"]),
        ("3'418 3’418.5 3'41", {"decimal": ".", "group": "'"}, ["3418", "3418.5"]),
        ("12,34,567 1,234 12,345.5 123,456", INDIAN, ["1234567", "1234", "12345.5"]),
        ("12 34 567 et 12 34", {**INDIAN, "group": " "}, ["1234567", "12", "34"]),
    ],
)
def test_groups_stand_in_their_places(text: str, notation: dict[str, str], found: list[str]) -> None:
    """Only the declared character, only every three digits (Indian: three, then pairs)."""
    assert values(text, **notation) == found


@pytest.mark.parametrize(
    ("text", "notation", "misfit"),
    [
        ("1,5", {"decimal": "."}, "1,5"),
        ("3,145", {"decimal": "."}, "3,145"),
        ("3.418,50", {"decimal": "."}, "3.418,50"),
        ("3'418", {"decimal": "."}, "3'418"),
        ("3\u00a0418", {"decimal": "."}, "3\u00a0418"),
        ("3\u202f418,5", {"decimal": "."}, "3\u202f418,5"),
        ("10.30", {"decimal": ","}, "10.30"),
        ("123,456", INDIAN, "123,456"),
    ],
)
def test_a_number_of_another_notation_is_a_misfit(text: str, notation: dict[str, str], misfit: str) -> None:
    """Seen, never read."""
    (token,) = scan_numbers(f"vaut {text} !", Notation(**notation))
    assert token.value is None
    assert f"vaut {text} !"[token.start : token.end] == misfit


@pytest.mark.parametrize("text", ["60%", "60 %", "60\u00a0%", "60\u202f%", "60％", "**60** %", "**60**%", "(60%)"])
def test_a_percent_sign_makes_a_percentage(text: str) -> None:
    """With or without a space, outside emphasis too."""
    assert [(token.value, token.percent) for token in find_numbers(text, decimal=".")] == [(Decimal(60), True)]


@pytest.mark.parametrize(
    ("text", "unit", "found"),
    [
        ("42 km", "km", ["42"]),
        ("42km", "km", ["42"]),
        ("42\u202fkm", "km", ["42"]),
        ("**42** km", "km", ["42"]),
        ("42 kms 43 KM 44 x km 45", "km", []),
        ("2,5 €/mois sur 3 mois", "€/mois", ["2.5"]),
        ("60 percent of 240", "percent", ["60"]),
        ("1 jour sur 27 mois", "jour", ["1"]),
    ],
)
def test_a_unit_follows_literally(text: str, unit: str, found: list[str]) -> None:
    """Glued or after one space, whole, in its own case."""
    tokens = scan_numbers(text, Notation(decimal=",", unit=unit))
    assert [str(token.value) for token in tokens if token.has_unit] == found


BEFORE = ["", "Total : ", "(", "[", "**", '"', "« ", "= ", "€", "x<", "d’", "#", "en tout ", "|"]
BEHIND = ["", ".", "!", "?", ")", "**", " »", " €", "€", ";", ", donc", " jours", "…", "|", "\n"]


@given(
    st.sampled_from([FRENCH, ENGLISH, INDIAN, {"decimal": ",", "group": "."}, {"decimal": ".", "group": "'"}]),
    st.integers(0, 10**16),
    st.from_regex(r"([0-9]{1,6})?", fullmatch=True),
    st.booleans(),
    st.sampled_from(DIGITS),
    st.tuples(st.sampled_from(BEFORE), st.sampled_from(["", "-", "−", "+"]), st.sampled_from(BEHIND)),
)
def test_a_rendered_number_is_found_once(
    notation: dict[str, str], whole: int, part: str, grouped: bool, digits: str, around: tuple[str, str, str]
) -> None:
    """Any value, rendered by other means with the declared characters, is found once with its exact value."""
    shown = _group(whole, notation) if grouped else str(whole)
    shown += notation["decimal"] + part if part else ""
    before, sign, behind = around
    text = before + sign + shown.translate(str.maketrans(DIGITS[0], digits)) + behind
    value = Decimal(f"{'-' if sign in {'-', '−'} else ''}{whole}.{part or 0}")
    assert [token.value for token in find_numbers(text, **notation)] == [value]


def _group(whole: int, notation: dict[str, str]) -> str:
    if notation.get("grouping") != "indian":
        return f"{whole:,}".replace(",", notation["group"])
    head, tail = divmod(whole, 1000)
    pairs: list[str] = []
    while head >= 100:
        head, pair = divmod(head, 100)
        pairs.insert(0, f"{pair:02}")
    return notation["group"].join([str(head), *pairs, f"{tail:03}"]) if whole >= 1000 else str(whole)


@given(
    st.text(alphabet=st.sampled_from("0123456789.,'’ \u00a0-−+/:%€a_*e(\n")), st.sampled_from([FRENCH, ENGLISH, INDIAN])
)
def test_what_is_found_is_what_stands_there(text: str, notation: dict[str, str]) -> None:
    """Tokens are in order, do not overlap, and hold the digits that stand between their ends."""
    position = 0
    for token in find_numbers(text, **notation):
        assert position <= token.start < token.end
        position = token.end
        whole, _, part = text[token.start : token.end].partition(notation["decimal"])
        digits = re.sub(r"\D", "", whole) + "." + (part or "0")
        assert token.value is not None
        assert token.value.copy_abs() == Decimal(digits)
