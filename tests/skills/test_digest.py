"""The files of a skill: what counts and what is left out. Expected digests come from hashlib alone."""

from __future__ import annotations

import random
import shutil
import unicodedata
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Severity
from skillassay.skills.digest import build_manifest, read_files
from skillassay.skills.ignore import build_ignore
from tests.skills.folders import SKILL, by_definition, read, write

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "digest"


def test_a_plain_skill(tmp_path: Path) -> None:
    """Digest, entries and the raw bytes of SKILL.md."""
    content = {"SKILL.md": SKILL, "references/a.md": b"a\n"}
    files, data, findings = read_files(write(tmp_path, content), path="skills/demo")
    assert files is not None
    assert (files.digest, data, findings) == (by_definition(content), SKILL, ())
    assert [(one.path, one.size, one.crlf) for one in files.entries] == [
        ("SKILL.md", len(SKILL), False),
        ("references/a.md", 2, False),
    ]
    assert [Path(one.source).read_bytes() for one in files.entries] == list(content.values())


def test_skill_md_comes_back_as_stored(tmp_path: Path) -> None:
    """The digest folds CRLF; the parser gets the bytes of the file."""
    crlf = SKILL.replace(b"\n", b"\r\n")
    files, data, _ = read_files(write(tmp_path, {"SKILL.md": crlf}), path="x")
    assert files is not None
    assert (data, files.digest) == (crlf, by_definition({"SKILL.md": SKILL}))
    assert (files.folded, files.dir_hash, files.entries[0].crlf, files.entries[0].size) == (
        ("SKILL.md",),
        None,
        True,
        len(SKILL),
    )


@pytest.mark.parametrize("size", [0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 3 << 20])
def test_files_of_every_size_are_read_whole(size: int, tmp_path: Path) -> None:
    """Around and far over the size of one read."""
    content = {"SKILL.md": SKILL, "a.bin": b"\0" * size}
    assert read(write(tmp_path, content))[0].digest == by_definition(content)


@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD"])
def test_other_spellings_of_skill_md_warn(name: str, tmp_path: Path) -> None:
    """Read, and hashed under the name they have."""
    files, data, findings = read_files(write(tmp_path, {name: SKILL}), path="skills/demo")
    assert files is not None
    assert (data, files.digest) == (SKILL, by_definition({name: SKILL}))
    assert [(one.code, one.severity, one.path) for one in findings] == [
        ("digest.skill-file-name", Severity.WARNING, f"skills/demo/{name}")
    ]


@pytest.mark.parametrize("place", ["references/{}.md", "{}/a.md"])
def test_a_decomposed_name_is_hashed_composed(place: str, tmp_path: Path) -> None:
    """The digest is that of the composed name; dirHash, which is of names as stored, is not given."""
    stored, composed = place.format(unicodedata.normalize("NFD", "é")), place.format("é")
    files, findings = read(write(tmp_path, {"SKILL.md": SKILL, stored: b"x"}))
    assert files.digest == by_definition({"SKILL.md": SKILL, composed: b"x"})
    assert (files.folded, files.dir_hash) == ((composed,), None)
    assert [(one.code, one.severity) for one in findings] == [("digest.name-decomposed", Severity.WARNING)]


@pytest.mark.parametrize(
    ("path", "data", "severity"),
    [
        ("scripts/a.sh", b"echo\r\n", Severity.ERROR),
        ("scripts/a.bash", b"echo\r\n", Severity.ERROR),
        ("scripts/run", b"#!/bin/sh\r\n", Severity.ERROR),
        ("scripts/run", b"#! /usr/bin/env -S LANG=C bash -eu\r\necho\r\n", Severity.ERROR),
        ("scripts/run.tool", b"#!/bin/dash\r\n", Severity.ERROR),
        ("scripts/a.py", b"pass\r\n", Severity.WARNING),
        ("scripts/a.py", b"#!/usr/bin/env python3\r\n", Severity.WARNING),
        ("scripts/run", b"#!/usr/bin/env node\r\n", Severity.WARNING),
        ("scripts/run", b"#!\r\n", Severity.WARNING),
        ("scripts/run", b"plain\r\n", None),
        ("notes.md", b"#!x\r\n", None),
        ("scripts/a.sh", b"echo\n", None),
        ("scripts/a.sh", b"\0\r\n", None),
    ],
)
def test_scripts_with_crlf(path: str, data: bytes, severity: Severity | None, tmp_path: Path) -> None:
    """A shell's does not run on Unix, others do not start by themselves; the digest alone would hide both."""
    files, findings = read(write(tmp_path, {"SKILL.md": SKILL, path: data}))
    expected = [] if severity is None else [("digest.script-crlf", severity)]
    assert [(one.code, one.severity) for one in findings] == expected
    assert (files.digest is None) == (severity is Severity.ERROR)


