"""Patterns: compiled early, capped, and stopped."""

from __future__ import annotations

import pytest

from skillassay import patterns
from skillassay.patterns import Pattern, PatternProblem, PatternTimeout, pattern_problems, span_in_context


@pytest.mark.parametrize("text", ["(unclosed", "[z-a]", "*abc", "\\", "a{2,1}"])
def test_a_broken_pattern_is_refused_with_its_position(text: str) -> None:
    """The problem names the pattern and where it breaks."""
    with pytest.raises(PatternProblem, match=r"cannot be compiled: .* at position \d+"):
        Pattern(text)


@pytest.mark.parametrize(
    ("text", "subject"),
    [(r"^\p{L}+$", "été"), ("(?<name>x)", "x"), ("(?<=a+)b", "aab"), ("(?P<n>a)(?P<n>b)", "ab"), ("a++b", "aab")],
)
def test_the_dialect_is_that_of_regex(text: str, subject: str) -> None:
    """Syntax that re refuses and regex knows is usable."""
    assert Pattern(text).search(subject) is not None


def test_a_pattern_is_capped_in_length() -> None:
    """The cap itself is allowed, one more character is not."""
    assert Pattern("a" * patterns.MAX_PATTERN_CHARS).n_groups == 0
    with pytest.raises(PatternProblem, match="over the limit of 2000"):
        Pattern("a" * (patterns.MAX_PATTERN_CHARS + 1))


def test_a_search_that_backtracks_is_stopped() -> None:
    """Exponential backtracking ends in a timeout, not in a result."""
    with pytest.raises(PatternTimeout, match="ran over"):
        Pattern("(a|aa)+$", time_limit_s=0.05).search("a" * 60 + "b")


def test_a_text_over_the_limit_is_not_searched() -> None:
    """The limit on the text holds for every pattern."""
    with pytest.raises(PatternTimeout, match="over the limit"):
        Pattern("a").search("a" * (patterns.MAX_TEXT_CHARS + 1))


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        ("one two three", (4, 7), "one [two] three"),
        ("a\n  b", (0, 1), "[a] b"),
        ("x" * 40 + "!" + "y" * 40, (40, 41), "…" + "x" * 30 + "[!]" + "y" * 30 + "…"),
        ("", (0, 0), "[]"),
    ],
)
def test_a_span_is_shown_on_one_line_with_its_surroundings(text: str, span: tuple[int, int], shown: str) -> None:
    """Thirty characters on each side, cut ends marked."""
    assert span_in_context(text, *span) == shown


def test_groups_are_counted() -> None:
    """Only capturing groups count."""
    assert Pattern("(a)(?:b)(?<c>c)").n_groups == 2
    assert Pattern("(a)").text == "(a)"


def test_problems_of_many_patterns() -> None:
    """One for each that cannot be used, in their order; none for the others."""
    first, second = pattern_problems(["(", "ok", "[z-a]"])
    assert "'('" in first
    assert "'[z-a]'" in second
    assert pattern_problems(["ok"]) == ()
