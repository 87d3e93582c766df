"""The bytes of one file as a digest counts them. Owns reading, text detection and the folding of CRLF; knows no skill.

A text is UTF-8 without NUL; every CRLF of it counts as LF, a lone CR is content, other files count byte for byte. A
file of up to ``WHOLE_BYTES`` is read in one go; a longer one is hashed in chunks, with the same result in bounded
memory; one beyond the caller's limit is refused, in most cases before it is read.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WHOLE_BYTES = 4 << 20
HEAD_BYTES = 256
_FIRST_READ = 1 << 16
_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class TooLarge(Exception):
    """The file holds more bytes than the caller takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """``sha256`` and ``size`` of the bytes as hashed; ``crlf`` says that CRLF was read as LF. ``head`` are the first
    bytes as stored; ``data`` all of them, where they were read in one go."""

    sha256: str
    size: int
    crlf: bool
    head: bytes
    data: bytes | None = None


def read_content(source: str, *, max_bytes: int) -> Content:
    """Read and hash the file at ``source``. Raises OSError, and :class:`TooLarge` beyond ``max_bytes``."""
    handle = os.open(source, _FLAGS)
    try:
        first = os.read(handle, _FIRST_READ)
        # A short read is the end only when nothing follows: most files are done with two calls.
        if len(first) < _FIRST_READ and not (more := os.read(handle, _FIRST_READ)):
            return hash_whole(first)
        parts = [first, more] if len(first) < _FIRST_READ else [first]
        if os.fstat(handle).st_size > max_bytes:
            raise TooLarge
        n_bytes = sum(map(len, parts))
        while n_bytes <= min(WHOLE_BYTES, max_bytes):
            if not (more := os.read(handle, _CHUNK)):
                return hash_whole(b"".join(parts))
            parts.append(more)
            n_bytes += len(more)
        return hash_chunks(_chunks(handle, b"".join(parts), max_bytes))
    finally:
        os.close(handle)


def _chunks(handle: int, chunk: bytes, max_bytes: int) -> Iterator[bytes]:
    n_bytes = 0
    while chunk:
        n_bytes += len(chunk)
        if n_bytes > max_bytes:  # the file may grow while it is read
            raise TooLarge
        yield chunk
        chunk = os.read(handle, _CHUNK)


def hash_whole(data: bytes) -> Content:
    """The content of a file that is in memory."""
    crlf = b"\r" in data and b"\r\n" in data and _is_text(data)
    counted = data.replace(b"\r\n", b"\n") if crlf else data
    sha256 = hashlib.sha256(counted).hexdigest()
    return Content(sha256=sha256, size=len(counted), crlf=crlf, head=data[:HEAD_BYTES], data=data)


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def hash_chunks(chunks: Iterable[bytes]) -> Content:
    """The same of a file that comes in pieces, wherever these are cut; ``data`` is None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    stored, folded = hashlib.sha256(), None
    size = n_folded = 0
    is_text = True
    head = held = b""
    for chunk in chunks:
        size += len(chunk)
        head += chunk[: HEAD_BYTES - len(head)]
        is_text = is_text and _goes_on(decoder, chunk)
        held += chunk
        # The LF of a CR at the border may stand in the next chunk, so the CR waits for it.
        body, held = (held[:-1], b"\r") if held.endswith(b"\r") else (held, b"")
        if folded is None and b"\r\n" in body:
            folded = stored.copy()  # up to here both are the same, and most files never need the second
        stored.update(body)
        if folded is not None and is_text:
            n_folded += body.count(b"\r\n")
            folded.update(body.replace(b"\r\n", b"\n"))
    stored.update(held)
    if folded is None or not (is_text and _goes_on(decoder, b"", final=True)):
        return Content(sha256=stored.hexdigest(), size=size, crlf=False, head=head)
    folded.update(held)
    return Content(sha256=folded.hexdigest(), size=size - n_folded, crlf=True, head=head)


def _goes_on(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return b"\0" not in chunk
