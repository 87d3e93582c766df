"""`skillassay bump --suggest` over real git history, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Cli, build_small, edit, git

SKILL = Path("skills/greeter/SKILL.md")


@pytest.fixture
def locked(cli: Cli) -> Cli:
    """A project whose skill was locked and committed."""
    build_small(cli.root, lock={"requires": "fixture", "require_evidence": "ratchet"})
    assert cli("lock").code == 0
    git(cli.root, "init", "--quiet")
    git(cli.root, "add", "--all")
    git(cli.root, "commit", "--quiet", "--message", "locked")
    return cli


def test_an_unchanged_skill_needs_no_bump(locked: Cli) -> None:
    """Its digest is the one in the lock."""
    ran = locked("bump", "greeter", "--suggest")
    assert (ran.code, ran.out) == (0, "skills/greeter: no bump needed, since 1.0.0, as locked\n")


def test_it_suggests_and_changes_nothing(locked: Cli) -> None:
    """The part with its reason, place and next command; no byte is written."""
    edit(locked.root / SKILL, "Says hello the way", "Greets the way")
    before = (locked.root / SKILL).read_bytes()
    ran = locked("bump", "greeter", "--suggest")
    assert ran.code == 0
    assert "skills/greeter: minor, since 1.0.0, as locked, from commit" in ran.out
    assert "minor SKILL.md:1: description changed" in ran.out
    assert "next: skillassay bump skills/greeter minor" in ran.out
    assert (locked.root / SKILL).read_bytes() == before


def test_a_part_that_is_given_is_raised(locked: Cli) -> None:
    """The reasons first, then the edit; less than what is asked for is said and done."""
    edit(locked.root / SKILL, "Says hello the way", "Greets the way")
    ran = locked("bump", "greeter", "patch", "--suggest")
    assert ran.code == 0
    assert "1.0.0 is now 1.0.1" in ran.out
    assert "patch is less than the change asks for" in ran.err


def test_what_was_raised_enough_is_said(locked: Cli) -> None:
    """The version now is held against the locked one."""
    edit(locked.root / SKILL, "Say hello twice, as", "Say hello two times, as")
    assert locked("bump", "greeter", "minor").code == 0
    found = locked("bump", "greeter", "--suggest", "--format", "json").json
    assert (found["suggested"], found["enough"]) == ("patch", True)
    assert (found["old_version"], found["version"]) == ("1.0.0", "1.1.0")
    edit(locked.root / SKILL, "name: greeter", "name: welcomer")
    found = locked("bump", "skills/greeter", "--suggest", "--format", "json").json
    assert (found["suggested"], found["enough"]) == ("major", False)


def test_without_git_the_files_are_told(locked: Cli) -> None:
    """The lock knows which files are other ones, and the output says what it does not know."""
    edit(locked.root / SKILL, "Say hello", "Say good day")
    (locked.root / ".git").rename(locked.root / "away")
    found = locked("bump", "greeter", "--suggest", "--format", "json").json
    assert (found["known"], found["suggested"]) == ("files", "minor")
    assert [(one["path"], one["message"]) for one in found["reasons"]] == [("SKILL.md", "file changed")]
    assert "may be major" in found["unknown"]


def test_a_revision_to_count_from(locked: Cli) -> None:
    """With --base the skill at that revision is compared with, lock or no lock."""
    edit(locked.root / SKILL, "Say hello twice", "Utter hello twice")
    git(locked.root, "commit", "--all", "--quiet", "--message", "wording")
    (locked.root / "skills.lock.json").unlink()
    found = locked("bump", "greeter", "--suggest", "--base", "HEAD~1", "--format", "json").json
    assert (found["suggested"], found["known"]) == ("patch", "whole")
    assert locked("bump", "greeter", "--suggest", "--base", "HEAD", "--format", "json").json["suggested"] is None


def test_nothing_to_count_from(locked: Cli) -> None:
    """No lock and no revision, or an unknown one: cannot be decided, and the way out is named."""
    ran = locked("bump", "greeter", "--suggest", "--base", "nowhere")
    assert (ran.code, "nowhere" in ran.err) == (3, True)
    (locked.root / "skills.lock.json").unlink()
    ran = locked("bump", "greeter", "--suggest")
    assert (ran.code, "--base REF" in ran.err) == (3, True)


def test_a_new_skill_takes_any_version(locked: Cli) -> None:
    """A skill that the lock does not have has nothing to be counted from, and that is said."""
    new = locked.root / "skills/new"
    new.mkdir()
    (new / "SKILL.md").write_text("---\nname: new\ndescription: New.\n---\nDo it.\n", encoding="utf-8")
    ran = locked("bump", "new", "--suggest")
    assert ran.code == 0
    assert "never locked" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["greeter", "--base", "HEAD"],
        ["--suggest"],
        ["greeter", "huge", "--suggest"],
        ["--init", "--suggest", "greeter"],
    ],
    ids=" ".join,
)
def test_wrong_usage(locked: Cli, arguments: list[str]) -> None:
    """--base needs --suggest, --suggest one skill and no --init."""
    before = (locked.root / SKILL).read_bytes()
    assert locked("bump", *arguments).code == 2
    assert (locked.root / SKILL).read_bytes() == before


@pytest.mark.parametrize(
    ("version", "of_eval"), [(None, 0), ("1.0", 3), ("v1", 3)], ids=["absent", "two numbers", "with a v"]
)
def test_a_version_that_is_none_names_its_command(cli: Cli, version: str | None, of_eval: int) -> None:
    """check, lock and eval all say `bump --init`, and that command mends it for all three."""
    build_small(cli.root, lock={"requires": "fixture", "require_evidence": "ratchet"})
    text = (cli.root / SKILL).read_text(encoding="utf-8")
    line = 'metadata:\n  version: "1.0.0"\n'
    new = text.replace(line, "") if version is None else text.replace("1.0.0", version)
    (cli.root / SKILL).write_text(new, encoding="utf-8")
    for name, code in (("lock", 1), ("eval", of_eval), ("check", 1)):
        ran = cli(name)
        assert "skillassay bump --init" in " ".join((ran.out + ran.err).split()), name
        assert ran.code == code, name
    assert cli("bump", "--init", "greeter").code == 0
    for name in ("eval", "lock", "check"):
        assert cli(name).code == 0, name
