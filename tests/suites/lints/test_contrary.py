"""Checks that no answer can pass together, and pairs that only look so."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.suites.lints.contrary import CONTRADICTION, contrary_doubts
from tests.suites.lints.linting import linted, told

DESK = {"type": "contains", "text": "treasury desk"}
DAYS = {"type": "numeric_range", "decimal": ".", "min": 1, "max": 5}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DESK, {"type": "not_contains", "text": "desk"}),
        (DESK, {"type": "not_contains", "text": "DESK", "ignore_case": True}),
        (DESK, {"type": "not_contains", "text": "**treasury**", "normalize": True}),
        (DESK, {"type": "not_regex", "pattern": "desk"}),
        ({"type": "regex", "pattern": r"treasury\.desk"}, {"type": "not_contains", "text": "y.d"}),
        ({"type": "regex", "pattern": r"\d+ days"}, {"type": "not_regex", "pattern": r"\d+ days"}),
        ({"type": "exact", "text": "5 days"}, {"type": "contains", "text": "six"}),
        ({"type": "exact", "text": "5 days"}, {"type": "exact", "text": "6 days"}),
        ({"type": "exact", "text": "9 days"}, DAYS),
        (DAYS, DAYS | {"min": 6, "max": 9}),
        ({"type": "line_count", "max": 3}, {"type": "line_count", "min": 4}),
        ({"type": "json_equal", "value": [1, 2]}, {"type": "json_equal", "value": [2, 1]}),
    ],
)
def test_a_contradiction_is_an_error(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Whichever of the two stands first."""
    for checks in ([one, other], [other, one]):
        found = list(contrary_doubts(linted(checks=checks)))
        assert told(found) == [(CONTRADICTION, "error", "k1")]
        assert "'k0' and 'k1'" in found[0].message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DESK, {"type": "not_contains", "text": "desks"}),
        (DESK, {"type": "not_contains", "text": "DESK"}),
        (DESK | {"ignore_case": True}, {"type": "not_contains", "text": "treasury desk"}),
        (DESK, {"type": "not_contains", "text": "desk", "file": "out.txt"}),
        (DESK, {"type": "not_regex", "pattern": "^treasury desk$"}),
        (DESK, {"type": "not_regex", "pattern": r"\bdesk\b(?! clerk)"}),
        (DESK, {"type": "not_regex", "pattern": "desk", "unless": "treasury"}),
        ({"type": "regex", "pattern": "desk"}, {"type": "not_regex", "pattern": "desk", "unless": "old"}),
        ({"type": "exact", "text": "5 days"}, {"type": "contains", "text": "days"}),
        ({"type": "exact", "text": "5 days"}, {"type": "regex", "pattern": r"days\n"}),
        ({"type": "exact", "text": "5 days", "ignore_case": True}, {"type": "contains", "text": "DAYS"}),
        (DAYS, DAYS | {"min": 5, "max": 9}),
        (DAYS, DAYS | {"min": 6, "max": 9, "pick": "last"}),
        (DAYS | {"pick": "any"}, DAYS | {"pick": "any", "min": 6, "max": 9}),
        ({"type": "line_count", "max": 3}, {"type": "line_count", "min": 4, "blank": "count"}),
        ({"type": "json_equal", "value": [1, 2]}, {"type": "json_equal", "value": [2, 1], "ignore_order": True}),
    ],
)
def test_what_an_answer_can_pass_is_none(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Near misses: for each pair there is an answer that passes both, or none that is certain to fail one."""
    assert list(contrary_doubts(linted(checks=[one, other]))) == []
