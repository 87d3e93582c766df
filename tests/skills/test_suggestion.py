"""Which part of the version a change of a skill asks for: one table a kind of change, and what is no change at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.skills.skill import parse_skill
from skillassay.skills.suggestion import State, Suggestion, build_suggestion
from skillassay.versions import Part

MAIN = """\
---
name: sums
description: Adds up invoices.
license: MIT
metadata:
  version: "1.0.0"
---

# Sums

Add up what the user sends. Round to 2 places, see [rules](references/rules.md).

<!-- a comment -->

## Inputs

- the invoice
- the currency

## Steps

1. Read the lines.
2. Run `scripts/add.py`.

```sh
python scripts/add.py FILE
```
"""
SCRIPT = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--cap", choices=["low", "high"])
parser.parse_args()
"""
FILES = {
    "scripts/add.py": SCRIPT.encode(),
    "references/rules.md": b"Round half up.\n",
    "assets/logo.png": b"\x89PNG\0\0",
    "assets/notes.txt": b"nothing names me\n",
}
PATCH, MINOR, MAJOR = Part.PATCH, Part.MINOR, Part.MAJOR


def state(main: str = MAIN, files: dict[str, bytes] | None = None) -> State:
    """A skill with these files."""
    skill, _ = parse_skill(main.encode(), path="skills/sums", folder_name="sums")
    assert skill is not None
    return State(skill=skill, main=main.encode(), files=FILES if files is None else files)


def edited(old: str, new: str) -> Suggestion:
    """What an edit of SKILL.md asks for."""
    assert MAIN.count(old) == 1
    return build_suggestion(state(), state(MAIN.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("Add up what the user sends.", "Sum up what the user gives.", PATCH),
        ("<!-- a comment -->", "<!-- another -->", PATCH),
        ("license: MIT", "license: BSD", PATCH),
        ("# Sums\n", "# Sums\n\nA new word of prose.\n", PATCH),
        ("1. Read the lines.", "1. Read all lines.", MINOR),
        ("1. Read the lines.\n", "", MINOR),
        ("## Steps", "## What to do", MINOR),
        ("to 2 places", "to 3 places", MINOR),
        ("(references/rules.md)", "(references/other.md)", MINOR),
        ("what the user sends.", "what the user sends, never more.", MINOR),
        ("python scripts/add.py FILE", "python3 scripts/add.py FILE", MINOR),
        ("Adds up invoices.", "Adds up receipts.", MINOR),
        ("license: MIT", "license: MIT\nallowed-tools: Bash", MINOR),
        ("license: MIT", "license: MIT\ncompatibility: needs python", MINOR),
        ("- the currency\n", "- the currency\n- the due date\n", MAJOR),
        ("- the invoice\n", "", MAJOR),
        ("- the invoice", "- the order", MAJOR),
        ("name: sums", "name: totals", MAJOR),
    ],
)
def test_an_edit_of_skill_md(old: str, new: str, part: Part) -> None:
    """Wording and comments patch; instructions, numbers, links, description minor; inputs and name major."""
    assert edited(old, new).part == part


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("import argparse\n", "import argparse  # for options\n", PATCH),
        ("parser.parse_args()", "print(parser.parse_args())", MINOR),
        ('"--cap",', '"--cap", help="the cap",', MINOR),
        ('parser.add_argument("file")', 'parser.add_argument("file")\nparser.add_argument("--new")', MINOR),
        ('parser.add_argument("file")\n', "", MAJOR),
        ('"--cap",', '"--limit",', MAJOR),
        ('"--cap",', '"--cap", required=True,', MAJOR),
        ('["low", "high"]', '["low"]', MAJOR),
        ('parser.add_argument("file")', 'parser.add_argument("file")\nparser.add_argument("second")', MAJOR),
        ("import argparse\n", "import argparse (\n", MINOR),
    ],
)
def test_an_edit_of_a_script(old: str, new: str, part: Part) -> None:
    """Comments patch; another program minor; one that is called otherwise major; one that cannot be read minor."""
    assert SCRIPT.count(old) == 1
    after = FILES | {"scripts/add.py": SCRIPT.replace(old, new).encode()}
    assert build_suggestion(state(), state(files=after)).part == part


