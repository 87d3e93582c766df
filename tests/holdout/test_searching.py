"""Where hidden texts are looked for: which files, and what is said of the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillassay.holdout.searching import OTHER_MAX_BYTES, Search, search_project
from skillassay.project import load_project
from skillassay.suites.case import Case
from tests.holdout.test_leakage import QUERY
from tests.project import build_small, git

CASES = (Case(id="h", skill="s", query=QUERY),)


def looked(root: Path) -> Search:
    """The look-out in a project."""
    return search_project(load_project(root), CASES)


def write(root: Path, name: str, text: str | bytes = QUERY) -> None:
    """A file below the root."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def found(root: Path) -> list[str]:
    """Where the case was found."""
    return sorted(one.path for one in looked(root).exposures)


def test_every_file_is_looked_through_once(tmp_path: Path) -> None:
    """As many as there are below the root, whether a skill, `evals/` and git know them too."""
    build_small(tmp_path)
    write(tmp_path, "README.md", "Read me.")
    n_files = sum(path.is_file() for path in tmp_path.rglob("*"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert looked(tmp_path) == Search(n_files=n_files)


def test_a_file_of_git_counts_wherever_it_lies(tmp_path: Path) -> None:
    """What is tracked in a folder that is left out is read by everybody who clones it; what is gone is nowhere."""
    build_small(tmp_path)
    git(tmp_path, "init", "-q")
    for name in ("node_modules/a/x.md", "node_modules/a/y.md", "node_modules/a/z.md"):
        write(tmp_path, name)
    git(tmp_path, "add", "-f", "node_modules/a/x.md", "node_modules/a/z.md")
    (tmp_path / "node_modules/a/z.md").unlink()
    assert found(tmp_path) == ["node_modules/a/x.md"]


def test_only_below_the_root(tmp_path: Path) -> None:
    """A project in a folder of a larger repository is looked through, and not its neighbours."""
    git(tmp_path, "init", "-q")
    build_small(tmp_path / "inner")
    write(tmp_path, "outer.md")
    write(tmp_path, "inner/docs/a.md")
    git(tmp_path, "add", ".")
    assert found(tmp_path / "inner") == ["docs/a.md"]


@pytest.mark.parametrize(("size", "n_found"), [(OTHER_MAX_BYTES, 1), (OTHER_MAX_BYTES + 1, 0)])
def test_a_file_over_the_limit_is_named(tmp_path: Path, size: int, n_found: int) -> None:
    """The last byte that is allowed, and one more; in `evals/` both are looked through."""
    build_small(tmp_path)
    data = QUERY.encode() + b"\n" * (size - len(QUERY.encode()))
    write(tmp_path, "docs/a.md", data)
    search = looked(tmp_path)
    assert (len(search.exposures), [one.path for one in search.skipped]) == (n_found, ["docs/a.md"] * (1 - n_found))
    (tmp_path / "docs/a.md").rename(tmp_path / "evals/a.md")
    assert found(tmp_path) == ["evals/a.md"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """What is no regular file is named, and nothing hangs."""
    build_small(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert [(one.path, one.why) for one in looked(tmp_path).skipped] == [("pipe", "is not a regular file")]


def test_a_link_to_a_file_outside_is_followed(tmp_path: Path) -> None:
    """Who opens it reads what it leads to."""
    build_small(tmp_path / "project")
    write(tmp_path, "outside.md")
    (tmp_path / "project/notes.md").symlink_to(tmp_path / "outside.md")
    assert found(tmp_path / "project") == ["notes.md"]


def test_a_folder_of_cases_that_is_a_link_is_looked_through(tmp_path: Path) -> None:
    """`evals` may lie elsewhere: its files count, and that other folders behind links do not is said."""
    build_small(tmp_path / "project")
    (tmp_path / "project/evals").rename(tmp_path / "elsewhere")
    (tmp_path / "project/evals").symlink_to(tmp_path / "elsewhere")
    write(tmp_path, "elsewhere/labels.txt")
    assert found(tmp_path / "project") == ["evals/labels.txt"]


def test_a_name_that_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 become signs that can be printed."""
    build_small(tmp_path)
    (tmp_path / os.fsdecode(b"a\xff.md")).write_text(QUERY, encoding="utf-8")
    assert found(tmp_path) == ["a\N{REPLACEMENT CHARACTER}.md"]


@pytest.mark.parametrize(("share", "n_found"), [(1, 1), (3, 0)])
def test_a_few_control_characters_make_no_file_binary(tmp_path: Path, share: int, n_found: int) -> None:
    """One in a hundred bytes is a text; three are none."""
    build_small(tmp_path)
    filler = (b"\0" * share + b"." * (100 - share)) * 80
    write(tmp_path, "docs/a.bin", filler + QUERY.encode())
    search = looked(tmp_path)
    assert (len(search.exposures), [one.why for one in search.skipped]) == (n_found, ["is no text"] * (1 - n_found))
