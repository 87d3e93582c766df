"""``numeric_range``: which number of an answer counts, and whether it lies in the range. What a number is, is
``checks.figures``'s; the full rules, with examples, are in ``docs/reference/checks.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from skillassay.checks.base import SpecProblem
from skillassay.checks.figures import Notation, NumberToken, scan_numbers
from skillassay.patterns import Pattern, PatternProblem, span_in_context

Run = Callable[[str], tuple[bool, str]]


def build_numeric_range(spec: Mapping[str, Any]) -> Run:
    """The picked number lies between ``min`` and ``max``, both included."""
    problems = _problems(spec)
    find = None
    try:
        find = Pattern(spec["find"]) if "find" in spec else None
        if find is not None and find.n_groups != 1:
            problems.append(f"find has {find.n_groups} groups, and needs exactly one around the number")
    except PatternProblem as error:
        problems.append(f"find: {error}")
    if problems:
        raise SpecProblem("; ".join(problems))
    low, high = (Decimal(str(spec[key])) if key in spec else None for key in ("min", "max"))
    chosen = {key: spec[key] for key in ("decimal", "group", "grouping", "unit") if key in spec}
    notation, pick, percent = Notation(**chosen), spec.get("pick", "only"), bool(spec.get("percent"))
    bounds = f"{'-∞' if low is None else low} to {'∞' if high is None else high}"

    def run(answer: str) -> tuple[bool, str]:
        text = answer
        if find is not None:
            match = find.search(answer)
            if match is None or match[1] is None:
                return False, f"find {find.text[:80]!r} selects nothing"
            text = match[1]
        tokens = [t for t in scan_numbers(text, notation) if t.percent == percent and (t.has_unit or not notation.unit)]
        token, problem = _pick(text, tokens, pick, lambda value: _within(value, low, high))
        if token is None or token.value is None:
            return False, problem
        shown = span_in_context(text, token.start, token.end)
        return _within(token.value, low, high), f"{shown} is {token.value}, wanted {bounds}"

    return run


def _problems(spec: Mapping[str, Any]) -> list[str]:
    bounds = {key: Decimal(str(spec[key])) for key in ("min", "max") if key in spec}
    problems = [] if bounds else ["give min, max or both"]
    if not all(bound.is_finite() for bound in bounds.values()):
        problems.append("min and max are finite numbers")
    elif len(bounds) == 2 and bounds["min"] > bounds["max"]:
        problems.append(f"min {bounds['min']} is over max {bounds['max']}: no answer can pass")
    if spec["decimal"] == spec.get("group"):
        problems.append(f"decimal and group are both {spec['decimal']!r}")
    if "grouping" in spec and not spec.get("group"):
        problems.append("grouping without group says nothing")
    if spec.get("percent") and "unit" in spec:
        problems.append("percent is a unit of its own: give percent or unit")
    return problems


def _within(value: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _pick(
    text: str, tokens: Sequence[NumberToken], pick: str, fits: Callable[[Decimal], bool]
) -> tuple[NumberToken | None, str]:
    """The number to judge, or None and why there is none. ``only`` takes one value, however often it is told."""
    if pick == "any":
        readable = [token for token in tokens if token.value is not None]
        fitting = [token for token in readable if token.value is not None and fits(token.value)]
        tokens = fitting[:1] or readable[:1] or tokens
    elif pick != "only":
        tokens = tokens[:1] if pick == "first" else tokens[-1:]
    if not tokens:
        return None, "no number of the declared kind"
    misfit = next((token for token in tokens if token.value is None), None)
    if misfit is not None:
        return None, f"{span_in_context(text, misfit.start, misfit.end)} is not written as declared"
    if len({token.value for token in tokens}) > 1:
        shown = ", ".join(text[token.start : token.end] for token in tokens[:8])
        return None, f"{len(tokens)} numbers where one was expected: {shown}"
    return tokens[0], ""


_SCHEMA = {
    "properties": {
        "min": {"type": "number"},
        "max": {"type": "number"},
        "decimal": {"enum": [".", ","]},
        "group": {"enum": ["", " ", ".", ",", "'"]},
        "grouping": {"enum": ["western", "indian"]},
        "find": {"type": "string"},
        "pick": {"enum": ["only", "first", "last", "any"]},
        "unit": {"type": "string", "minLength": 1},
        "percent": {"type": "boolean"},
    },
    "required": ["decimal"],
}
TYPES = {"numeric_range": (build_numeric_range, _SCHEMA)}
