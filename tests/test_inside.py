"""Nothing is written through a link of a project, wherever in the path it stands and wherever it leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import StoreError
from skillassay.inside import refuse_links, write_inside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, beside a folder of the user's."""
    (tmp_path / "user").mkdir()
    (tmp_path / "user/file").write_text("mine")
    (tmp_path / "project/evals/own").mkdir(parents=True)
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("link", "target", "name"),
    [
        ("file", "../user/file", "file"),
        ("file", "../user/new", "file"),
        ("evals/recordings", "../../user", "evals/recordings/new"),
        ("evals/recordings", "../../user", "evals/recordings/a/b/new"),
        ("evals/recordings", "own", "evals/recordings/new"),
        ("loop", "loop", "loop"),
        ("loop", "loop", "loop/x"),
    ],
)
def test_a_link_is_refused_and_nothing_written(root: Path, link: str, target: str, name: str) -> None:
    """The last part or one before it, to a file, a folder, nothing or itself; inside the project alike."""
    (root / link).symlink_to(target)
    before = sorted(root.parent.rglob("*"))
    with pytest.raises(StoreError, match=f"{link} is a link, and nothing is written through it: {name}"):
        write_inside(root, name, b"evil")
    assert sorted(root.parent.rglob("*")) == before
    assert (root.parent / "user/file").read_text() == "mine"


def test_what_is_no_link_is_written(root: Path) -> None:
    """A new file, one below new folders, and one that is there already."""
    for name in ("file", "a/b/file", "file"):
        write_inside(root, name, name.encode())
        assert (root / name).read_text() == name


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    """It is the user who named it."""
    (root.parent / "by-link").symlink_to("project")
    write_inside(root.parent / "by-link", "file", b"x")
    assert (root / "file").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["../user/new", "a/../../user/new", "/tmp/new", "", "."])
def test_a_path_that_leaves_is_refused(root: Path, name: str) -> None:
    """By its parts, or since it is absolute; and the root is no file."""
    with pytest.raises(StoreError, match="does not lie below"):
        write_inside(root, name, b"evil")


@given(parts=st.lists(st.sampled_from(["d", "l", "f"]), min_size=1, max_size=5))
def test_a_path_is_refused_when_a_part_is_a_link(parts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """By the definition, on a real tree: `l` is a link to a folder, `d` a folder, `f` is not there."""
    base = tmp_path_factory.getbasetemp() / "tree"
    if not base.exists():
        base.mkdir()
        _grow(base, depth=5)
    there = parts[: parts.index("f")] if "f" in parts else parts
    refused = False
    try:
        refuse_links(base, base.joinpath(*parts))
    except StoreError:
        refused = True
    assert refused == ("l" in there)


def _grow(folder: Path, *, depth: int) -> None:
    if depth:
        (folder / "d").mkdir()
        (folder / "l").symlink_to("d")
        _grow(folder / "d", depth=depth - 1)
