"""`skillassay check --installed`: a copy that an installer placed, against the lock of a project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.project import Cli, build_small, edit, git


@pytest.fixture
def copy(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the greeter of a locked project, in a folder of skills elsewhere."""
    build_small(cli.root)
    assert cli("lock", "--no-evidence").code == 0
    target = tmp_path_factory.mktemp("agent") / "skills" / "greeter"
    shutil.copytree(cli.root / "skills/greeter", target)
    return target


def test_a_copy_is_the_same(cli: Cli, copy: Path) -> None:
    """Named by its own folder or by the folder of skills: exit 0, and nothing is written."""
    for folder in (copy, copy.parent):
        ran = cli("check", "--installed", str(folder))
        assert (ran.code, ran.err) == (0, "")
        assert f"{copy.as_posix()}: skills/greeter 1.0.0: same\n" in ran.out
        assert ran.out.splitlines()[-1].startswith("1 of 1 skill as locked in ")
    assert [path.name for path in copy.iterdir()] == ["SKILL.md"]


def test_what_an_installer_adds_is_named_apart(cli: Cli, copy: Path) -> None:
    """Its keys in SKILL.md and its files: the same all the same."""
    edit(copy / "SKILL.md", '  version: "1.0.0"\n', '  github-repo: https://example.org/o/r\n  version: "1.0.0"\n')
    (copy / "_meta.json").write_text("{}", encoding="utf-8")
    ran = cli("check", "--installed", str(copy))
    assert ran.code == 0
    assert "by an installer: _meta.json\n" in ran.out
    assert "by an installer: metadata.github-repo: https://example.org/o/r in SKILL.md\n" in ran.out
    shown = cli("check", "--installed", str(copy), "--format", "json").json
    assert shown["skills"][0]["installer"] == {
        "files": ["_meta.json"],
        "keys": {"github-repo": "https://example.org/o/r"},
    }


def test_what_was_edited_is_named(cli: Cli, copy: Path) -> None:
    """An edit, a file too many: exit 1 with both."""
    edit(copy / "SKILL.md", "hello twice", "hello thrice")
    (copy / "more.md").write_text("x", encoding="utf-8")
    ran = cli("check", "--installed", str(copy.parent))
    assert ran.code == 1
    assert "skills/greeter 1.0.0: DIFFERS\n    edited    SKILL.md\n    added     more.md\n" in ran.out


def test_an_older_version_of_the_lock_is_recognised(cli: Cli, copy: Path) -> None:
    """Where git knows the lock's history: the version, and a revision of the lock that has it."""
    git(cli.root, "init", "-q")
    git(cli.root, "add", ".")
    git(cli.root, "commit", "-qm", "one")
    first = git(cli.root, "rev-parse", "HEAD").strip()
    edit(cli.root / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    edit(cli.root / "skills/greeter/SKILL.md", '"1.0.0"', '"1.1.0"')
    assert cli("lock", "--no-evidence").code == 0
    git(cli.root, "commit", "-qam", "two")
    edit(copy / "SKILL.md", '  version: "1.0.0"\n', '  version: "1.0.0"\n  github-ref: refs/tags/v1\n')
    ran = cli("check", "--installed", str(copy))
    assert ran.code == 1
    assert f"it is version 1.0.0 of the lock at {first[:12]}\n" in ran.out
    shown = cli("check", "--installed", str(copy), "--format", "json").json["skills"][0]
    assert (shown["version"], shown["older"]) == ("1.1.0", {"version": "1.0.0", "revision": first[:12]})


def test_a_windows_checkout_is_the_same(cli: Cli, copy: Path) -> None:
    """CRLF in text is read as LF, and said."""
    data = (copy / "SKILL.md").read_bytes()
    (copy / "SKILL.md").write_bytes(data.replace(b"\n", b"\r\n"))
    ran = cli("check", "--installed", str(copy))
    assert ran.code == 0
    assert "note: 1 text file with CRLF line ends, read as LF\n" in ran.out


def test_another_lock_is_compared_with(cli: Cli, copy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """From a folder that is no project, with the lock by its path."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    ran = cli("--root", str(elsewhere), "check", "--installed", str(copy), "--lock", str(cli.root / "skills.lock.json"))
    assert ran.code == 0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--installed", "{copy}", "--skill", "nobody"], 3, "'nobody' is not in the lock"),
        (["--installed", "{copy}", "--strict"], 2, "leave out --strict"),
        (["--installed", "{copy}", "--format", "sarif"], 2, "--format is table or json"),
        (["--installed", "{copy}/nowhere"], 2, "does not exist"),
        (["--installed", "{copy}", "--lock", "{copy}/SKILL.md"], 3, "there is no lock to compare with"),
        (["--skill", "greeter"], 2, "add --installed DIR"),
    ],
)
def test_what_cannot_be_compared(cli: Cli, copy: Path, options: list[str], code: int, words: str) -> None:
    """Wrong usage, or an input that cannot be read."""
    ran = cli("check", *(option.format(copy=copy) for option in options))
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


ANEW = """\
---
description: Says hello the way greeter does.
metadata:
    github-ref: refs/tags/v1.0.0
    version: 1.0.0
name: greeter
---
"""


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [("", "", True), ("the way greeter does", "to all", False), ("1.0.0\nname", "1.0.1\nname", False)],
    ids=["same-values", "description", "version"],
)
def test_a_frontmatter_that_was_written_anew_is_told(
    cli: Cli, copy: Path, old: str, new: str, *, is_same: bool
) -> None:
    """The same values in another order and style, beside an installer's key: other bytes, and said to be no more."""
    body = (copy / "SKILL.md").read_text("utf-8").split("---\n", 2)[2]
    (copy / "SKILL.md").write_text(ANEW.replace(old, new) + body, encoding="utf-8")
    ran = cli("check", "--installed", str(copy), "--format", "json")
    assert (ran.code, ran.json["skills"][0]["rewritten"]) == (1, is_same)
    (copy / "SKILL.md").write_text(f"{ANEW}{body}More.\n", encoding="utf-8")
    assert not cli("check", "--installed", str(copy), "--format", "json").json["skills"][0]["rewritten"]
    edit(cli.root / "skills/greeter/SKILL.md", "hello twice", "hello thrice")  # the locked one is gone
    (copy / "SKILL.md").write_text(ANEW + body, encoding="utf-8")
    assert not cli("check", "--installed", str(copy), "--format", "json").json["skills"][0]["rewritten"]


def test_a_copy_that_cannot_be_read_decides_nothing(cli: Cli, copy: Path) -> None:
    """Exit 3 with the reason; 1 where another copy differs, which is known whatever this one holds."""
    shutil.copytree(copy, copy.with_name("second"))
    (copy / "more.md").symlink_to("nowhere")
    ran = cli("check", "--installed", str(copy.parent))
    assert ran.code == 3
    assert "skills/greeter 1.0.0: UNREADABLE\n    more.md: " in ran.out
    edit(copy.with_name("second") / "SKILL.md", "hello twice", "hello thrice")
    assert cli("check", "--installed", str(copy.parent)).code == 1


def test_no_lock_is_no_success(cli: Cli, copy: Path) -> None:
    """Exit 3 with the place."""
    (cli.root / "skills.lock.json").unlink()
    ran = cli("check", "--installed", str(copy))
    assert ran.code == 3
    assert "skills.lock.json" in ran.err
