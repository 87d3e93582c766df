"""Where skills are looked for, and the globs that say where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.scaffold.layout import find_skill_folders, globs_for
from skillassay.skills.discovery import discover


def skill(root: Path, folder: str, name: str = "SKILL.md") -> None:
    """A skill in a folder."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / name).write_text("---\nname: a\ndescription: b\n---\nc\n", encoding="utf-8")


@pytest.mark.parametrize(
    "folder",
    [
        "node_modules/x/skills/one",
        "tests/data/one",
        "evals/one",
        ".git/one",
        ".venv/lib/one",
        "a/b/c/d/e/f/g",
        "x.egg-info/one",
    ],
)
def test_what_is_not_the_repositorys_own_is_passed_over(tmp_path: Path, folder: str) -> None:
    """Installed, built, hidden, tested and all too deep skills are none of it."""
    skill(tmp_path, folder)
    skill(tmp_path, "skills/own")
    assert find_skill_folders(tmp_path) == ("skills/own",)


@pytest.mark.parametrize("folder", [".claude/skills/a", ".github/skills/a", "plugins/p/skills/a", "a", "x/y/z"])
def test_what_is_is_found(tmp_path: Path, folder: str) -> None:
    """Each usual place, and any other that is not passed over, whatever case its file's letters have."""
    skill(tmp_path, folder, "Skill.md")
    assert find_skill_folders(tmp_path) == (folder,)


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A folder reached twice is found once, and a loop ends."""
    skill(tmp_path, "skills/a")
    (tmp_path / "linked").symlink_to(tmp_path / "skills")
    (tmp_path / "skills/a/loop").symlink_to(tmp_path)
    assert find_skill_folders(tmp_path) == ("skills/a",)


@pytest.mark.parametrize(
    ("folders", "globs"),
    [
        ([".", "skills/a"], (".", "skills/*")),
        (["a", "b"], ("*",)),
        (["plugins/p/skills/a", "plugins/q/skills/b"], ("plugins/*/skills/*",)),
        (["packages/p/skills/a", "packages/q/skills/b"], ("packages/*/skills/*",)),
        (["packages/p/skills/a"], ("packages/p/skills/*",)),
        (["my/skills/a", "other/place/b"], ("my/skills/*", "other/place/*")),
        ([], ()),
    ],
)
def test_globs(folders: list[str], globs: tuple[str, ...]) -> None:
    """The usual globs where they fit; places that differ in one part become one; each other place its own."""
    assert globs_for(folders) == globs


PARTS = st.sampled_from(["skills", "plugins", "p", "q", "a", "b[1]", ".claude"])


@given(st.lists(st.lists(PARTS, min_size=1, max_size=4).map("/".join), min_size=1, max_size=6, unique=True))
def test_the_globs_find_what_was_found(tmp_path_factory: pytest.TempPathFactory, folders: list[str]) -> None:
    """Whatever the layout, discovery finds by the globs each folder that the search found."""
    root = tmp_path_factory.mktemp("layout")
    for folder in folders:
        skill(root, folder)
    found = find_skill_folders(root)
    packages = discover(root, globs=globs_for(found)).packages
    assert set(found) <= {package.path for package in packages}
