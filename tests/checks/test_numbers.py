"""numeric_range: the number picked, and its range."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.checks import build_check, evaluate
from skillassay.checks.base import SpecProblem, Verdict


def passes(answer: str, **spec: Any) -> bool:
    """Whether the check passes on the answer."""
    check = build_check({"type": "numeric_range", "decimal": ".", **spec}, where="case")
    return evaluate(check, answer).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("answer", "spec", "passed"),
    [
        ("5", {"min": 5}, True),
        ("4.999999999999999999999", {"min": 5}, False),
        ("5.000000000000000000001", {"max": 5}, False),
        ("0.3", {"min": 0.3, "max": 0.3}, True),
        ("196.80", {"min": 196.8, "max": 196.80}, True),
        ("-1", {"min": 1, "max": 1}, False),
        ("none", {"min": 0}, False),
        ("5 or 6", {"min": 0}, False),
        ("5, that is **5.0**", {"min": 5, "max": 5}, True),
        ("5 or 6", {"min": 6, "pick": "last"}, True),
        ("5 or 6", {"min": 6, "pick": "first"}, False),
        ("5 or 6", {"min": 6, "pick": "any"}, True),
        ("5 or 6", {"min": 7, "pick": "any"}, False),
        ("1,5 for 3 people", {"min": 3, "max": 3}, False),
        ("1,5 for 3 people", {"min": 3, "max": 3, "pick": "first"}, False),
        ("1,5 for 3 people", {"min": 3, "max": 3, "pick": "last"}, True),
        ("1,5 for 3 people", {"min": 3, "max": 3, "pick": "any"}, True),
        ("1,5", {"min": 0, "pick": "any"}, False),
        ("15% of 240", {"min": 15, "max": 15}, False),
        ("15% of 240", {"min": 15, "max": 15, "percent": True}, True),
        ("15% of 240", {"min": 240, "max": 240, "percent": True}, False),
        ("15% of 240", {"min": 240, "max": 240}, True),
        ("1 jour sur 27 mois", {"min": 1, "max": 1, "unit": "jour"}, True),
        ("27 mois", {"min": 1, "unit": "jour"}, False),
        ("a 1\nSolde : 2 j", {"min": 2, "max": 2, "find": r"Solde : (.*)"}, True),
        ("合計42円", {"min": 42, "max": 42, "find": r"合計(\d+)円"}, True),
        ("Solde inconnu, 2", {"min": 2, "find": r"Solde : (.*)"}, False),
        ("Solde", {"min": 2, "find": r"Solde( : .*)?"}, False),
    ],
)
def test_the_picked_number_lies_in_the_range(answer: str, spec: dict[str, Any], passed: bool) -> None:
    """Bounds included, exact; never another number than the one picked."""
    assert passes(answer, **spec) is passed


@pytest.mark.parametrize(
    ("answer", "spec", "evidence"),
    [
        ("soit 5 jours", {"min": 6, "max": 7}, "soit [5] jours is 5, wanted 6 to 7"),
        ("soit 5 jours", {"min": 5}, "soit [5] jours is 5, wanted 5 to ∞"),
        ("5 ou 6", {"max": 5}, "2 numbers where one was expected: 5, 6"),
        ("soit 1,5", {"max": 5}, "soit [1,5] is not written as declared"),
        ("rien", {"max": 5}, "no number of the declared kind"),
        ("rien", {"max": 5, "find": "solde (.*)"}, "find 'solde (.*)' selects nothing"),
    ],
)
def test_evidence_tells_the_number_and_the_range(answer: str, spec: dict[str, Any], evidence: str) -> None:
    """Or why there is no number to judge."""
    check = build_check({"type": "numeric_range", "decimal": ".", **spec}, where="case")
    assert evaluate(check, answer).evidence == evidence


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "give min, max or both"),
        ({"min": 2, "max": 1}, "no answer can pass"),
        ({"min": float("inf")}, "finite"),
        ({"min": float("nan"), "max": 1}, "finite"),
        ({"min": "1"}, "min: '1' is not of type 'number'"),
        ({"min": 1, "decimal": "x"}, "decimal: 'x' is not one of"),
        ({"min": 1, "group": "."}, "decimal and group are both '.'"),
        ({"min": 1, "grouping": "indian"}, "grouping without group"),
        ({"min": 1, "percent": True, "unit": "km"}, "give percent or unit"),
        ({"min": 1, "find": r"\d+"}, "find has 0 groups"),
        ({"min": 1, "find": r"(\d+"}, r"find: .* at position 4"),
        ({"min": 1, "find": "(a)(b)", "group": "."}, "both '.'; find has 2 groups"),
    ],
)
def test_an_ambiguous_specification_is_refused(spec: dict[str, Any], message: str) -> None:
    """Whatever would leave something to guess, or could never pass."""
    with pytest.raises(SpecProblem, match=message):
        build_check({"type": "numeric_range", "decimal": ".", **spec}, where="case")
