"""Who may stand for a decision."""

from __future__ import annotations

import pytest

from skillassay.people.names import NOBODY, ROLES, name_problem, same_person

NAMES = (
    "Mika Sato",
    "佐藤美香",
    "林 修",
    "Max",
    "Aiko Mori, QA lead",
    "Ada Roy (release manager)",
    "ada.roy@example.com",
)
NOT_NAMES = (
    "",
    "  ",
    "...",
    "QA lead",
    "release-team",
    "Owner",
    "judge",
    "The Judge",
    "model",
    "gpt-4o",
    "A. B.",
    "root",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_person_may_decide(name: str) -> None:
    """A word that is no role and no program names somebody, whatever stands beside it."""
    assert name_problem(name) is None


@pytest.mark.parametrize("name", [*NOT_NAMES, "security@example.com", "no-one@example.com", "ＱＡ ｌｅａｄ"])
def test_a_role_or_a_program_may_not(name: str) -> None:
    """Nothing, a role, a team, a program, initials; of an address the host names nobody, and width hides nothing."""
    assert name_problem(name) is not None


def test_each_listed_word_alone_is_nobody() -> None:
    """No word of either list is taken for a name, in any case."""
    assert [word for word in NOBODY | ROLES if name_problem(word.title()) is None] == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Mika Sato", "mika  SATO ", True), ("Ｍｉｋａ Sato", "Mika Sato", True), ("Mika Sato", "Mika Sata", False)],
)
def test_a_person_is_one_under_any_spelling(one: str, other: str, same: bool) -> None:
    """Case, width and spaces make no second person."""
    assert same_person(one, other) is same
