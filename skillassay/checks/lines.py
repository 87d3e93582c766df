"""``line_count``: how many lines the answer has. Lines end with LF or CRLF; the end of the last line is optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillassay.checks.base import SpecProblem

Run = Callable[[str], tuple[bool, str]]

_BOUND = {"type": "integer", "minimum": 0}
_SCHEMA = {"properties": {"min": _BOUND, "max": _BOUND, "blank": {"enum": ["skip", "count"]}}}


def build_line_count(spec: Mapping[str, Any]) -> Run:
    """The number of lines lies between ``min`` and ``max``, both included. A blank line holds white space at most."""
    low, high = spec.get("min"), spec.get("max")
    if low is None and high is None:
        raise SpecProblem("give min, max or both")
    if low is not None and high is not None and low > high:
        raise SpecProblem(f"min {low} is over max {high}: no answer can pass")

    def run(answer: str) -> tuple[bool, str]:
        n_lines = _count(answer, count_blank=spec.get("blank") == "count")
        passed = (low is None or n_lines >= low) and (high is None or n_lines <= high)
        wanted = " and ".join([f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None))
        return passed, f"{n_lines} lines, wanted {wanted}"

    return run


def _count(answer: str, *, count_blank: bool) -> int:
    lines = answer.split("\n")
    if count_blank:
        return len(lines) - (lines[-1] == "")
    return sum(1 for line in lines if line.strip())


TYPES = {"line_count": (build_line_count, _SCHEMA)}
