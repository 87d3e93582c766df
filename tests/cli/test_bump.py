"""`skillassay bump` through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillassay.cli.main import main

CRLF_SKILL = (
    b"\xef\xbb\xbf---\r\nname: one\r\ndescription: 'It''s one.' # keep\r\n"
    b"metadata:\r\n  version:   '1.2.3'  # here\r\n---\r\nBody\r\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one versioned skill (BOM, CRLF, quotes, comments) and two without a SemVer version."""
    for name, data in (
        ("one", CRLF_SKILL),
        ("two", b"---\nname: two\ndescription: Two.\n---\nBody\n"),
        ("three", b'---\nname: three\ndescription: Three.\nmetadata: {version: "1.0", owner: me}\n---\nBody\n'),
    ):
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(data)
    return tmp_path


def skill(root: Path, name: str) -> bytes:
    """The bytes of a skill's SKILL.md."""
    return (root / "skills" / name / "SKILL.md").read_bytes()


@pytest.mark.parametrize(("part", "new"), [("patch", b"1.2.4"), ("minor", b"1.3.0"), ("major", b"2.0.0")])
def test_only_the_version_changes(root: Path, part: str, new: bytes) -> None:
    """Comments, quotes, line ends and BOM stay; the version's characters alone are replaced."""
    assert main(["--root", str(root), "bump", "one", part]) == 0
    assert skill(root, "one") == CRLF_SKILL.replace(b"1.2.3", new)


@pytest.mark.parametrize("called", ["one", "skills/one", "skills/one/"])
def test_a_skill_is_called_by_name_or_folder(root: Path, called: str) -> None:
    """Name and folder both work."""
    assert main(["--root", str(root), "bump", called, "patch"]) == 0


def test_init_gives_versions_and_leaves_the_rest_alone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing versions are added, `1.0` becomes SemVer, a good one is not touched; twice changes nothing more."""
    assert main(["--root", str(root), "bump", "--init"]) == 0
    assert skill(root, "one") == CRLF_SKILL
    assert b'version: "0.1.0"' in skill(root, "two")
    assert b'version: "1.0.0", owner: me' in skill(root, "three")
    assert "3 skills, 2 given a version, 0 left" in capsys.readouterr().out
    before = (skill(root, "two"), skill(root, "three"))
    assert main(["--root", str(root), "bump", "--init"]) == 0
    assert (skill(root, "two"), skill(root, "three")) == before


def test_init_of_one_skill_leaves_the_others(root: Path) -> None:
    """With a name only that skill is edited."""
    before = skill(root, "three")
    assert main(["--root", str(root), "bump", "--init", "two"]) == 0
    assert b"0.1.0" in skill(root, "two")
    assert skill(root, "three") == before


def test_a_broken_skill_does_not_stop_the_others(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One SKILL.md that cannot be read is named with its line, the others get their versions, the exit code is 3."""
    broken = root / "skills" / "broken"
    broken.mkdir()
    (broken / "SKILL.md").write_bytes(b"---\nname: broken\ndescription: a: b: c\n---\n")
    assert main(["--root", str(root), "bump", "--init"]) == 3
    assert b"0.1.0" in skill(root, "two")
    assert "skills/broken/SKILL.md:3" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "huge"], ["nobody", "patch"], ["one", "patch", "more"]])
def test_wrong_usage_exits_2_and_writes_nothing(root: Path, arguments: list[str]) -> None:
    """An unknown skill or part is wrong usage."""
    before = skill(root, "one")
    assert main(["--root", str(root), "bump", *arguments]) == 2
    assert skill(root, "one") == before


def test_a_version_that_is_not_semver_is_not_raised(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`1.0` cannot be raised; the message names the command that mends it, and the file is as it was."""
    before = skill(root, "three")
    assert main(["--root", str(root), "bump", "three", "patch"]) == 3
    assert skill(root, "three") == before
    assert "bump --init" in capsys.readouterr().err
