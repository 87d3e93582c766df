"""Files of a skill that are refused: what cannot be read, named or held."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from skillassay.skills.digest import read_files
from tests.skills.folders import SKILL, errors, read, write


def test_two_spellings_are_one_name(tmp_path: Path) -> None:
    """SKILL.md is the one that is read; both are named."""
    files, data, findings = read_files(write(tmp_path, {"SKILL.md": SKILL, "skill.md": b"other"}), path="x")
    assert files is not None
    assert (files.digest, data, errors(list(findings))) == (None, SKILL, ["digest.name-collision"])
    assert "`SKILL.md` and `skill.md`" in findings[0].message


def test_no_skill_md_reads_nothing(tmp_path: Path) -> None:
    """No files, no bytes, one error."""
    files, data, findings = read_files(write(tmp_path, {"README.md": b"x"}), path="x")
    assert (files, data, errors(list(findings))) == (None, None, ["digest.no-skill-file"])


def test_skill_md_as_a_folder(tmp_path: Path) -> None:
    """Said as such, and there is no digest."""
    (tmp_path / "SKILL.md").mkdir()
    files, data, findings = read_files(tmp_path, path="x")
    assert files is not None
    assert (files.digest, data, errors(list(findings))) == (None, None, ["digest.skill-file-not-a-file"])
    assert "not a file" in findings[0].message


def test_a_missing_folder(tmp_path: Path) -> None:
    """An error, not an exception."""
    files, data, findings = read_files(tmp_path / "none", path="skills/none")
    assert (files, data, errors(list(findings))) == (None, None, ["digest.unreadable"])
    assert findings[0].path == "skills/none"


def test_pipes_and_sockets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would block; they are errors."""
    write(tmp_path, {"SKILL.md": SKILL})
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        assert errors(read(tmp_path)[1]) == ["digest.special-file", "digest.special-file"]


def test_a_link_to_a_pipe(tmp_path: Path) -> None:
    """No way around the rule."""
    write(tmp_path, {"SKILL.md": SKILL})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.md").symlink_to("pipe")
    assert errors(read(tmp_path)[1]) == ["digest.special-file", "digest.special-file"]


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No digest without every byte; the other files are still listed."""
    write(tmp_path, {"SKILL.md": SKILL, "secret.md": b"x"})
    real = os.open

    def refuse(path: str, flags: int) -> int:
        if path.endswith("secret.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, flags)

    monkeypatch.setattr("skillassay.skills.content.os.open", refuse)
    files, findings = read(tmp_path)
    assert (files.digest, [one.path for one in files.entries]) == (None, ["SKILL.md"])
    assert (errors(findings), findings[0].path) == (["digest.unreadable"], "skills/demo/secret.md")


@pytest.mark.parametrize(
    ("name", "code", "shown"),
    [
        (b"a\nb.md", "digest.name-control", "a\\x0ab.md"),
        (b"a\x7fb.md", "digest.name-control", "a\\x7fb.md"),
        ("a\x85b.md".encode(), "digest.name-control", "a\\x85b.md"),
        (b"a\\b.md", "digest.name-backslash", "a\\b.md"),
        (b"caf\xe9.md", "digest.name-not-utf8", "caf\\xe9.md"),
    ],
)
def test_names_that_no_manifest_holds(name: bytes, code: str, shown: str, tmp_path: Path) -> None:
    """Refused, and shown so that a terminal survives."""
    write(tmp_path, {"SKILL.md": SKILL})
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"x")
    files, findings = read(tmp_path)
    assert (files.digest, errors(findings), findings[0].path) == (None, [code], f"skills/demo/{shown}")


def test_collisions_name_both(tmp_path: Path) -> None:
    """Also names that only full case folding makes one."""
    files, findings = read(write(tmp_path, {"SKILL.md": SKILL, "a/straße.md": b"x", "a/STRASSE.md": b"y"}))
    assert (files.digest, errors(findings)) == (None, ["digest.name-collision"])
    assert "`a/STRASSE.md` and `a/straße.md`" in findings[0].message


def test_a_file_beyond_the_limit_is_an_error_and_is_not_read(tmp_path: Path) -> None:
    """A sparse file of 6 GiB costs nothing; the other files are still listed."""
    write(tmp_path, {"SKILL.md": SKILL, "big.bin": b""})
    os.truncate(tmp_path / "big.bin", 6 << 30)
    files, findings = read(tmp_path)
    assert (files.digest, [one.path for one in files.entries]) == (None, ["SKILL.md"])
    assert (errors(findings), findings[0].path) == (["digest.file-too-large"], "skills/demo/big.bin")
    assert "512 MiB" in findings[0].message


@pytest.mark.parametrize(("n_more", "codes"), [(0, []), (1, ["digest.file-too-large"])])
def test_skill_md_has_a_limit_of_its_own(n_more: int, codes: list[str], tmp_path: Path) -> None:
    """4 MiB to the byte; beyond it there is nothing to parse."""
    data = SKILL + b"x" * ((4 << 20) - len(SKILL) + n_more)
    files, read_data, findings = read_files(write(tmp_path, {"SKILL.md": data}), path="x")
    assert files is not None
    assert (errors(list(findings)), read_data) == (codes, None if codes else data)