def test_a_long_text_is_hashed_as_a_short_one(tmp_path: Path) -> None:
    """Above the size that is read in one go, with CRLF throughout."""
    text = "zażółć\r\n".encode() * 700_000
    files, _ = read(write(tmp_path, {"SKILL.md": SKILL, "long.txt": text}))
    assert len(text) > 4 << 20
    assert files.digest == by_definition({"SKILL.md": SKILL, "long.txt": text.replace(b"\r\n", b"\n")})
    assert files.folded == ("long.txt",)


def test_the_ignore_list_of_the_caller(tmp_path: Path) -> None:
    """Names at any depth, whole paths from the skill's root, folders with all they hold."""
    kept = {"SKILL.md": SKILL, "a/keep.md": b"x", "b/draft/keep.md": b"x"}
    dropped = {"a/x.tmp": b"1", "draft/a.md": b"1", "a/.venv/bin/python": b"1", "b/one.md": b"1"}
    files, _ = read(write(tmp_path, kept | dropped), "*.tmp", "/draft", ".venv/", "b/o?e.md")
    assert files.digest == by_definition(kept)
    assert files.left_out == ("a/.venv/", "a/x.tmp", "b/one.md", "draft/")


@pytest.mark.parametrize("pattern", ["*", "*.md", "SKILL.md", "/SKILL.md"])
def test_skill_md_is_never_left_out(pattern: str, tmp_path: Path) -> None:
    """Whatever the contract says."""
    assert read(write(tmp_path, {"SKILL.md": SKILL, "x.md": b"x"}), pattern)[0].entries[0].path == "SKILL.md"


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("a.pyc", "x/a.pyc", True),
        ("evals", "evals", True),
        ("evals", "references/evals", False),
        ("_meta.json", "_meta.json", True),
        ("_meta.json", "assets/_meta.json", False),
        (".git", "vendor/.git", True),
        ("Evals", "Evals", False),
        (".gitignore", ".gitignore", False),
    ],
)
def test_the_default_list(name: str, path: str, expected: bool) -> None:
    """What stands at the top only, and what at any depth; case counts."""
    assert build_ignore().matches(name, path) is expected


FILES = st.dictionaries(
    st.lists(st.from_regex(r"[a-z0-9]{1,3}", fullmatch=True), min_size=1, max_size=3).map("/".join),
    st.binary(max_size=20) | st.text("ab\r\n", max_size=20).map(str.encode),
    max_size=6,
)


@given(FILES, st.randoms(use_true_random=False))
def test_the_order_in_which_files_are_made_does_not_count(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, bytes], chance: random.Random
) -> None:
    """Law: the digest is that of the definition, whatever order the folder lists."""
    tidy = {f"{path}.x": data for path, data in content.items()} | {"SKILL.md": SKILL}
    paths = list(tidy)
    chance.shuffle(paths)
    root = write(tmp_path_factory.mktemp("order"), {path: tidy[path] for path in paths})

    def folded(data: bytes) -> bytes:
        try:
            data.decode()
        except UnicodeDecodeError:
            return data
        return data if b"\0" in data else data.replace(b"\r\n", b"\n")

    assert read(root)[0].digest == by_definition({path: folded(data) for path, data in tidy.items()})
    shutil.rmtree(root)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=60))
def test_line_ends_of_text_do_not_count(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Law: a text and its CRLF form have one digest."""
    root = tmp_path_factory.mktemp("crlf")
    digests = set()
    for data in (text.encode(), text.replace("\n", "\r\n").encode()):
        digests.add(read(write(root, {"SKILL.md": SKILL, "a.txt": data}))[0].digest)
    shutil.rmtree(root)
    assert len(digests) == 1


def test_backslashes_of_windows_paths_never_enter_a_manifest() -> None:
    """ml8s/liki#27: keys are POSIX paths; the stored pair of path lists differs only in that."""
    import json

    windows = json.loads((PUBLIC / "liki-27" / "win_paths.json").read_text(encoding="utf-8"))
    posix = json.loads((PUBLIC / "liki-27" / "posix_paths.json").read_text(encoding="utf-8"))
    paths = [path if "/" in path else PureWindowsPath(path).as_posix() for path in windows]
    assert build_manifest([(path, "0" * 64) for path in paths]) == build_manifest([(path, "0" * 64) for path in posix])
