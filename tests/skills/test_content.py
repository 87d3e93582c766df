"""The bytes of one file: in pieces or whole it is the same content, and memory has a limit."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillassay.skills.content import Content, TooLarge, hash_chunks, hash_whole, read_content

PIECES = st.lists(
    st.sampled_from([b"\r\n", b"\r", b"\n", "é".encode(), "😀".encode(), b"a", b"\0", b"\xff", b"\xe2\x82"])
)


def whole(data: bytes) -> Content:
    """What the one-read path gives."""
    return replace(hash_whole(data), data=None)


@given(PIECES.map(b"".join), st.lists(st.integers(0, 40)))
@example(b"a\r\nb\r", [2])
@example("é\r\n".encode(), [1])
def test_where_the_pieces_are_cut_does_not_count(data: bytes, borders: list[int]) -> None:
    """Law: borders inside a CRLF or a character change nothing."""
    cuts = [0, *sorted(min(border, len(data)) for border in borders), len(data)]
    pieces = [data[start:end] for start, end in pairwise(cuts)]
    assert hash_chunks(pieces) == whole(data)


@given(PIECES.map(b"".join))
def test_every_byte_a_piece(data: bytes) -> None:
    """Law: the finest cut."""
    assert hash_chunks(data[i : i + 1] for i in range(len(data))) == whole(data)


@pytest.mark.parametrize(
    ("data", "counted", "crlf"),
    [
        (b"a\r\nb\r\n", b"a\nb\n", True),
        (b"a\r\r\n", b"a\r\n", True),
        (b"a\rb\r", b"a\rb\r", False),
        (b"\0\r\n", b"\0\r\n", False),
        (b"\r\n\xff", b"\r\n\xff", False),
        (b"\r\n\xe2\x82", b"\r\n\xe2\x82", False),
        (b"", b"", False),
    ],
)
def test_what_counts_is_as_defined(data: bytes, counted: bytes, crlf: bool) -> None:
    """Values from the definition, by both ways."""
    for content in (whole(data), hash_chunks([data])):
        assert (content.sha256, content.size, content.crlf) == (hashlib.sha256(counted).hexdigest(), len(counted), crlf)


def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """64 MiB of zeros are hashed in some MiB."""
    file = tmp_path / "big"
    file.write_bytes(b"")
    os.truncate(file, 64 << 20)
    tracemalloc.start()
    try:
        content = read_content(str(file), max_bytes=64 << 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (content.size, content.sha256) == (64 << 20, hashlib.sha256(bytes(64 << 20)).hexdigest())
    assert peak < 16 << 20


def test_one_byte_more_than_allowed_is_refused(tmp_path: Path) -> None:
    """Also where the size is not known before: a file that grows is measured while it is read."""
    file = tmp_path / "f"
    file.write_bytes(bytes(200_000))
    assert read_content(str(file), max_bytes=200_000).size == 200_000
    with pytest.raises(TooLarge):
        read_content(str(file), max_bytes=199_999)
