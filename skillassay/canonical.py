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
import re
import secrets
from pathlib import Path
from typing import Any, NoReturn

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with text keys. (A recursive alias would buy little here.)"""

MAX_DEPTH = 64
MAX_DIGITS = 400


class JsonProblem(ValueError):
    """Text that is not one strict JSON value. ``line`` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_json(text: str) -> Json:
    """Parse one JSON value and refuse what ``json`` tolerates.

    Refused with :class:`JsonProblem`: text around the value, duplicate keys, NaN and infinities (also ``1e999``), lone
    surrogates, integers of more than ``MAX_DIGITS`` digits, nesting deeper than ``MAX_DEPTH``.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer
        )
        _check_depth(value, MAX_DEPTH)
    except json.JSONDecodeError as error:
        raise JsonProblem(f"not JSON: {error.msg}, column {error.colno}", error.lineno) from error
    except (JsonProblem, RecursionError) as error:
        # The reader's hooks see values, not places: only a text that was refused is gone through again for the line.
        _refuse_with_line(text)
        raise JsonProblem(str(error)) from error
    try:
        text.encode("utf-8")
        if "\\u" in text:  # nothing but an escape can put half a pair into a value
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


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def _refuse_with_line(text: str) -> None:
    """Raise :class:`JsonProblem` with its line for the first thing in ``text`` that strict JSON refuses."""
    open_: list[set[str] | None] = []  # the keys of each object that is open; None for an array
    before = ""
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        word = match[0]
        line, at = line + text.count("\n", at, match.start()), match.start()
        try:
            if word in "{[":
                open_.append(set() if word == "{" else None)
                if len(open_) > MAX_DEPTH:
                    raise JsonProblem(f"nested deeper than {MAX_DEPTH} levels")
            elif word in "}]":
                open_.pop()
            elif word[0] == '"' and before in "{," and open_ and (keys := open_[-1]) is not None:
                key = json.loads(word)
                if key in keys:
                    raise JsonProblem(f"duplicate key {key!r}")
                keys.add(key)
            elif word[0] not in '":,':
                json.loads(word, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer)
        except JsonProblem as problem:
            problem.line = line
            raise
        before = word


def _refuse_constant(word: str) -> NoReturn:
    raise JsonProblem(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonProblem(f"number {text[:40]} is out of range")
    return value


def _integer(text: str) -> int:
    n_digits = len(text.removeprefix("-"))
    if n_digits > MAX_DIGITS:
        raise JsonProblem(f"integer of {n_digits} digits")
    return int(text)


def _check_depth(value: Json, left: int) -> None:
    if not isinstance(value, (dict, list)):
        return
    if left == 0:
        raise JsonProblem(f"nested deeper than {MAX_DEPTH} levels")
    for item in value.values() if isinstance(value, dict) else value:
        _check_depth(item, left - 1)


def canonical_bytes(value: Json) -> bytes:
    """The canonical form of ``value``. Raises ``ValueError`` for NaN, infinities, lone surrogates, keys not of text."""
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
    """Canonical content laid out for people and merges: sorted keys, two spaces, LF at the end. Raises as above."""
    _check_keys(value)
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

    Parent folders are made, a link is written through. On any failure (a full disk, a kill) the old file is still
    there, whole. A file keeps its mode.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        # open() applies the umask, as for any new file; asking for the umask would change it for other threads.
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
