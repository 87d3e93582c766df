"""Reading a file whose place anyone may have filled. Reads regular files of sane size; waits for nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 32 * 1024 * 1024


class NotRegular(ValueError):
    """What stands there is no regular file, or is too large; the message says which."""


def read_regular(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file, links followed. Raises :class:`NotRegular` or :class:`OSError`.

    Opened without blocking and asked after opening: a pipe would wait for a writer for ever, and what stood there when
    it was asked by name need not be what is opened.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise NotRegular("is not a regular file")
        if state.st_size > max_bytes:
            raise NotRegular(f"{state.st_size} bytes is over the limit of {max_bytes}")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            data = stream.read(max_bytes + 1)
    finally:
        os.close(handle)
    if len(data) > max_bytes:
        raise NotRegular(f"is over the limit of {max_bytes} bytes")
    return data
