"""Expected values that can be copied: what counts as one, where it stands, and how much that means."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.suites.facts import Reference, References
from skillassay.suites.lints.base import Doubt, SkillTexts
from skillassay.suites.lints.expected import MIN_CHARS, MIN_DIGITS, expected_values, literal_of
from skillassay.suites.lints.leaking import IN_FILES, IN_QUERY, IN_SKILL, leaking_doubts
from tests.suites.lints.linting import SKILL, linted, told

FIGURE = {"type": "numeric_range", "min": 1234.5, "max": 1234.5, "decimal": ".", "group": ","}


def doubts(skill: SkillTexts | None = None, **fields: Any) -> list[Doubt]:
    """What leaks of a case."""
    return list(leaking_doubts(linted(**fields), skill))


@pytest.mark.parametrize(
    ("check", "query"),
    [
        ({"type": "contains", "text": "treasury desk"}, "Is it the TREASURY  desk?"),
        ({"type": "exact", "text": "treasury desk"}, "Is it the treasury desk?"),
        ({"type": "regex", "pattern": r"\btreasury desk\b"}, "Is it the treasury desk?"),
        ({"type": "regex", "pattern": r"(?i)Rate 4\.75"}, "Is the rate 4.75 still right?"),
        ({"type": "json_equal", "value": {"desk": "treasury"}}, 'Is it { "desk" : "treasury" }?'),
        (FIGURE, "Is it 1,234.50 in all?"),
    ],
    ids=["contains", "exact", "regex", "escaped", "json", "figure"],
)
def test_a_value_in_the_query_is_a_warning(check: dict[str, Any], query: str) -> None:
    """Whatever its presentation: case, white space, and for a figure the check's own notation."""
    assert told(doubts(checks=[check], query=query)) == [(IN_QUERY, "warning", "k0")]


@pytest.mark.parametrize(
    ("check", "query"),
    [
        ({"type": "contains", "text": "treasury desk"}, "Is it the treasury?"),
        ({"type": "contains", "text": "refund"}, "Are they refundable?"),
        ({"type": "contains", "text": "yes"}, "Say yes or no."),
        ({"type": "regex", "pattern": r"\bP1\b"}, "Is it P1 or P2?"),
        ({"type": "regex", "pattern": "treasury.*desk"}, "Is it the treasury desk?"),
        ({"type": "not_contains", "text": "treasury desk"}, "Is it the treasury desk?"),
        ({"type": "numeric_range", "min": 12, "max": 12, "decimal": "."}, "Is it 12?"),
        ({"type": "numeric_range", "min": 1000, "max": 2000, "decimal": "."}, "Is it 1234?"),
        (FIGURE, "Is it 1,234.51 in all?"),
    ],
    ids=["part", "inside a word", "short", "short literal", "pattern", "forbidden", "few digits", "range", "other"],
)
def test_what_is_no_telling_value_is_none(check: dict[str, Any], query: str) -> None:
    """Near misses: a part, a word inside another, a short one, a pattern that says more, what is forbidden, a range."""
    assert doubts(checks=[check], query=query) == []


def test_what_is_telling_has_a_length() -> None:
    """Six letters or digits, three significant digits: one less is none."""
    assert (MIN_CHARS, MIN_DIGITS) == (6, 3)
    texts = ["abcdef", "abcde", "ab, cd - ef", "ab, cd - e"]
    case = linted(checks=[{"type": "contains", "text": text} for text in texts]).case
    assert [value.text for value in expected_values(case)] == ["abcdef", "ab, cd - ef"]
    figures = [121, 120, 4.75, 12000]
    case = linted(checks=[{"type": "numeric_range", "min": n, "max": n, "decimal": "."} for n in figures]).case
    assert [value.text for value in expected_values(case)] == ["121", "4.75"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bdesk\b", "desk"),
        (r"(?i)^desk\.$", "desk."),
        (r"a\-b", "a-b"),
        (r"de.k", None),
        (r"\d+ days", None),
        (r"(desk|till)", None),
        (r"^$", None),
    ],
)
def test_the_literal_of_a_pattern(pattern: str, text: str | None) -> None:
    """Anchors, word ends and flags say where and how, not what; anything else makes it more than a text."""
    assert literal_of(pattern) == text


