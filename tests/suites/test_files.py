"""The files of a case: where they may lie, and what of them is hashed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from skillassay.suites.files import MAX_FILE_BYTES, CaseFileProblem, read_case_file, read_case_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite's folder beside a secret, with files of every odd kind in it."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    suite = tmp_path / "evals"
    (suite / "files").mkdir(parents=True)
    (suite / "files" / "note.txt").write_bytes(b"one\r\ntwo\r\n")
    (suite / "up").symlink_to("..")
    (suite / "out.txt").symlink_to("../secret.txt")
    (suite / "loop").symlink_to("loop")
    (suite / "inside.txt").symlink_to("files/note.txt")
    os.mkfifo(suite / "pipe")
    with (suite / "large").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    return suite


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../secret.txt", "leaves"),
        ("files/../../secret.txt", "leaves"),
        ("files/../files/note.txt", "leaves"),
        ("/etc/hostname", "leaves"),
        ("..\\secret.txt", "leaves"),
        ("C:\\secret.txt", "leaves"),
        ("out.txt", "link that leaves"),
        ("up/secret.txt", "link that leaves"),
        ("loop", "loop of links|cannot be read"),
        ("missing.txt", "cannot be read: No such file"),
        ("files", "not a regular file"),
        (".", "not a regular file"),
        ("pipe", "not a regular file"),
        ("large", f"over {MAX_FILE_BYTES} bytes"),
        ("nul\0", "no path"),
        ("n" * 300, "cannot be read"),
    ],
)
def test_what_is_no_file_of_the_suite_is_refused(folder: Path, name: str, words: str) -> None:
    """Paths and links that leave, loops, folders, pipes, over-long and odd names: a problem, never an exception."""
    with pytest.raises(CaseFileProblem, match=words):
        read_case_file(name, folder)


@pytest.mark.parametrize("name", ["files/note.txt", "./files//note.txt", "inside.txt"])
def test_a_file_inside_is_read(folder: Path, name: str) -> None:
    """Its path is plain, its text has LF."""
    file = read_case_file(name, folder)
    assert file.path in {"files/note.txt", "inside.txt"}
    assert file.text == "one\ntwo\n"


@pytest.mark.parametrize(
    ("data", "hashed", "text"),
    [
        (b"a\r\nb\n", b"a\nb\n", "a\nb\n"),
        (b"a\rb", b"a\rb", "a\rb"),
        (b"\xef\xbb\xbfa\r\n", b"\xef\xbb\xbfa\n", "a\n"),
        (b"\xff\r\n", b"\xff\r\n", None),
        (b"a\0\r\n", b"a\0\r\n", None),
        (b"", b"", ""),
    ],
)
def test_texts_are_hashed_with_lf(tmp_path: Path, data: bytes, hashed: bytes, text: str | None) -> None:
    """A Windows checkout has the digest of any other; binaries count byte for byte and have no text."""
    (tmp_path / "f").write_bytes(data)
    file = read_case_file("f", tmp_path)
    assert file.sha256 == hashlib.sha256(hashed).hexdigest()
    assert file.text == text


def test_files_of_a_case_are_read_with_all_problems(folder: Path) -> None:
    """Each that cannot be used has its index; one that is named twice is one of them."""
    names = ["gone", "files/note.txt", "./files/note.txt", "inside.txt"]
    files, unusable = read_case_files(names, lambda name: read_case_file(name, folder))
    assert [file.path for file in files] == ["files/note.txt", "inside.txt"]
    assert unusable == (
        (0, "file 'gone' cannot be read: No such file or directory"),
        (2, "file './files/note.txt' is named twice"),
    )
