"""Regular expressions: regex and not_regex."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.checks import build_check, evaluate
from skillassay.checks.base import SpecProblem, Verdict

CLAIM = {"pattern": r"(?i)\bstored\b", "unless": r"(?i)\bnot\b"}


@pytest.mark.parametrize(
    ("spec", "answer", "found"),
    [
        ({"pattern": "b+"}, "abba", True),
        ({"pattern": "b+"}, "aa", False),
        ({"pattern": r"^\p{Lu}\p{L}+$"}, "Été", True),
        ({"pattern": "(?m)^b"}, "a\nb", True),
        ({"pattern": "a b"}, "a\n**b**", False),
        ({"pattern": "a b", "normalize": True}, "a\n**b**", True),
        (CLAIM, "It was stored.", True),
        (CLAIM, "It was not stored.", False),
        (CLAIM, "Nothing.", False),
    ],
)
def test_regex_passes_on_what_not_regex_fails_on(spec: dict[str, Any], answer: str, found: bool) -> None:
    """A find is a match of pattern without a match of unless."""
    for name, wanted in (("regex", found), ("not_regex", not found)):
        result = evaluate(build_check({"type": name, **spec}, where="case"), answer)
        assert result.verdict is (Verdict.PASS if wanted else Verdict.FAIL)


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("It was stored.", "It was [stored]."),
        ("It was not stored.", "It was not [stored]. but for It was [not] stored."),
        ("Nothing.", r"no match of (?i)\bstored\b"),
    ],
)
def test_evidence_shows_match_and_excuse(answer: str, evidence: str) -> None:
    """The author sees both spans."""
    assert evaluate(build_check({"type": "not_regex", **CLAIM}, where="case"), answer).evidence == evidence


@pytest.mark.parametrize("pattern", ["a*", "", "^$", "(?!x)", "a|"])
def test_a_pattern_that_asks_for_nothing_is_refused(pattern: str) -> None:
    """A match of the empty text would be a pass without evidence."""
    with pytest.raises(SpecProblem, match="matches the empty text, so it passes"):
        build_check({"type": "regex", "pattern": pattern}, where="case")


def test_not_regex_may_forbid_the_empty_answer() -> None:
    """There a match of the empty text means something."""
    check = build_check({"type": "not_regex", "pattern": r"^\s*$"}, where="case")
    assert [evaluate(check, answer).verdict for answer in ("", " \n", "a")] == [
        Verdict.FAIL,
        Verdict.FAIL,
        Verdict.PASS,
    ]


@pytest.mark.parametrize("name", ["regex", "not_regex"])
def test_an_unless_that_excuses_everything_is_refused(name: str) -> None:
    """It would turn the check off."""
    with pytest.raises(SpecProblem, match="excuses every answer"):
        build_check({"type": name, "pattern": "a", "unless": "b*"}, where="case")


def test_both_broken_patterns_are_told() -> None:
    """One message, with both keys and positions."""
    with pytest.raises(SpecProblem, match=r"pattern: .* at position 4; unless: .* at position 0"):
        build_check({"type": "regex", "pattern": "[z-a]", "unless": "*a"}, where="case")
