"""Answers that say nothing: which checks and cases pass on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Severity
from skillassay.suites.case import Behavior
from skillassay.suites.lints.base import Doubt, LintedCase
from skillassay.suites.lints.trivial import (
    CASE_PASSES,
    CHECK_PASSES,
    REFUSAL_TEXT,
    UNDECIDED,
    idle_answers,
    probe_case,
    trivial_doubts,
)
from tests.suites.lints.linting import SKILL, linted, told

SHARP = {"type": "contains", "text": "14 October"}
FORBIDS = {"type": "not_contains", "text": "tomorrow"}


def doubts(case: LintedCase) -> list[Doubt]:
    """What is said of a case about the skill of these tests."""
    return list(trivial_doubts(case, probe_case(case, SKILL)))


def test_a_check_that_only_a_right_answer_passes_has_no_doubt() -> None:
    """The near miss of every kind here: none of the five idle answers holds the text."""
    assert doubts(linted(checks=[SHARP])) == []


@pytest.mark.parametrize(
    ("spec", "passes"),
    [
        ({"type": "exact", "text": ""}, ("empty", "blank")),
        ({"type": "line_count", "max": 1}, ("empty", "blank", "refusal", "query")),
        ({"type": "contains", "text": "help"}, ("refusal",)),
        ({"type": "contains", "text": "due this"}, ("query",)),
        ({"type": "contains", "text": "treasury"}, ("skill",)),
        ({"type": "regex", "pattern": "(?i)due|treasury"}, ("query", "skill")),
        (FORBIDS, ("empty", "blank", "refusal", "query", "skill")),
        (SHARP, ()),
    ],
)
def test_each_check_is_held_against_each_idle_answer(spec: dict[str, object], passes: tuple[str, ...]) -> None:
    """By the check's own definition, on answers that stand in this file or in its case."""
    (one,) = probe_case(linted(checks=[spec]), SKILL)
    assert one.passes == passes


def test_the_idle_answers_are_five() -> None:
    """Nothing, white space, the refusal, the query as it is, the body as it is; no body gives none to paste."""
    case = linted()
    answers = idle_answers(case, SKILL)
    assert answers["empty"] == ""
    assert answers["blank"].strip() == "" != answers["blank"]
    assert (answers["refusal"], answers["query"], answers["skill"]) == (REFUSAL_TEXT, case.case.query, SKILL.body)
    assert "skill" not in idle_answers(case, None)


def test_a_case_without_rubric_whose_checks_pass_on_nothing_is_an_error() -> None:
    """Nobody would notice an empty answer."""
    found = doubts(linted(checks=[FORBIDS]))
    assert told(found) == [(CASE_PASSES, "error", None)]
    assert "an empty answer" in found[0].message


def test_with_a_rubric_it_is_a_warning() -> None:
    """The judge still stands before it."""
    found = doubts(linted(checks=[{"type": "line_count", "max": 1}], rubric=["Names the day."]))
    assert (CASE_PASSES, "warning", None) in told(found)
    found = [one for one in found if one.code == CASE_PASSES]
    assert "judge alone" in found[0].message


def test_one_sharp_check_saves_the_case() -> None:
    """A check that forbids passes on nothing by its nature, and is no finding beside one that demands."""
    assert doubts(linted(checks=[FORBIDS, SHARP])) == []


@pytest.mark.parametrize(("rubric", "severity"), [([], "warning"), (["Names the desk."], "note")])
def test_the_pasted_skill_alone_weighs_less(rubric: list[str], severity: str) -> None:
    """What a skill teaches stands in it: that it passes is a warning, and with a rubric a note."""
    found = doubts(linted(checks=[{"type": "contains", "text": "treasury"}], rubric=rubric))
    assert told(found) == [(CASE_PASSES, severity, None)]


def test_a_check_of_a_file_is_passed_by_no_answer() -> None:
    """Text alone leaves no file, so that the case is safe; what the check makes of such a file is told."""
    found = doubts(linted(checks=[{"type": "regex", "pattern": ".", "file": "out.txt"}]))
    assert told(found) == [(CHECK_PASSES, "warning", "k0")]


def test_a_behaviour_saves_the_case() -> None:
    """Code compares action and flag, which no idle answer has."""
    behavior = Behavior(action="refuse", refused=True, required="r", forbidden="f")
    assert doubts(linted(checks=[FORBIDS], behavior=behavior)) == []


@given(st.sampled_from([".", r"(?s).+", r"\w", r"[^\n]", r"\S|\s", r"(?i)[a-z]", r".*\w.*", r"\b", r"x|(?=\w)"]))
def test_a_pattern_that_always_matches_is_always_found(pattern: str) -> None:
    """Law: beside any sharp check it passes whatever is said, and the finding is a warning at that check."""
    found = doubts(linted(checks=[SHARP, {"id": "always", "type": "regex", "pattern": pattern}]))
    assert told(found) == [(CHECK_PASSES, "warning", "always")]
    assert "whatever is said" in found[0].message


def test_a_pattern_that_backtracks_is_stopped_and_told() -> None:
    """The query is hostile to it; the check's own time limit ends the search, and the other texts are left out."""
    case = linted(checks=[{"type": "regex", "pattern": "(a|aa)+$"}], query="a" * 60 + "b")
    (found,) = doubts(case)
    assert (found.code, found.severity, found.item) == (UNDECIDED, Severity.WARNING, "k0")
    assert "ran over" in found.message


def test_what_another_lint_says_is_not_said_again() -> None:
    """The value stands in the skill: that the skill passes as an answer is the same fact."""
    case = linted(checks=[SHARP, {"type": "contains", "text": "treasury"}])
    idle = probe_case(case, SKILL)
    assert told(trivial_doubts(case, idle)) == [(CHECK_PASSES, "note", "k1")]
    assert list(trivial_doubts(case, idle, [("k1", "skill")])) == []


def test_the_query_passes_on_an_option_that_it_lists() -> None:
    """A classification must list its classes: that the query holds the right one says nothing, however short it is."""
    check = {"type": "regex", "pattern": r"(?i)\bbug\b"}
    assert doubts(linted(checks=[check], query='Classify "Login broken" as bug or feature.')) == []


def test_the_query_passes_on_a_value_that_is_no_option() -> None:
    """The near miss: the same check, and a query that says the word without an alternative."""
    check = {"type": "regex", "pattern": r"(?i)\bbug\b"}
    assert told(doubts(linted(checks=[check], query="Is it a bug?"))) == [(CASE_PASSES, "error", None)]


def test_a_guard_beside_a_rubric_is_a_note() -> None:
    """It forbids and the judge asks; a check that asks and passes on nothing beside it stays a warning."""
    idle = {"type": "line_count", "max": 1}
    rubric = ["Names the day."]
    assert told(doubts(linted(checks=[FORBIDS], rubric=rubric))) == [(CASE_PASSES, "note", None)]
    found = told(doubts(linted(checks=[FORBIDS, idle], rubric=rubric)))
    assert (CASE_PASSES, "warning", None) in found
