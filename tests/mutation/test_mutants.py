"""The mutants of a small skill, written down by hand: what is there, what each changes, and what its id stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import InputError
from skillassay.mutation.mutants import (
    MAX_DIFF_LINES,
    OTHER_DESCRIPTION,
    Kind,
    Mutant,
    derive_mutants,
    diff_lines,
)
from skillassay.mutation.structure import Part
from tests.mutation.sample import FILES, SCRIPT, SKILL_MD, SOURCE

MUTANTS = derive_mutants(SOURCE).mutants


def of(kind: Kind) -> list[Mutant]:
    """The mutants of a kind."""
    return [mutant for mutant in MUTANTS if mutant.kind is kind]


def test_every_part_has_its_mutant() -> None:
    """Kinds and places of all of them, in order."""
    assert [(one.kind.value, one.place) for one in MUTANTS] == [
        ("description", "SKILL.md:3"),
        ("script-reference", "SKILL.md:16"),
        ("script-file", "scripts/hello.py"),
        ("reference-file", "assets/logo.png"),
        ("reference-empty", "assets/logo.png"),
        ("reference-file", "references/words.md"),
        ("reference-empty", "references/words.md"),
        ("section", "SKILL.md:10"),
        ("section", "SKILL.md:14"),
        ("section", "SKILL.md:19"),
        ("list-item", "SKILL.md:16"),
        ("list-item", "SKILL.md:17"),
        ("list-item", "references/words.md:3"),
        ("list-item", "references/words.md:4"),
        ("table-row", "SKILL.md:23"),
        ("number", "SKILL.md:12"),
        ("number", "SKILL.md:23"),
    ]


CUT = "\n".join
LINES = SKILL_MD.split("\n")
EDITS = {
    (Kind.DESCRIPTION, "SKILL.md:3"): CUT([*LINES[:2], f"description: {OTHER_DESCRIPTION}", *LINES[5:]]),
    (Kind.SCRIPT_REFERENCE, "SKILL.md:16"): CUT([*LINES[:15], *LINES[16:25], *LINES[26:]]),
    (Kind.SECTION, "SKILL.md:10"): CUT([*LINES[:9], *LINES[13:]]),
    (Kind.SECTION, "SKILL.md:14"): CUT([*LINES[:13], *LINES[18:]]),
    (Kind.SECTION, "SKILL.md:19"): CUT(LINES[:18]),
    (Kind.LIST_ITEM, "SKILL.md:16"): CUT([*LINES[:15], *LINES[16:]]),
    (Kind.LIST_ITEM, "references/words.md:4"): "# Words\n\n- hello\n",
    (Kind.TABLE_ROW, "SKILL.md:23"): SKILL_MD.replace("| hello | 12 |\n", ""),
    (Kind.NUMBER, "SKILL.md:12"): SKILL_MD.replace("at most 3 times", "at most 4 times"),
    (Kind.NUMBER, "SKILL.md:23"): SKILL_MD.replace("| hello | 12 |", "| hello | 24 |"),
}


@pytest.mark.parametrize(("kind", "place"), EDITS, ids=str)
def test_one_thing_is_changed(kind: Kind, place: str) -> None:
    """The file is the old one but for the part in question, byte for byte; no other file is touched."""
    (mutant,) = [one for one in of(kind) if one.place == place]
    assert mutant.edits == {mutant.file: EDITS[kind, place]}


def test_files_go_or_are_emptied() -> None:
    """None stands for a file that is gone, "" for one that is empty; a binary one too."""
    assert [one.edits for one in of(Kind.SCRIPT_FILE)] == [{"scripts/hello.py": None}]
    assert [one.edits for one in of(Kind.REFERENCE_FILE)] == [{"assets/logo.png": None}, {"references/words.md": None}]
    assert [one.edits for one in of(Kind.REFERENCE_EMPTY)] == [{"assets/logo.png": ""}, {"references/words.md": ""}]


def test_a_file_outside_the_folders_counts_when_it_is_named() -> None:
    """NOTES.txt is nobody's business until the skill names it."""
    named = replace(SOURCE, texts={**FILES, "SKILL.md": SKILL_MD + "\nSee NOTES.txt.\n"})
    assert "NOTES.txt" not in {one.file for one in MUTANTS}
    assert "NOTES.txt" in {one.file for one in derive_mutants(named).mutants if one.kind is Kind.REFERENCE_FILE}


def test_a_script_is_named_by_path_or_by_name_alone() -> None:
    """`hello.py` is the script; `say-hello.py`, `hello.pyc` and `hello.py_old` are not."""
    body = "\n- a hello.py\n- b say-hello.py\n- c hello.pyc\n- d hello.py_old\n- e ./scripts/hello.py\n"
    source = replace(SOURCE, texts={**FILES, "SKILL.md": "\n".join(LINES[:8]) + body})
    (mutant,) = [one for one in derive_mutants(source).mutants if one.kind is Kind.SCRIPT_REFERENCE]
    kept = "\n- b say-hello.py\n- c hello.pyc\n- d hello.py_old\n"
    assert mutant.edits == {"SKILL.md": "\n".join(LINES[:8]) + kept}


