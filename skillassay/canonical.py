"""Strict JSON in, canonical JSON out, atomic files. Owns how bytes become values and back.

Canonical form: UTF-8, object keys sorted by code point, no insignificant white space, no NaN or infinity, one value.
Its SHA-256 (hex) is the content digest used everywhere in records. The pretty form differs only in white space (two
spaces, LF at the end) and is used for files that people read and merge.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with text keys. (A recursive alias would buy little here.)"""

MAX_DEPTH = 64


class JsonProblem(ValueError):
    """Text that is not one strict JSON value. ``line`` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_json(text: str) -> Json:
    """Parse one JSON value and refuse what ``json`` tolerates.

    Refused with :class:`JsonProblem`: text around the value, duplicate keys, NaN and infinities (also ``1e999``), lone
    surrogates, nesting deeper than ``MAX_DEPTH``.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        raise JsonProblem(f"not JSON: {error.msg}, column {error.colno}", error.lineno) from error
    except RecursionError as error:
        raise JsonProblem(f"nested deeper than {MAX_DEPTH} levels") from error
    _check_depth(value, MAX_DEPTH)
    try:
        text.encode("utf-8")
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise JsonProblem("holds a lone surrogate, which is not text") from error
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonProblem(f"duplicate key {key!r}")
            seen.add(key)
    return result


def _refuse_constant(word: str) -> NoReturn:
    raise JsonProblem(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonProblem(f"number {text[:40]} is out of range")
    return value


def _integer(text: str) -> int:
    if len(text) > 400:
        raise JsonProblem(f"integer of {len(text)} digits")
    return int(text)


def _check_depth(value: Json, left: int) -> None:
    if left < 0:
        raise JsonProblem(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        for item in value.values():
            _check_depth(item, left - 1)
    elif isinstance(value, list):
        for item in value:
            _check_depth(item, left - 1)


def canonical_bytes(value: Json) -> bytes:
    """The canonical form of ``value``. Raises ``ValueError`` for NaN, infinities and keys that are not text."""
    _check_keys(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _check_keys(value: Json) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"key {key!r} is not text")
            _check_keys(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)


def pretty_text(value: Json) -> str:
    """Canonical content laid out for people and merges: sorted keys, two spaces, LF at the end."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def sha256_hex(data: bytes) -> str:
    """SHA-256 in lowercase hex."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: Json) -> str:
    """SHA-256 (hex) of the canonical form."""
    return sha256_hex(canonical_bytes(value))


def short_digest(value: Json) -> str:
    """The first sixteen hex digits of :func:`digest_of`: an id, not a proof."""
    return digest_of(value)[:16]


def write_atomic(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: a temporary sibling is flushed to disk, then renamed over ``path``.

    Parent folders are made. On any failure (a full disk, a kill) the old file is still there, whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes 0600; a committed file keeps its mode, a new one gets what open() would give it.
        Path(temporary).chmod(_mode_for(path))
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _mode_for(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def without_none(mapping: Mapping[str, Json]) -> dict[str, Json]:
    """The mapping without the keys whose value is None, for authored fields where absent means default."""
    return {key: value for key, value in mapping.items() if value is not None}
