"""The mode `previous`: the skill as it was locked, or at a revision, against the skill as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.digest import read_files
from tests.project import Cli, build_small, edit, git, records, rule, run_folder, small_case

SKILL = "skills/greeter/SKILL.md"
LOUD = [
    rule("one", {"text": "hello hello"}, prompt=["greeter the loud"]),
    rule("one", {"text": "good day"}, absent=["greeter the loud"]),
]
"""Right where catalog or body are the new ones."""


@pytest.fixture
def edited(cli: Cli) -> Path:
    """A project whose skill was committed and locked, and then got another description and version."""
    root = build_small(cli.root, cases=[small_case("one")], rules=LOUD, gate={"min_cases": 1})
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    assert cli("lock", "--no-evidence").code == 0
    edit(root / SKILL, "the way greeter does", "the way greeter the loud does")
    edit(root / SKILL, "as greeter does", "as greeter the loud does")
    edit(root / SKILL, '"1.0.0"', '"1.1.0"')
    return root


def statuses(root: Path) -> dict[str, str]:
    """The outcome in each mode."""
    return {record["mode"]: record["outcome"]["status"] for record in records(root)}


def header(root: Path) -> dict[str, Any]:
    """The header of the only run."""
    value: dict[str, Any] = json.loads((run_folder(root) / "run.json").read_text("utf-8"))
    return value


def test_the_locked_version_runs_beside_the_edited_one(cli: Cli, edited: Path) -> None:
    """The old description fails the case that the new one passes, and the header names what the old one was."""
    first = git(edited, "rev-parse", "HEAD").strip()
    assert cli("eval", "--mode", "progressive", "--mode", "previous").code != 2
    assert statuses(edited) == {"progressive": "PASS", "previous": "FAIL"}
    earlier = header(edited)["earlier"]["skills/greeter"]
    assert (earlier["version"], earlier["commit"]) == ("1.0.0", first)
    locked = json.loads((edited / "skills.lock.json").read_text("utf-8"))["skills"]["skills/greeter"]
    assert earlier["digest"] == locked["digest"]


def test_a_revision_comes_beside_the_usual_modes(cli: Cli, edited: Path) -> None:
    """`--base` adds the mode; the three others are still a whole run of the skill, which passes its gate."""
    ran = cli("eval", "--base", "HEAD")
    assert ran.code == 0, ran.out + ran.err
    assert statuses(edited) == {"progressive": "PASS", "none": "FAIL", "eager": "PASS", "previous": "FAIL"}
    assert header(edited)["facts"]["whole_skills"] == ["skills/greeter"]


def test_the_older_files_are_those_of_git_to_the_byte(cli: Cli, edited: Path) -> None:
    """No attribute and no line-end rule of a checkout changes them: the digest is that of the committed folder."""
    (edited / ".gitattributes").write_text("* text=auto eol=crlf export-ignore export-subst\n")
    (edited / "skills/greeter/references").mkdir()
    (edited / "skills/greeter/references/notes.bin").write_bytes(b"a\r\nb\0$Format:%H$")
    git(edited, "add", "--all")
    git(edited, "commit", "--quiet", "--message", "second")
    want = read_files(str(edited / "skills/greeter"), path="skills/greeter")[0]
    edit(edited / SKILL, "twice", "three times")
    assert cli("eval", "--mode", "previous", "--base", "HEAD").code != 2
    assert want is not None
    assert header(edited)["earlier"]["skills/greeter"]["digest"] == want.digest


def test_an_unchanged_skill_has_no_earlier_state(cli: Cli) -> None:
    """Comparing it with itself would show no difference and look like a result: exit 3 before any trial."""
    root = build_small(cli.root)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    ran = cli("eval", "--base", "HEAD")
    assert ran.code == 3
    assert "no skill of the run was another one at HEAD: skills/greeter" in ran.err
    assert not (root / ".skillassay" / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--base", "no-such-ref"), "there is no git revision 'no-such-ref' here"),
        (("--mode", "previous"), "nothing says what was locked last"),
    ],
)
def test_what_cannot_be_found_is_said(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """A revision that is not there, and a project that was never locked: exit 3."""
    root = build_small(cli.root)
    git(root, "init", "--quiet")
    ran = cli("eval", *arguments)
    assert ran.code == 3
    assert words in " ".join((ran.out + ran.err).split())


def test_a_resumed_run_keeps_its_earlier_state(cli: Cli, edited: Path) -> None:
    """The finished run is found whole: no trial runs twice."""
    assert cli("eval", "--base", "HEAD").code == 0
    before = len(records(edited))
    assert cli("eval", "--resume", run_folder(edited).name).code == 0
    assert len(records(edited)) == before
