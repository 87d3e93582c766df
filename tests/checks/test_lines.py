"""Lines: line_count."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.checks import build_check, evaluate
from skillassay.checks.base import SpecProblem, Verdict


@pytest.mark.parametrize(
    ("answer", "skipping", "counting"),
    [
        ("", 0, 0),
        ("\n", 0, 1),
        ("a", 1, 1),
        ("a\n", 1, 1),
        ("a\r\nb\r\n", 2, 2),
        ("a\n\n \t\nb", 2, 4),
        ("a\n\n", 1, 2),
        ("a\rb\u2028c\x0cd", 1, 1),
    ],
)
def test_lines_are_counted(answer: str, skipping: int, counting: int) -> None:
    """LF and CRLF end lines, the last end is optional, blank lines count only when asked for."""
    for n_lines, blank in ((skipping, "skip"), (counting, "count")):
        check = build_check({"type": "line_count", "min": n_lines, "max": n_lines, "blank": blank}, where="case")
        assert evaluate(check, answer).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("spec", "answer", "verdict"),
    [
        ({"min": 2}, "a", Verdict.FAIL),
        ({"min": 2}, "a\nb\nc", Verdict.PASS),
        ({"max": 2}, "a\nb\nc", Verdict.FAIL),
        ({"max": 0}, "", Verdict.PASS),
    ],
)
def test_one_bound_is_enough(spec: dict[str, Any], answer: str, verdict: Verdict) -> None:
    """The other side is open."""
    assert evaluate(build_check({"type": "line_count", **spec}, where="case"), answer).verdict is verdict


def test_evidence_tells_count_and_bounds() -> None:
    """Both bounds are named."""
    check = build_check({"type": "line_count", "min": 2, "max": 3}, where="case")
    assert evaluate(check, "a").evidence == "1 lines, wanted at least 2 and at most 3"


@pytest.mark.parametrize(
    ("spec", "message"),
    [({}, "give min, max or both"), ({"min": 3, "max": 2}, "no answer can pass"), ({"min": -1}, "minimum of 0")],
)
def test_impossible_bounds_are_refused(spec: dict[str, Any], message: str) -> None:
    """No bound, crossed bounds, a negative one."""
    with pytest.raises(SpecProblem, match=message):
        build_check({"type": "line_count", **spec}, where="case")
