"""Reading a frozen contract back: all of it must be there, and what the run answered completes it.

A stored run whose contract lacks a field decides nothing, and is refused with the field and what nobody can tell
without it. Left out: whether what stands there is true, which no file can say of itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.groups import GROUPS, RESULT, absent, words_of
from skillassay.errors import StoreError
from skillassay.schema import pointer, schema_problems

SHOWN_FIELDS = 4
HINT = "it was damaged, or made by an older version; remove its folder under .skillassay/runs, and run again"


def require_whole(header: Mapping[str, Any], result: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The frozen contract of a stored run. Raises :class:`StoreError` that names every ``group.field`` it lacks."""
    run = header.get("id", "?")
    contract = header.get("contract")
    groups = contract.get("groups") if isinstance(contract, Mapping) else None
    _require(groups, f"run {run}: its contract (run.json)", ended=False)
    if result is not None:
        _require(result.get("contract"), f"run {run}: its contract at the end (result.json)", ended=True)
    assert isinstance(groups, Mapping)
    return groups


def _require(groups: object, what: str, *, ended: bool) -> None:
    if not isinstance(groups, Mapping):
        raise StoreError(f"{what} lacks all groups, {', '.join(GROUPS)}: nobody can tell what was decided", hint=HINT)
    missing = list(absent(groups, ended=ended))
    if missing:
        shown = "; ".join(words_of(path) for path in missing[:SHOWN_FIELDS])
        more = f"; and {', '.join(missing[SHOWN_FIELDS:])}" if len(missing) > SHOWN_FIELDS else ""
        raise StoreError(f"{what} lacks {shown}{more}", hint=HINT)
    problems = schema_problems(groups, "run-contract")
    if problems:
        shown = "; ".join(f"{pointer(where)}: {message}" for where, message in problems[:SHOWN_FIELDS])
        raise StoreError(f"{what} is damaged: {shown}", hint="run again")


def complete(
    groups: Mapping[str, Any], *, answered: Mapping[str, Iterable[str]], result: Mapping[str, Json]
) -> dict[str, Json]:
    """All nine groups: those of the header, the names under which the models ``answered``, and what came of the run."""
    candidate = groups["candidate"]
    evidence = {
        side: {**one, "answered": sorted(answered[side])} for side, one in candidate["model_revision_evidence"].items()
    }
    return {**groups, "candidate": {**candidate, "model_revision_evidence": evidence}, RESULT: dict(result)}


_ABSENT = "nothing"
_SHOWN_CHARS = 60
_HEX = re.compile(r"[0-9a-f]{64}")


def frozen_differences(old: Mapping[str, Any], new: Mapping[str, Any], paths: Iterable[str]) -> tuple[str, ...]:
    """In words, where two frozen contracts differ in the fields ``paths`` (``group.field``), inside objects by key."""
    found: list[str] = []
    for path in paths:
        group, name = path.split(".")
        was, now = (dict(_leaves(groups[group][name], path)) for groups in (old, new))
        for leaf in dict.fromkeys([*was, *now]):
            a, b = was.get(leaf, _ABSENT), now.get(leaf, _ABSENT)
            if type(a) is not type(b) or a != b:
                found.append(f"{leaf}: {_shown(a)} and {_shown(b)}")
    return tuple(found)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}")
    else:
        yield name, value


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    if _HEX.fullmatch(text):
        return text[:12]
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
