"""A folder of a commit is written out as git holds it, in a place of its own, and no name in it leads out of there."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillassay.errors import InputError
from skillassay.skills import git_folder
from skillassay.skills.git_folder import GitFolder, GitFolders, _Entry, _problems
from tests.hostile_git import FILE, FOLDER, LINK, PROGRAM, Item, commit_tree
from tests.project import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository; beside it a folder that nothing may be written to."""
    (tmp_path / "repository").mkdir()
    (tmp_path / "outside").mkdir()
    git(tmp_path / "repository", "init", "--quiet")
    return tmp_path / "repository"


def written(root: Path, *items: Item) -> GitFolder:
    """The folder `s` of a commit that holds these items in it."""
    commit = commit_tree(root, [(FOLDER, b"s", list(items))])
    folders = GitFolders(root, "s")
    return folders.write_out(commit, folders.listing(commit))


def test_files_programs_and_links_come_out_as_git_holds_them(repository: Path) -> None:
    """Bytes, execute bit and link text; a folder is made for what lies in it."""
    items: list[Item] = [
        (FILE, b"SKILL.md", b"a\r\n\0"),
        (LINK, b"link", b"sub/run.sh"),
        (FOLDER, b"sub", [(PROGRAM, b"run.sh", b"#!/bin/sh\n")]),
    ]
    folder = written(repository, *items)
    assert (folder.path / "SKILL.md").read_bytes() == b"a\r\n\0"
    assert os.access(folder.path / "sub/run.sh", os.X_OK)
    assert not os.access(folder.path / "SKILL.md", os.X_OK)
    assert (folder.path / "link").readlink() == Path("sub/run.sh")


HOSTILE: dict[str, list[Item]] = {
    "a folder ..": [(FOLDER, b"..", [(FILE, b"x", b"evil")])],
    "a file ../x": [(FILE, b"../x", b"evil")],
    "a file /tmp/x": [(FILE, b"/tmp/x", b"evil")],
    "a folder .": [(FOLDER, b".", [(FILE, b"x", b"evil")])],
    "an empty name": [(FOLDER, b"", [(FILE, b"x", b"evil")])],
    "a folder .git": [(FOLDER, b".git", [(FILE, b"config", b"evil")])],
    "a folder .GIT": [(FOLDER, b".GIT", [(FILE, b"config", b"evil")])],
    "a line end": [(FILE, b"a\nb", b"evil")],
    "a name twice": [(FILE, b"a", b"one"), (FILE, b"a", b"two")],
    "a link beside a folder of its name": [(LINK, b"a", b"../../outside"), (FOLDER, b"a", [(FILE, b"x", b"evil")])],
    "a folder before a link of its name": [(FOLDER, b"a", [(FILE, b"x", b"evil")]), (LINK, b"a", b"../../outside")],
    "a file beside a folder of its name": [(FILE, b"a", b"one"), (FOLDER, b"a", [(FILE, b"x", b"two")])],
}


@pytest.mark.parametrize("items", HOSTILE.values(), ids=HOSTILE)
def test_a_name_that_may_not_be_is_refused_whole(
    repository: Path, tmp_path: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of such a commit is written anywhere, not even the files of it that are harmless."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with pytest.raises(InputError, match=r"cannot be written out: (it lists|git cannot list it)"):
        written(repository, (FILE, b"SKILL.md", b"good"), *items)
    assert list((tmp_path / "outside").iterdir()) == []
    assert list((tmp_path / "temporary").rglob("*")) == []


PARTS = st.sampled_from([b"a", b"b", b"A", b"..", b".", b"", b".git", b".Git", b"a\x1b", b"..a", b"git", b"\xc3\xa9"])


@settings(deadline=None, max_examples=300)
@given(names=st.lists(st.lists(PARTS, min_size=1, max_size=3).map(b"/".join), min_size=1, max_size=4))
def test_what_is_let_through_can_be_made_below_the_folder(names: list[bytes]) -> None:
    """By the definition: of plain parts alone, each once, none below another one."""
    entries = [_Entry(mode=FILE, blob="0", size=0, name=name) for name in names]
    plain = all(
        part not in {b"", b".", b".."} and part.lower() != b".git" and min(part) >= 32
        for name in names
        for part in name.split(b"/")
    )
    apart = all(
        names[i] != names[j] and not names[j].startswith(names[i] + b"/")
        for i in range(len(names))
        for j in range(len(names))
        if i != j
    )
    assert (next(_problems(entries), None) is None) == (plain and apart)


def test_a_link_is_never_followed_while_others_are_made(repository: Path, tmp_path: Path) -> None:
    """A link that leads out is a link in the end, and what it leads to is as it was."""
    folder = written(repository, (LINK, b"a", os.fsencode(tmp_path / "outside")), (FILE, b"b", b"x"))
    assert (folder.path / "a").is_symlink()
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_BYTES"])
def test_a_folder_beyond_the_limits_is_refused_unread(
    repository: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted from git's listing, before any content is read."""
    monkeypatch.setattr(git_folder, limit, 1)
    with pytest.raises(InputError, match="holds more than"):
        written(repository, (FILE, b"a", b"one"), (FILE, b"b", b"two"))


def test_a_folder_lasts_as_long_as_its_object(repository: Path) -> None:
    """Whoever plans and then does not run leaves nothing behind."""
    folder = written(repository, (FILE, b"a", b"one"))
    path = folder.path
    assert path.is_dir()
    del folder
    gc.collect()
    assert not path.exists()
