"""Append-only files of one JSON object a line. Owns how a line gets in and how the file is read again.

A line is added in one write under a lock on the file and is on the disk before the call returns; what it costs does not
depend on how long the file is. What a killed writer left of a line is cut first. Nothing ever changes or removes a
whole line; whoever can write the folder can.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
from skillassay.errors import StoreError

_TAIL = 65_536
_HINT = "restore the file; it is only appended to"


def append_line(path: Path, value: dict[str, Json]) -> None:
    """Add one object. Raises :class:`StoreError` when it cannot be written whole."""
    line = (json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            end = _cut_torn_line(handle)
            if os.write(handle, line) != len(line):
                os.ftruncate(handle, end)  # a full disk took half of it
                raise StoreError(f"{path} cannot be written: the disk is full", hint="free space and call again")
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        hint = "free space or fix permissions; nothing was changed"
        raise StoreError(f"{path} cannot be written: {error.strerror or error}", hint=hint) from error


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects with their line numbers (from 1). A torn last line does not count; any other bad line is an error."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            value = parse_json(line.decode("utf-8"))
        except (JsonProblem, UnicodeDecodeError) as error:
            raise StoreError(f"{path}, line {number}: {error}", hint=_HINT) from error
        if not isinstance(value, dict):
            raise StoreError(f"{path}, line {number}: is no object", hint=_HINT)
        yield number, value


def _cut_torn_line(handle: int) -> int:
    """Where the file's whole lines end, and nothing behind it any more."""
    size = end = os.lseek(handle, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _TAIL if end < size else end - 1)
        at = os.pread(handle, end - start, start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(handle, end)
    return end
