"""Two evaluations' terms: equal, or stricter in the one limit that may be."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.locks.terms import differing_terms
from tests.locks.states import BOUND


@pytest.mark.parametrize("limit", ["4/5", "9/10", "1"])
def test_a_limit_at_least_as_high_will_do(limit: str) -> None:
    """What passed under it passes under a lower one."""
    assert differing_terms(BOUND | {"gate": {"quality_min": limit}}, BOUND) == ()


@pytest.mark.parametrize("limit", ["3/4", "5/4", "0/0", "1e9", "", None, 1])
def test_a_lower_or_senseless_limit_will_not(limit: Any) -> None:
    """More than all is no limit anybody ran under."""
    (words,) = differing_terms(BOUND | {"gate": {"quality_min": limit}}, BOUND)
    assert words.startswith("gate.quality_min ")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"judge": {"model": "gemini:x"}}, ("judge.model gemini:x, not fixture",)),
        ({"scorer": 3}, ("scorer 3, not 2",)),
        ({"scorer": "2"}, ("scorer 2, not 2",)),
        ({"candidate": {"model": "fixture", "prompt": "q" * 64}}, ("candidate.prompt",)),
        ({"candidate": {"prompt": "p" * 64}}, ("candidate.model None, not fixture",)),
        ({"more": {"x": 1}}, ("more.x 1, not None",)),
    ],
)
def test_everything_else_must_be_equal(made: dict[str, Any], words: tuple[str, ...]) -> None:
    """Each term that differs is named, with both values where they are short."""
    assert differing_terms(BOUND | made, BOUND) == words


@pytest.mark.parametrize("made", [None, "x", [], 3])
def test_terms_that_are_none(made: Any) -> None:
    """Somebody's file may hold anything."""
    assert differing_terms(made, BOUND) == ("none are recorded",)
