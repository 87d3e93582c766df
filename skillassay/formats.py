"""Stored formats and their versions: each file names its own, and a newer one is refused. Owns that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import StoreError


def require_version(value: object, key: str, newest: int, *, where: str, what: str, hint: str) -> Mapping[str, Any]:
    """``value`` as an object whose ``key`` holds a version that this program reads.

    Raises :class:`StoreError` that says ``where`` it stands and that it is not ``what`` ("no approval"), or is newer.
    """
    version = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or type(version) is not int or version < 1:
        raise StoreError(f"{where}: is {what}", hint=hint)
    if version > newest:
        raise StoreError(f"{where}: has format {version}, newer than {newest}", hint="update skillassay")
    return value


def read_object(path: Path, key: str, newest: int, *, where: str, what: str, hint: str) -> Mapping[str, Any]:
    """The one object of a JSON file. Raises :class:`StoreError` where it cannot be read, or as above."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        raise StoreError(f"{where}: cannot be read: {error}", hint=hint) from error
    return require_version(value, key, newest, where=where, what=what, hint=hint)