def test_a_value_in_a_file_is_a_note() -> None:
    """It may be what is to be found there; a file that is no text is not looked at."""
    check = {"type": "contains", "text": "treasury desk"}
    found = doubts(checks=[check], files={"memo.txt": "Send it to the treasury desk."})
    assert told(found) == [(IN_FILES, "note", "k0")]
    assert "memo.txt" in found[0].message
    assert doubts(checks=[check], files={"memo.txt": "Send it to the desk."}) == []


def test_a_word_in_the_skill_is_a_note_and_an_answer_a_warning() -> None:
    """A skill teaches words; a whole answer that stands there is the case's own."""
    word = {"type": "contains", "text": "treasury desk"}
    whole = {"type": "exact", "text": "Refunds go to the treasury desk."}
    assert told(doubts(SKILL, checks=[word, whole])) == [(IN_SKILL, "note", "k0"), (IN_SKILL, "warning", "k1")]


def test_a_value_in_a_reference_file_of_the_skill_is_named_there() -> None:
    """The body is not all that a candidate reads."""
    skill = SkillTexts(path="skills/s", name="s", body="# Nothing", files={"references/fees.md": "Fee: 1,234.50 EUR"})
    (found,) = doubts(skill, checks=[FIGURE])
    assert (found.code, found.severity.value) == (IN_SKILL, "warning")
    assert "references/fees.md" in found.message


def test_a_reference_answer_is_a_value() -> None:
    """So are accepted variants and the positive references of a behaviour."""
    answer = "Refunds go to the treasury desk."
    references = References(
        positive=(Reference(action="assist", response=answer, refused=False),), negative=(), provenance="p"
    )
    found = doubts(SKILL, reference=answer, acceptable_variants=(answer, "Another one."), references=references)
    expected = ["reference", "acceptable_variants", "references"]
    assert told(found) == [(IN_SKILL, "warning", item) for item in expected]


def test_a_value_in_the_query_is_told_there_alone() -> None:
    """It is given away in every mode: that it also stands elsewhere adds nothing."""
    check = {"type": "contains", "text": "treasury desk"}
    found = doubts(SKILL, checks=[check], query="The treasury desk?", files={"a.txt": "treasury desk"})
    assert told(found) == [(IN_QUERY, "warning", "k0")]


@pytest.mark.parametrize(
    "query",
    [
        'Classify "Please add dark mode" as bug or feature.',
        "Classify it as bug, feature, or question.",
        "Ist es ein Fehler oder feature?",
        "Est-ce un bug ou feature ?",
        "¿Es bug o feature?",
        "Answer bug/feature/question.",
        'Say "feature" or "bug".',
        "Choose one: feature, bug, question.",
        "Choose one: bug, question, feature.",
        "Choose one: bug, feature, question or other.",
    ],
)
def test_one_of_several_options_is_no_leak(query: str) -> None:
    """Which of them is right the query does not say: a note."""
    assert told(doubts(checks=[{"type": "contains", "text": "feature"}], query=query)) == [(IN_QUERY, "note", "k0")]


@pytest.mark.parametrize(
    "query",
    [
        "Is this a feature?",
        "Is this a feature or not?",
        "This is a feature, is it not?",
        "It is a bug or feature; I say feature. What is it?",
        "For this feature the order matters.",
        "Describe the feature, please.",
        "The feature and the bug are two things.",
    ],
)
def test_a_value_that_is_no_option_stays_a_leak(query: str) -> None:
    """Near misses: no alternative, "or not", a clause behind a comma, an option that is then said."""
    assert told(doubts(checks=[{"type": "contains", "text": "feature"}], query=query)) == [(IN_QUERY, "warning", "k0")]
