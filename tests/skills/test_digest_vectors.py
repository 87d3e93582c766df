"""The published vectors: our digest and the shell's, against values computed from the definition."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillassay.findings import Severity
from skillassay.skills.digest import read_files

FILE = Path(__file__).parents[2] / "docs" / "reference" / "digest-vectors.json"
DOCUMENT: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
VECTORS: list[dict[str, Any]] = DOCUMENT["vectors"]
REFUSED: list[dict[str, Any]] = DOCUMENT["refused"]
SIMPLE = "find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum"
ROBUST = r"find . -type f | cut -c3- | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum"


def build(vector: dict[str, Any], folder: Path) -> Path:
    """Write a vector's files and links below ``folder``."""
    for path, content in vector["files"].items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = content["text"].encode() if "text" in content else base64.b64decode(content["base64"])
        file.write_bytes(data)
    for path, target in vector.get("links", {}).items():
        (folder / path).symlink_to(target)
    return folder


def by_name(vectors: list[dict[str, Any]]) -> pytest.MarkDecorator:
    """The vectors as parameters with their names."""
    return pytest.mark.parametrize("vector", vectors, ids=[vector["name"] for vector in vectors])


@by_name(VECTORS)
def test_our_digest_is_the_published_one(vector: dict[str, Any], tmp_path: Path) -> None:
    """The digest, and each line of the manifest."""
    files, _, _ = read_files(build(vector, tmp_path / "demo"), path="demo")
    assert files is not None
    manifest = "".join(f"{entry.sha256}  {entry.path}\n" for entry in files.entries)
    assert (manifest, files.digest) == (vector["manifest"], vector["digest"])


@by_name(VECTORS)
def test_the_digest_is_the_hash_of_the_manifest(vector: dict[str, Any]) -> None:
    """The definition, with hashlib alone."""
    assert hashlib.sha256(vector["manifest"].encode()).hexdigest() == vector["digest"]


@by_name(VECTORS)
def test_the_dir_hash_is_given_where_the_tree_as_stored_has_it(vector: dict[str, Any], tmp_path: Path) -> None:
    """``dirHash`` is exported for vectors that the shell confirms, or that only leave something out."""
    files, _, _ = read_files(build(vector, tmp_path / "demo"), path="demo")
    assert files is not None
    expected = vector["digest"] if vector["shell"] or vector["name"] == "left-out" else None
    assert files.dir_hash == expected


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs GNU coreutils")
@by_name([vector for vector in VECTORS if vector["shell"]])
def test_the_shell_gives_the_same(vector: dict[str, Any], tmp_path: Path) -> None:
    """The documented one-liners, run as documented (the simple one where no name needs the other)."""
    build(vector, tmp_path)
    needs_quotes = any(sign in path for path in vector["files"] for sign in " '\"")
    for command in [ROBUST] if needs_quotes else [SIMPLE, ROBUST]:
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == vector["digest"]


def test_the_page_shows_the_commands_that_are_tested() -> None:
    """The one-liners stand in the reference as run here."""
    page = FILE.with_suffix("").with_name("digest.md").read_text(encoding="utf-8")
    assert SIMPLE in page
    assert ROBUST in page


def test_the_module_documents_the_command_that_is_tested() -> None:
    """The docstring is the format; its shell equivalent is the tested one."""
    import skillassay.skills.digest

    assert SIMPLE in (skillassay.skills.digest.__doc__ or "")


@by_name(REFUSED)
def test_what_has_no_digest(vector: dict[str, Any], tmp_path: Path) -> None:
    """A skill with one such file has no digest and one error, of the published code."""
    (tmp_path / "outside.md").write_text("x\n", encoding="utf-8")
    files, _, findings = read_files(build(vector, tmp_path / "demo"), path="demo")
    assert files is not None
    assert files.digest is None
    assert {finding.code for finding in findings if finding.severity is Severity.ERROR} == {vector["code"]}


def test_the_file_names_its_format() -> None:
    """A reader can tell what it has."""
    assert (DOCUMENT["format"], DOCUMENT["version"]) == ("skillassay-digest-vectors", 1)
