"""Things said twice: queries, criteria, checks."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.suites.lints.twins import (
    NEAR_QUERY,
    SAME_CHECK,
    SAME_CRITERION,
    SAME_QUERY,
    query_doubts,
    twice_doubts,
)
from tests.suites.lints.linting import linted, told

LONG = "Which of the invoices of last week are still open and need a reminder from us today?"


@pytest.mark.parametrize(
    "other",
    ["what is  due this week?", "What is due this\nweek?", "**What** is due this week?", "What is due this ｗeek?"],
)
def test_a_query_in_another_presentation_is_the_same(other: str) -> None:
    """Case, white space, emphasis, width: the later case has the warning, the earlier one is named."""
    found = list(query_doubts([linted("first"), linted("second", query=other)]))
    assert [(one.code, one.severity.value, one.case_id) for one in found] == [(SAME_QUERY, "warning", "second")]
    assert "'first'" in found[0].message


def test_a_query_about_other_files_is_another() -> None:
    """The question is query and files together."""
    cases = [linted("first", files={"a.txt": "a"}), linted("second", files={"b.txt": "b"}), linted("third")]
    assert list(query_doubts(cases)) == []


def test_other_figures_alone_are_near() -> None:
    """A note: each may show something of its own."""
    cases = [
        linted("first", query="How many days are left of 25 after 3 are gone?"),
        linted("second", query="How many days are left of 30 after 17 are gone?"),
    ]
    (found,) = query_doubts(cases)
    assert (found.code, found.severity.value, found.case_id) == (NEAR_QUERY, "note", "second")
    assert "other figures" in found.message


def test_few_other_words_are_near() -> None:
    """One word of sixteen: 2 x 15 / 32 is 94 %. Of four other words it is 75 %, and the queries are two."""
    near, far = LONG.replace("today", "tomorrow"), LONG.replace("are still open and", "were paid late but")
    assert told(query_doubts([linted("a", query=LONG), linted("b", query=near)])) == [(NEAR_QUERY, "note", None)]
    assert list(query_doubts([linted("a", query=LONG), linted("b", query=far)])) == []


def test_short_queries_are_near_to_none() -> None:
    """Two words of which one differs would be half the same."""
    assert list(query_doubts([linted("a", query="Greet 1."), linted("b", query="Greet 2.")])) == []


@given(st.lists(st.lists(st.sampled_from("abcd0"), min_size=6, max_size=14), min_size=2, max_size=6, unique_by=tuple))
def test_no_near_pair_is_missed(queries: list[list[str]]) -> None:
    """Law: the index of rare words finds what comparing every pair by ``difflib`` finds."""
    cases = [linted(str(index), query=" ".join(words)) for index, words in enumerate(queries)]

    def is_near(one: list[str], other: list[str]) -> bool:
        return SequenceMatcher(None, other, one, autojunk=False).ratio() >= 0.9

    wanted = {str(i) for i, one in enumerate(queries) if any(is_near(one, other) for other in queries[:i])}
    assert {found.case_id for found in query_doubts(cases) if found.code == NEAR_QUERY} == wanted


def test_a_case_of_another_suite_is_named_with_it() -> None:
    """Ids alone would be looked for in the wrong file."""
    (found,) = query_doubts([linted("first", suite="other"), linted("second")])
    assert "'other/first'" in found.message


def test_a_criterion_twice_is_told() -> None:
    """Under another id and presentation; another text is another criterion."""
    case = linted(rubric=["Names the day.", "names  the *day*.", "Names the hour."])
    assert told(twice_doubts(case)) == [(SAME_CRITERION, "warning", "r1")]


def test_a_check_twice_is_told() -> None:
    """Note and samples say nothing to a check; another text or file makes another one."""
    spec = {"type": "contains", "text": "treasury"}
    checks = [spec, spec | {"note": "again"}, spec | {"text": "desk"}, spec | {"file": "out.txt"}]
    assert told(twice_doubts(linted(checks=checks))) == [(SAME_CHECK, "warning", "k1")]
