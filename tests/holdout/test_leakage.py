"""What counts as a hidden text found in a file: no false alarm on this repository, no blind spot for a copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.holdout.leakage import HiddenTexts, SearchedFile
from skillassay.project import Project, load_project
from skillassay.suites.case import Case, Criterion
from tests.project import REPOSITORY

QUERY = "Which of the three quotes from the plumbers covers the boiler and the two radiators on the upper floor?"
JAPANESE = (
    "来月の大阪出張について、新幹線の指定席と宿泊の手配を経費規程に沿って確認し、上限を超える項目を教えてください。"
)


def case(case_id: str = "h", query: str = QUERY, *rubric: str) -> Case:
    """A hidden case."""
    criteria = tuple(Criterion(id=f"r{i}", text=text) for i, text in enumerate(rubric))
    return Case(id=case_id, skill="s", query=query, rubric=criteria)


def fields(
    text: str, *cases: Case, path: str = "skills/s/SKILL.md", is_suite: bool = False
) -> dict[str, tuple[str, ...]]:
    """Which fields of which cases are found in a file."""
    found = HiddenTexts(cases or (case(),)).find_in(SearchedFile(path=path, text=text, is_suite=is_suite))
    return {one.case_id: one.fields for one in found}


@pytest.fixture(scope="module")
def project() -> Project:
    """The shipped project."""
    return load_project(REPOSITORY)


def test_no_case_of_this_repository_is_found_where_its_text_is_not(project: Project) -> None:
    """Each shipped case taken for a hidden one: in skills, in other cases and in routing suites nothing is found."""
    for hidden in project.cases:
        texts = HiddenTexts([hidden])
        files = [
            SearchedFile(path=f"{ready.path}/{entry.path}", text=Path(entry.source).read_text("utf-8", "replace"))
            for ready in project.usable
            for entry in ready.files.entries
        ]
        others = [json.dumps(one.normal, ensure_ascii=False) for one in project.cases if one.id != hidden.id]
        others += [json.dumps(one.normal, ensure_ascii=False) for one in project.routing]
        files += [SearchedFile(path="evals/other.json", text=text, is_suite=True) for text in others]
        assert [texts.find_in(file) for file in files] == [()] * len(files), hidden.id


def test_every_case_of_this_repository_is_found_in_its_own_suite(project: Project) -> None:
    """The same look-out sees each case whose query can be told apart (six words and more) in the file it stands in."""
    texts = {path: (REPOSITORY / path).read_text("utf-8") for path in ("evals/quality.json", "evals/behavior.json")}
    for hidden in project.cases:
        found = [HiddenTexts([hidden]).find_in(SearchedFile(path=p, text=t, is_suite=True)) for p, t in texts.items()]
        assert "query" in {name for one in found for hit in one for name in hit.fields}, hidden.id


@pytest.mark.parametrize(
    "text",
    [
        QUERY,
        QUERY.upper(),
        QUERY.replace(" ", "\n  "),
        f"**{QUERY.replace('boiler', '`boiler`')}**",
        QUERY.replace(" ", "\N{NO-BREAK SPACE}"),
        "… " + " ".join(QUERY.split()[4:15]) + " …",
    ],
    ids=["whole", "case", "lines", "markdown", "spaces", "eleven-words"],
)
def test_a_copy_is_found_however_it_is_set(text: str) -> None:
    """Case, layout, emphasis and a cut down to eleven words do not hide it."""
    assert fields(f"# Notes\n\n{text}\n") == {"h": ("query",)}


def test_ten_words_in_one_piece_are_no_copy() -> None:
    """Ten words hold three runs of eight; four are asked for."""
    assert fields(" ".join(QUERY.split()[4:14])) == {}


def test_json_escapes_do_not_hide_a_copy() -> None:
    """A JSON file written in ASCII holds the same words."""
    query = "Où se trouve l'épicerie qui vend les pêches abîmées à moitié prix près de la gare d'Épinal ?"
    text = json.dumps({"q": f"{query}\nMerci."}, ensure_ascii=True)
    assert fields(text, case(query=query), path="evals/x.json") == {"h": ("query",)}


def test_a_text_without_spaces_is_found_by_its_characters() -> None:
    """Twenty-seven characters of a Japanese query in one piece are four runs of twenty-four; twenty-six are three."""
    letters = JAPANESE.replace("、", "").replace("。", "")
    hidden = case(query=JAPANESE)
    assert fields(f"例:{letters[5:32]}", hidden) == {"h": ("query",)}
    assert fields(f"例:{letters[5:31]}", hidden) == {}


def test_short_texts_are_not_looked_for() -> None:
    """Five words say nothing about where they come from."""
    assert fields("List the open tasks please, as always.", case(query="List the open tasks please")) == {}


def test_the_same_demand_in_a_suite_is_the_authors_habit() -> None:
    """A rubric that stands in another suite is no exposure; in a skill it is."""
    rubric = "The answer names every task together with the person who does it and the day"
    hidden = case("h", QUERY, rubric)
    assert fields(rubric, hidden, path="evals/quality.json", is_suite=True) == {}
    assert fields(rubric, hidden) == {"h": ("rubric",)}


def test_a_rule_that_a_demand_quotes_is_no_exposure() -> None:
    """A rubric of which less than half stands in the skill quotes it; the skill does not quote the rubric."""
    rule = "Hotel nights in the capital are paid up to one hundred and sixty euros each."
    rubric = (
        "The answer applies the cap by which hotel nights in the capital are paid up to one hundred and sixty euros, "
        "names the second night as over it by eighteen euros, and asks the traveller to pay that part alone"
    )
    assert fields(rule, case("h", QUERY, rubric)) == {}


def test_what_two_hidden_cases_share_is_nobodys_own() -> None:
    """An opening that the author writes before every query does not give both away; what follows it does."""
    opening = "Please read the attached note from our office in Lyon and answer the customer in two sentences:"
    cases = (
        case("a", f"{opening} {QUERY}"),
        case("b", f"{opening} is the lift repaired before the trade fair begins on Monday?"),
    )
    assert fields(opening, *cases) == {}
    assert fields(QUERY, *cases) == {"a": ("query",)}


WORDS_OF_QUERY = QUERY.rstrip("?").lower().split()
LETTERS = JAPANESE.replace("、", "").replace("。", "")


def pieces(text: list[str] | str, length: int) -> set[tuple[str, ...]]:
    """All runs of a length, by their definition."""
    return {tuple(text[at : at + length]) for at in range(len(text) - length + 1)}


@given(st.lists(st.one_of(st.tuples(st.integers(0, 18), st.integers(0, 19)), st.sampled_from(["the", "of", "x"]))))
def test_the_look_out_finds_what_the_definition_says(parts: list[tuple[int, int] | str]) -> None:
    """Cuts of the query in any order, with words between: found where four of its runs of eight words stand."""
    words: list[str] = []
    for part in parts:
        words += [part] if isinstance(part, str) else WORDS_OF_QUERY[part[0] : part[1]]
    wanted = len(pieces(WORDS_OF_QUERY, 8) & pieces(words, 8)) >= 4
    assert fields(" ".join(words)) == ({"h": ("query",)} if wanted else {})


@given(st.lists(st.one_of(st.tuples(st.integers(0, 55), st.integers(0, 56)), st.sampled_from(["の", "ab", "経"]))))
def test_so_it_does_by_characters(parts: list[tuple[int, int] | str]) -> None:
    """The same for a text without spaces: four runs of twenty-four characters."""
    text = "".join(part if isinstance(part, str) else LETTERS[part[0] : part[1]] for part in parts)
    wanted = len(pieces(text, 24) & pieces(LETTERS, 24)) >= 4
    assert fields(text, case(query=JAPANESE)) == ({"h": ("query",)} if wanted else {})
