"""Append-only files: what is in them stays, and nothing half is read."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from skillassay.errors import StoreError
from skillassay.ledger import append_line, read_lines


def values(path: Path) -> list[object]:
    """What is read."""
    return [value for _, value in read_lines(path)]


def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    """One object a line, also with line separators inside; the folder is made."""
    path = tmp_path / "a" / "b.jsonl"
    told = [{"n": n, "text": "one\u2028two\nthree"} for n in range(3)]
    for value in told:
        append_line(path, value)
    assert values(path) == told
    assert path.read_bytes().count(b"\n") == 3


def test_no_file_is_no_line(tmp_path: Path) -> None:
    """Where nothing was written nothing is read."""
    assert values(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("length", [1, 70_000], ids=["short", "longer than a block"])
def test_a_torn_line_does_not_count_and_is_cut(tmp_path: Path, length: int) -> None:
    """What a killed writer left is passed over, and gone before the next line; whole lines keep their bytes."""
    path = tmp_path / "x.jsonl"
    append_line(path, {"n": 1})
    before = path.read_bytes()
    path.write_bytes(before + b'{"n": "' + b"x" * length)
    assert values(path) == [{"n": 1}]
    append_line(path, {"n": 2})
    assert values(path) == [{"n": 1}, {"n": 2}]
    assert path.read_bytes().startswith(before)


def test_a_file_of_one_torn_line_is_emptied(tmp_path: Path) -> None:
    """There is no line feed at all: everything is torn."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": ' + b" " * 100_000)
    append_line(path, {"n": 2})
    assert values(path) == [{"n": 2}]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"a": 1, "a": 2}', b"\xff"])
def test_any_other_bad_line_is_an_error_with_its_number(tmp_path: Path, line: bytes) -> None:
    """A damaged line in the middle is told, not passed over."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line + b'\n{"n": 3}\n')
    with pytest.raises(StoreError, match="line 2"):
        values(path)


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """Eight threads append fifty lines each: four hundred whole lines."""
    path = tmp_path / "x.jsonl"

    def write(who: int) -> None:
        for n in range(50):
            append_line(path, {"who": who, "n": n, "text": "x" * 500})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((v["who"], v["n"]) for _, v in read_lines(path)) == [(w, n) for w in range(8) for n in range(50)]


def test_what_a_line_costs_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file of a megabyte one byte is read before a line is added."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1}\n' * 120_000)
    read: list[int] = []
    pread = os.pread

    def counted(handle: int, n: int, at: int) -> bytes:
        read.append(n)
        return pread(handle, n, at)

    monkeypatch.setattr(os, "pread", counted)
    append_line(path, {"n": 2})
    assert read == [1]


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """A folder stands there: exit 3, naming the file."""
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"x\.jsonl cannot be written"):
        append_line(tmp_path / "x.jsonl", {})
