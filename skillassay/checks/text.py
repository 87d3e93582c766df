"""Literal text: ``exact``, ``contains``, ``not_contains``. Owns how one text is looked for in another; no patterns.

Compared by code point: "é" stored decomposed is another text than "é" stored composed, unless ``normalize`` is set,
which folds both sides (``skillassay.folding``). Case counts unless ``ignore_case`` compares full case folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from typing import Any

from skillassay.checks.base import SpecProblem
from skillassay.folding import fold_text
from skillassay.patterns import span_in_context

Run = Callable[[str], tuple[bool, str]]

_SCHEMA = {
    "properties": {"text": {"type": "string"}, "normalize": {"type": "boolean"}, "ignore_case": {"type": "boolean"}},
    "required": ["text"],
}


def build_exact(spec: Mapping[str, Any]) -> Run:
    """The whole answer is the text; white space around either does not count."""
    wanted = _wanted(spec, may_be_empty=True)
    shown = _shown(wanted)

    def run(answer: str) -> tuple[bool, str]:
        text = fold_text(answer) if spec.get("normalize") else answer.strip()
        spelled = str.casefold if spec.get("ignore_case") else str
        if spelled(text) == spelled(wanted):
            return True, f"the answer is {shown}"
        at = _first_difference(map(spelled, text), map(spelled, wanted))
        return False, f"the answer is not {shown}: {span_in_context(text, at, at + 1)}"

    return run


def build_contains(spec: Mapping[str, Any]) -> Run:
    """The text stands somewhere in the answer."""
    wanted = _wanted(spec, may_be_empty=False)
    return lambda answer: _look(answer, wanted, spec)


def build_not_contains(spec: Mapping[str, Any]) -> Run:
    """The text stands nowhere in the answer."""
    wanted = _wanted(spec, may_be_empty=False)

    def run(answer: str) -> tuple[bool, str]:
        found, evidence = _look(answer, wanted, spec)
        return not found, evidence

    return run


def _wanted(spec: Mapping[str, Any], *, may_be_empty: bool) -> str:
    raw = str(spec["text"])
    wanted = fold_text(raw) if spec.get("normalize") else raw
    if not wanted and raw:
        raise SpecProblem(f"text {raw!r} is nothing once folded, so it would stand in every answer")
    if not wanted and not may_be_empty:
        raise SpecProblem("text is empty, and the empty text stands in every answer")
    return wanted.strip() if may_be_empty else wanted


def _look(answer: str, wanted: str, spec: Mapping[str, Any]) -> tuple[bool, str]:
    text = fold_text(answer) if spec.get("normalize") else answer
    if spec.get("ignore_case"):
        start, end = _find_ignoring_case(text, wanted)
    else:
        start = text.find(wanted)
        end = start + len(wanted)
    if start < 0:
        return False, f"{_shown(wanted)} stands nowhere"
    return True, span_in_context(text, start, end)


def _find_ignoring_case(text: str, wanted: str) -> tuple[int, int]:
    """Span in ``text`` of the first match by full case folding; (-1, -1) for none.

    A fold may be longer than its character ("ß" is "ss"), so the position found in the fold is counted back.
    """
    needle = wanted.casefold()
    at = text.casefold().find(needle)
    if at < 0:
        return -1, -1
    start = end = passed = 0
    for index, char in enumerate(text):
        if passed <= at:
            start = index
        passed += len(char.casefold())
        end = index + 1
        if passed >= at + len(needle):
            break
    return start, end


def _first_difference(text: Iterable[str], wanted: Iterable[str]) -> int:
    """Position of the first character that differs; the shorter text ends with one."""
    pairs = enumerate(zip_longest(text, wanted))
    return next((at for at, (one, other) in pairs if one != other), 0)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


TYPES = {
    "exact": (build_exact, _SCHEMA),
    "contains": (build_contains, _SCHEMA),
    "not_contains": (build_not_contains, _SCHEMA),
}
