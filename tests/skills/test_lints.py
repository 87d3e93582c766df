"""Lints of a skill's text: paths that lead nowhere, paths that leave, files that a client does not see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Severity
from skillassay.skills.lints import Text, lint_body, lint_visibility

FILES = frozenset(
    ("SKILL.md", "references/a.md", "references/two words.md", "scripts/run.py", "LICENSE", "references/f_(x).md")
)


def lints(body: str) -> list[tuple[str, int | None]]:
    """Code and line of each finding on a body that begins at line 10."""
    text = Text(path="skills/demo/SKILL.md", body=body, line=10)
    found = lint_body(text, paths=FILES, left_out=("evals/", "assets/x.pyc"))
    assert all(one.severity is Severity.WARNING and one.hint for one in found)
    return [(one.code, one.line) for one in found]


@pytest.mark.parametrize(
    "body",
    [
        "[a](references/a.md)",
        "[a](./references/a.md#part)",
        "[a](references/a.md?x)",
        '[a](references/a.md "title")',
        "[a](<references/a.md>)",
        "[a](references/two%20words.md)",
        "[a](references/f_(x).md)",
        "[a](references/)",
        "[a](references)",
        "[a](scripts/../references/a.md)",
        "[a](.)",
        "[a](#part)",
        "[a](https://example.org/x.md)",
        "[a](mailto:x@example.org)",
        "[a](//example.org/x.md)",
        "[text](url)",
        "[a](references/<topic>.md)",
        "[a](references/{id}.md)",
        "[a](references/*.md)",
        "[a](references/...)",
        "[a]($HOME/x.md)",
        "[a]()",
        "`references/a.md`",
        "`./references/a.md:12`",
        "`references/a.md#part`",
        "`references/`",
        "`references/<topic>.md`",
        "`scripts/$NAME.py`",
        "`python scripts/other.py`",
        "`docs/none.md`",
        "`[a](none.md)`",
        "```\n[a](none.md)\n`references/none.md`\n```\n",
        "~~~~ md\n```\n[a](none.md)\n~~~~\n",
        "```\n[a](none.md)",
        "[a]: references/a.md",
        "no path at all",
    ],
)
def test_nothing_to_say(body: str) -> None:
    """What exists, what is no path of the skill, and what is an example."""
    assert lints(body) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("[a](none.md)", "skill.dead-link"),
        ("![a](assets/none.png)", "skill.dead-link"),
        ("[a](references/A.md)", "skill.dead-link"),
        ("[a](references\\a.md)", "skill.dead-link"),
        ("[a](evals/quality.json)", "skill.dead-link"),
        ("[a]: none.md", "skill.dead-link"),
        ("```\nx\n```\n\n[a](none.md)", "skill.dead-link"),
        ("`references/none.md`", "skill.dead-path"),
        ("`./scripts/none.py`", "skill.dead-path"),
        ("`assets/x.pyc`", "skill.dead-path"),
        ("[a](../other/SKILL.md)", "skill.link-leaves-folder"),
        ("[a](references/../../x.md)", "skill.link-leaves-folder"),
        ("[a](/etc/hosts)", "skill.link-leaves-folder"),
        ("[a](~/notes.md)", "skill.link-leaves-folder"),
    ],
)
def test_a_path_that_is_reported(body: str, code: str) -> None:
    """Each kind, once."""
    assert [found for found, _ in lints(body)] == [code]


def test_lines_are_those_of_the_file() -> None:
    """Counted from where the body begins; one finding for one path."""
    assert lints("one\n\n[a](none.md) and [b](none.md)\n[c](../x.md)\n[d](none.md)\n") == [
        ("skill.dead-link", 12),
        ("skill.link-leaves-folder", 13),
    ]


def test_a_path_in_an_example_first_and_in_the_text_later() -> None:
    """The example does not hide the text."""
    assert lints("```\n[a](none.md)\n```\n[a](none.md)\n") == [("skill.dead-link", 13)]


def test_other_case_is_pointed_out() -> None:
    """The message names the file that is probably meant."""
    [finding] = lint_body(Text(path="x", body="[a](References/A.md)", line=1), paths=FILES)
    assert "there is `references/a.md`" in finding.message


def test_what_is_left_out_is_said_so() -> None:
    """A file that exists and that no reader can open."""
    [finding] = lint_body(Text(path="x", body="[a](evals/x.json)", line=1), paths=FILES, left_out=("evals/",))
    assert "left out of the skill (`evals/`)" in finding.message


def test_files_that_one_client_does_not_see() -> None:
    """One note, with count and first names; SKILL.md and the three folders do not count."""
    paths = ["LICENSE", "SKILL.md", "a.md", "assets/x", "b.md", "c/d.md", "references/a.md", "scripts/x.py"]
    finding = lint_visibility("skills/demo/SKILL.md", paths=paths, skill_file="SKILL.md")
    assert finding is not None
    assert (finding.code, finding.severity) == ("skill.unseen-files", Severity.NOTE)
    assert "4 of 8 files" in finding.message
    assert "`LICENSE`, `a.md`, `b.md`, …" in finding.message


def test_nothing_unseen() -> None:
    """No note without such files."""
    assert lint_visibility("x", paths=["SKILL.md", "scripts/x.py"], skill_file="SKILL.md") is None


@given(st.text(st.sampled_from("[]()`~<>#./:ab \n\\%"), max_size=120))
def test_any_body_is_linted(body: str) -> None:
    """Law: no text raises, and lines stay inside the text."""
    assert all(line is not None and 10 <= line <= 10 + body.count("\n") for _, line in lints(body))


@pytest.mark.parametrize(
    "piece", ["[", "](", "](a(", "`references/", "```\n", "[a]: ", "](<", "`](a.md) ", "[a](x.md)\n"]
)
def test_hostile_bodies_take_no_time(piece: str) -> None:
    """A megabyte of one sign after another is read in a moment."""
    import time

    start = time.monotonic()
    lints(piece * (400_000 // len(piece)))
    assert time.monotonic() - start < 20