@pytest.mark.parametrize(
    ("path", "data", "part", "says"),
    [
        ("references/rules.md", b"Round half down.\n", MINOR, "changed"),
        ("assets/logo.png", b"\x89PNG\0\1", MINOR, "changed"),
        ("references/new.md", b"More.\n", MINOR, "added"),
        ("assets/notes.txt", None, MINOR, "removed"),
        ("references/rules.md", None, MAJOR, "SKILL.md named it"),
        ("scripts/add.py", None, MAJOR, "SKILL.md named it"),
    ],
)
def test_a_file(path: str, data: bytes | None, part: Part, says: str) -> None:
    """Files that changed or came are minor, and so is one that nobody named; gone is major where something calls it."""
    after = {name: old for name, old in FILES.items() if name != path} | ({} if data is None else {path: data})
    found = build_suggestion(state(), state(files=after))
    assert found.part == part
    assert says in found.reasons[0].message


def test_a_moved_file_is_told_with_its_new_place() -> None:
    """The bytes lie elsewhere now, and who calls the old path does not find them."""
    after = {name: data for name, data in FILES.items() if name != "scripts/add.py"}
    found = build_suggestion(state(), state(files=after | {"scripts/sum.py": SCRIPT.encode()}))
    assert found.part is MAJOR
    assert "moved to scripts/sum.py" in found.reasons[0].message


def test_the_version_alone_is_no_change() -> None:
    """Who raised it is not asked to raise it again."""
    assert edited('"1.0.0"', '"1.0.1"').part is None


def test_line_ends_are_no_change() -> None:
    """CRLF has the digest of LF."""
    files = {name: data if b"\0" in data else data.replace(b"\n", b"\r\n") for name, data in FILES.items()}
    assert build_suggestion(state(), state(MAIN.replace("\n", "\r\n"), files)).reasons == ()


def test_a_byte_order_mark_is_a_patch() -> None:
    """It has another digest and says nothing else."""
    assert build_suggestion(state(), state("\ufeff" + MAIN)).part is PATCH


def test_the_gravest_reason_comes_first() -> None:
    """All reasons are told, and the first decides."""
    found = build_suggestion(state(), state(MAIN.replace("Add up what", "Sum what").replace("- the invoice\n", "")))
    assert [one.part for one in found.reasons] == sorted(
        (one.part for one in found.reasons), key=[MAJOR, MINOR, PATCH].index
    )
    assert found.part is MAJOR


LINES = st.sampled_from(
    [
        "# H",
        "## Inputs",
        "- item 1",
        "1. step",
        "prose, not more",
        "",
        "```",
        "| a | b |",
        "<!-- c -->",
        "    code",
        "===",
    ]
)


@given(st.lists(LINES, max_size=30))
def test_what_is_unchanged_needs_nothing(lines: list[str]) -> None:
    """Whatever a body is made of, itself and its CRLF form ask for no bump."""
    main = "---\nname: sums\ndescription: Adds.\n---\n" + "\n".join(lines)
    assert build_suggestion(state(main), state(main)).reasons == ()
    assert build_suggestion(state(main), state(main.replace("\n", "\r\n"))).reasons == ()


@given(st.lists(LINES, max_size=20), st.lists(LINES, max_size=20))
def test_other_bytes_always_have_a_reason(one: list[str], other: list[str]) -> None:
    """Two bodies that differ never ask for nothing, since their digests differ."""
    head = "---\nname: sums\ndescription: Adds.\n---\n"
    before, after = head + "\n".join(one), head + "\n".join(other)
    assert (build_suggestion(state(before), state(after)).part is None) == (before == after)
