"""The mode `previous`: the skill as it was locked, or at a revision, against the skill as it is."""

from __future__ import annotations

import gc
import html
import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import short_digest
from skillassay.skills.digest import read_files
from tests.hostile_git import FILE, FOLDER, LINK, Item, commit_tree
from tests.project import SKILL as SKILL_TEXT
from tests.project import Cli, build_small, edit, git, records, rule, run_folder, small_case, write_json

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
    """Comparing it with itself would show no difference and look like a result: asked for by name, exit 3 before any
    trial; beside the usual modes a warning, and these run.
    """
    root = build_small(cli.root)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    ran = cli("eval", "--mode", "previous", "--base", "HEAD")
    assert ran.code == 3
    assert "skills/greeter has no other state at HEAD" in ran.err
    assert not (root / ".skillassay" / "runs").exists()
    ran = cli("eval", "--base", "HEAD")
    assert ran.code == 0, ran.out + ran.err
    assert "warning: nothing to run in the mode previous: skills/greeter has no other state at HEAD" in ran.err
    assert header(root)["facts"]["modes"] == ["progressive", "none", "eager"]


def test_a_skill_that_is_new_on_the_branch_runs_in_the_other_modes(cli: Cli, edited: Path) -> None:
    """`--base` is about the skills that were there; the new one is named and evaluated as usual."""
    new = edited / "skills/other"
    new.mkdir()
    (new / "SKILL.md").write_text(SKILL_TEXT.format(name="other"), encoding="utf-8")
    suite = json.loads((edited / "evals/quality.json").read_text("utf-8"))
    suite["cases"].append(small_case("two", skill="other"))
    write_json(edited / "evals/quality.json", suite)
    ran = cli("eval", "--base", "HEAD", "--dry-run")
    assert ran.code == 0
    assert "not in the mode previous: skills/other has no other state at HEAD" in ran.err
    modes = {
        case: {line.split()[2] for line in ran.out.splitlines() if f"  {case}  " in line} for case in ("one", "two")
    }
    usual = {"progressive", "none", "eager"}
    assert modes == {"one": {*usual, "previous"}, "two": usual}


def test_the_report_says_what_previous_is_and_what_was_gained(cli: Cli, edited: Path) -> None:
    """Version, commit and revision of the older state, and the paired difference over the cases that both have: here
    one criterion of one more than before.
    """
    commit = git(edited, "rev-parse", "HEAD").strip()
    ran = cli("eval", "--base", "HEAD")
    said = " ".join(ran.out.split())
    assert f"previous of skills/greeter: 1.0.0 at {commit[:7]} (--base HEAD)" in said
    gained = "progressive - previous, skills/greeter: +1.00 95 % [-0.95, 1.00]: inconclusive"
    assert gained in said
    assert "1/1 against 0/1, 1 of 1 cases" in said.partition(gained)[2]
    assert gained in html.unescape(" ".join(cli("report", "--format", "markdown").out.split()))
    since = cli("report", "--format", "json").json["metrics"]["since_previous"]["skills/greeter"]
    assert (since["mean"], since["progressive"], since["previous"]) == (1.0, {"k": 1, "n": 1}, {"k": 0, "n": 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--base", "no-such-ref"), "there is no git revision 'no-such-ref' here"),
        (("--mode", "previous"), "there is no lock, so nothing says what was locked last"),
        (("--mode", "previous"), "name a revision with --base REF"),
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


def test_a_hostile_commit_writes_nothing_outside(cli: Cli, edited: Path, tmp_path: Path) -> None:
    """A tree with a link beside a folder of the same name leads nowhere: exit 3, the user's file as it was."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "profile").write_text("mine")
    old = (edited / SKILL).read_bytes()
    below: list[Item] = [
        (FILE, b"SKILL.md", old),
        (LINK, b"a", str(victim).encode()),
        (FOLDER, b"a", [(FILE, b"profile", b"evil")]),
    ]
    commit = commit_tree(edited, [(FOLDER, b"skills", [(FOLDER, b"greeter", below)])])
    ran = cli("eval", "--base", commit, "--dry-run")
    assert (victim / "profile").read_text() == "mine"
    assert ran.code == 3
    assert "cannot be written out: it lists 'a/profile' below 'a'" in " ".join(ran.err.split())


def test_nothing_that_lies_in_the_project_is_taken_for_git_s(cli: Cli, edited: Path) -> None:
    """A run reads the earlier state out of git each time: a folder that an earlier run could have left is not read."""
    assert cli("eval", "--base", "HEAD", "--dry-run").code == 0
    first = git(edited, "rev-parse", "HEAD").strip()
    left = edited / ".skillassay/earlier" / f"{first}-{short_digest('skills/greeter')}"
    left.mkdir(parents=True, exist_ok=True)
    other = (edited / SKILL).read_text("utf-8").replace("1.1.0", "6.6.6")
    (left / "SKILL.md").write_text(other, encoding="utf-8")
    assert cli("eval", "--base", "HEAD").code == 0
    assert header(edited)["earlier"]["skills/greeter"]["version"] == "1.0.0"


def test_a_plan_leaves_no_file_behind(
    cli: Cli, edited: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither in the project nor among temporary files."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = sorted(edited.rglob("*"))
    assert cli("eval", "--base", "HEAD", "--dry-run").code == 0
    gc.collect()
    assert sorted(edited.rglob("*")) == before
    assert list(temporary.iterdir()) == []


def test_a_locked_state_further_back_is_found(cli: Cli, edited: Path) -> None:
    """Behind commits that changed the skill since, one of them taken back."""
    first = git(edited, "rev-parse", "HEAD").strip()
    for old, new in (("twice", "three times"), ("three times", "four times"), ("four times", "three times")):
        edit(edited / SKILL, f"hello {old}", f"hello {new}")
        git(edited, "commit", "--quiet", "--all", "--message", new)
    assert cli("eval", "--mode", "previous").code != 2
    assert header(edited)["earlier"]["skills/greeter"]["commit"] == first