def test_a_section_that_is_the_whole_file_is_the_emptied_file() -> None:
    """references/words.md holds one section: without it the file is empty, which is a mutant already."""
    assert derive_mutants(SOURCE).n_same == 1


def test_two_of_one_result_are_one() -> None:
    """An item that alone names the script is that reference; that it is an item too is counted, and not run twice."""
    source = replace(SOURCE, texts={**FILES, "SKILL.md": SKILL_MD.replace("scripts/hello.py --times 7\n", "")})
    derived = derive_mutants(source)
    places = [(one.kind, one.place) for one in derived.mutants]
    assert (Kind.SCRIPT_REFERENCE, "SKILL.md:16") in places
    assert (Kind.LIST_ITEM, "SKILL.md:16") not in places
    assert derived.n_same == derive_mutants(SOURCE).n_same + 1


def test_ids_are_apart_and_stay() -> None:
    """No two are alike; lines put above a part change no id of it; another text, another id."""
    assert len({one.id for one in MUTANTS}) == len(MUTANTS)
    moved = replace(SOURCE, texts={**FILES, "SKILL.md": SKILL_MD.replace("## Steps", "Words.\n\nMore.\n\n## Steps")})
    before = {one.id: one for one in MUTANTS}
    after = {one.id: one for one in derive_mutants(moved).mutants}
    assert set(before) - set(after) == {one.id for one in of(Kind.SECTION) if one.line == 10}
    assert {after[name].line for name in before if name in after and before[name].line == 16} == {20}
    other = replace(SOURCE, texts={**FILES, "SKILL.md": SKILL_MD.replace("once.", "twice.")})
    assert of(Kind.LIST_ITEM)[0].id not in {one.id for one in derive_mutants(other).mutants}


def test_equal_lines_are_told_apart_by_their_order() -> None:
    """Two items of one text are two mutants with two ids."""
    source = replace(SOURCE, texts={**FILES, "references/words.md": "- hello\n\nthen\n\n- hello\n"})
    found = [one for one in derive_mutants(source).mutants if one.file == "references/words.md"]
    items = [one for one in found if one.kind is Kind.LIST_ITEM]
    assert [one.line for one in items] == [1, 5]
    assert items[0].id != items[1].id
    assert items[0].text == items[1].text


def test_the_diff_is_one_that_patch_can_read() -> None:
    """A unified diff with the names of both sides; a file that is gone is /dev/null; a binary one is said."""
    (row,) = of(Kind.TABLE_ROW)
    assert diff_lines(SOURCE, row) == (
        *("--- a/SKILL.md", "+++ b/SKILL.md", "@@ -22,3 +22,2 @@"),
        *(" | --- | --- |", "-| hello | 12 |", " "),
    )
    (script,) = of(Kind.SCRIPT_FILE)
    assert diff_lines(SOURCE, script)[:2] == ("--- a/scripts/hello.py", "+++ /dev/null")
    assert f"-{SCRIPT.strip()}" in diff_lines(SOURCE, script)
    assert diff_lines(SOURCE, of(Kind.REFERENCE_EMPTY)[0]) == ("binary file assets/logo.png is empty",)


def test_a_long_diff_is_cut_and_says_so() -> None:
    """Of 100 lines that go, the first stay in sight, and how many more there are."""
    source = replace(SOURCE, texts={**FILES, "references/words.md": "".join(f"- {n}\n" for n in range(100))})
    gone = next(
        one for one in derive_mutants(source).mutants if one.kind is Kind.REFERENCE_FILE and "words" in one.file
    )
    lines = diff_lines(source, gone)
    # Two names, the place, 100 lines.
    assert (len(lines), lines[-1]) == (MAX_DIFF_LINES + 1, f"… {2 + 1 + 100 - MAX_DIFF_LINES} more lines")


def test_a_skill_of_too_many_large_mutants_is_refused() -> None:
    """A million characters of numbers would have mutants of more than 256 million; nothing is cut in silence."""
    source = replace(SOURCE, texts={**FILES, "references/words.md": "1234567 7654321\n" * 65_536})
    with pytest.raises(InputError, match="too large"):
        derive_mutants(source)


@given(st.text(alphabet="#-1. |`\nabé\u2028", max_size=80))
def test_whatever_the_body_is_a_mutant_changes_something(body: str) -> None:
    """No body is refused; no mutant is the original, and no two have one result or one id."""
    source = replace(SOURCE, texts={"SKILL.md": "---\nname: a\ndescription: b\n---\n" + body}, others=frozenset())
    source = replace(source, body=4, description=Part(start=2, end=3), scripts=())
    mutants = derive_mutants(source).mutants
    assert all(one.edits["SKILL.md"] != source.texts["SKILL.md"] for one in mutants)
    assert len({one.edits["SKILL.md"] for one in mutants}) == len({one.id for one in mutants}) == len(mutants)
    assert mutants == derive_mutants(source).mutants
