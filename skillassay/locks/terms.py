"""The terms of two evaluations, compared. Owns which of them must be equal and which may be stricter.

All of what :meth:`skillassay.contract.contract.Contract.binding` holds must be equal, except ``gate.quality_min``: what
passed under a higher limit passes under a lower one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from skillassay.canonical import Json

AT_LEAST = frozenset(("gate.quality_min",))
"""Terms of which a run may have had a higher value."""

_FRACTION = re.compile(r"[0-9]{1,40}(?:/0*[1-9][0-9]{0,39})?", re.ASCII)
_SHOWN_CHARS = 60


def differing_terms(made: Json, wanted: Json, *, exactly: bool = False) -> tuple[str, ...]:
    """In words, each term under which something was made and that does not do for what is wanted; or, ``exactly``,
    that is another one.
    """
    if made == wanted:
        return ()
    if not isinstance(made, dict):
        return ("none are recorded",)
    was, now = dict(_leaves(made, "")), dict(_leaves(wanted, ""))
    return tuple(
        _words(name, was.get(name), now.get(name))
        for name in sorted({*was, *now})
        if not _will_do(name, was.get(name, _ABSENT), now.get(name, _ABSENT), exactly=exactly)
    )


_ABSENT = object()


def _leaves(value: Json, name: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    else:
        yield name or "all", value


def _will_do(name: str, was: object, now: object, *, exactly: bool) -> bool:
    if type(was) is type(now) and was == now:
        return True
    if exactly:
        return False
    low, high = (_fraction(value) if name in AT_LEAST else None for value in (now, was))
    return low is not None and high is not None and low <= high <= 1


def _fraction(value: object) -> Fraction | None:
    # The text is somebody's file: no exponent, whose number could fill the memory.
    return Fraction(value) if isinstance(value, str) and _FRACTION.fullmatch(value) else None


def _words(name: str, was: Json, now: Json) -> str:
    shown = [str(value) for value in (was, now)]
    if any(len(text) > _SHOWN_CHARS for text in shown) or name.endswith(".prompt"):
        return name
    return f"{name} {shown[0]}, not {shown[1]}"
