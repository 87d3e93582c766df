"""Who may stand for a decision."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.people.names import NOBODY, ROLES, TITLES, name_problem, same_name, same_person

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
    "Dr.",
    "Prof. Dr.",
    "さん",
    "\u0410. \u0411.",  # initials in Cyrillic letters
    "\u0410iko Mori",  # the first letter is Cyrillic
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
    """No word of any list is taken for a name, in any case."""
    assert [word for word in NOBODY | ROLES | TITLES if name_problem(word.title()) is None] == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Mika Sato", "mika  SATO ", True), ("Ｍｉｋａ Sato", "Mika Sato", True), ("Mika Sato", "Mika Sata", False)],
)
def test_a_person_is_one_under_any_spelling(one: str, other: str, same: bool) -> None:
    """Case, width and spaces make no second person."""
    assert same_person(one, other) is same


FIRST, LAST = ("Aiko", "Ken", "Zoë", "Søren", "Иван"), ("Mori", "Tanaka", "Müller", "Ødegaard", "Петров")
PEOPLE = st.tuples(st.sampled_from(FIRST), st.sampled_from(LAST))
DRESSES = st.sampled_from(
    (
        *("{0} {1}", "{1}, {0}", "{1} {0}", "Dr. {0} {1}", "Prof. Dr. {0} {1}, PhD", "{0} {1}, QA lead", "{1}-san {0}"),
        *(
            "{0} {1} (release manager)",
            "Head of Quality: {0} {1}",
            "{0} M. {1}",
            "{0}.{1}@example.com",
            "{0}{1}@home.x",
        ),
        *("Ms {0}\t{1}", "{0}\u200b {1}", "{0} {1} <{0}.{1}@example.com>", "{0} {1} Jr."),
    )
)
CASES = st.sampled_from((str, str.upper, str.lower, str.title))
NAMED = st.one_of(st.text(max_size=12), st.builds(lambda who, dress: dress.format(*who), PEOPLE, DRESSES))


@given(PEOPLE, DRESSES, DRESSES, CASES)
def test_a_person_is_one_however_dressed(
    who: tuple[str, str], one: str, other: str, case: Callable[[str], str]
) -> None:
    """Titles, roles, order, case, initials, an address, one piece: the same person, who may not approve twice."""
    assert same_person(one.format(*who), case(other.format(*who)))


@given(NAMED, NAMED)
def test_both_questions_are_symmetric_and_a_name_is_itself(one: str, other: str) -> None:
    """Whoever is asked first; and what is surely one name may be one person's."""
    for same in (same_person, same_name):
        assert same(one, other) == same(other, one)
        assert same(one, one)
    assert same_person(one, other) or not same_name(one, other)


@given(PEOPLE, PEOPLE, DRESSES, DRESSES)
def test_two_people_are_two_unless_all_words_are_shared(
    one: tuple[str, str], other: tuple[str, str], first: str, second: str
) -> None:
    """A family name or a first name in common is not enough, whatever is put around it."""
    assert same_person(first.format(*one), second.format(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Aiko Mori", "Mori", True),
        ("Aiko Mori", "A. Mori", True),
        ("Aiko Mori", "Aiko Mori and Ken Tanaka", True),
        ("Aïko Mori", "aiko.mori+qa@example.com", True),
        ("佐藤 美香", "佐藤美香さん", True),
        ("佐藤 美香", "佐藤 美咲", False),
        ("QA lead", "qa  LEAD", True),
        ("QA lead", "QA", False),
        ("the tests", "Mika Sato", False),
    ],
)
def test_the_lesser_name_may_be_the_greater_ones(one: str, other: str, same: bool) -> None:
    """All telling words of one among the other's; without one, the texts as they are written."""
    assert same_person(one, other) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Aiko Mori", "Dr. Aiko Mori, QA lead", True),
        ("Mori, Aiko", "Aiko Mori", True),
        ("Mori", "mori", True),
        ("Mori", "Aiko Mori", False),
        ("A. Mori", "K. Mori", False),
        ("Aiko B. Mori", "Aiko C. Mori", False),
        ("Aiko Mori Sr.", "Aiko Mori Jr.", False),
        ("Simon Head", "Simon Lead", False),
    ],
)
def test_a_voice_is_replaced_by_its_owners_alone(one: str, other: str, same: bool) -> None:
    """What may be somebody else's stays a second voice: two full names alike, initials too, or one text."""
    assert same_name(one, other) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [("Pat O'Brien", "Pat OBrien"), ("Anna-Maria Berg", "Annamaria Berg"), ("Pat O\u2019Brien", "pat obrien")],
)
def test_a_hyphen_or_an_apostrophe_makes_nobody_else(one: str, other: str) -> None:
    """Some write them and some do not."""
    assert same_person(one, other)
    assert same_person(other, one)
