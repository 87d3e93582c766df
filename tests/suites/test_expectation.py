"""Expected and actual routing, compared."""

from __future__ import annotations

import pytest

from skillassay.suites.expectation import Expectation

SCRIPT = "a/scripts/x.py"


@pytest.mark.parametrize(
    ("expected", "activated", "scripts", "words"),
    [
        (Expectation(), ["a"], [SCRIPT], None),
        (Expectation(skills=("a", "b")), ["b", "a"], [], None),
        (Expectation(skills=("a",)), [], [], "activated none, expected a"),
        (Expectation(skills=()), ["a"], [], "activated a, expected none"),
        (Expectation(skills=("a",)), ["a", "b"], [], "activated a, b, expected a"),
        (Expectation(scripts=(SCRIPT,)), ["a"], [], f"did not run {SCRIPT}"),
        (Expectation(scripts=(SCRIPT,)), ["a"], [SCRIPT, "a/scripts/y.py"], None),
        (Expectation(scripts=()), ["a"], [SCRIPT], f"ran {SCRIPT}, expected none"),
    ],
)
def test_what_differs_is_said(
    expected: Expectation, activated: list[str], scripts: list[str], words: str | None
) -> None:
    """Exactly the expected skills, at least the expected scripts; None expects nothing, empty expects none."""
    assert expected.difference(activated=activated, scripts=scripts) == words
