"""Checks of one case that no answer can pass together. Owns which contradictions are certain; suspects none.

Certain are: a text or literal that must stand there and holds one that must not; one pattern demanded and forbidden;
one whole answer (``exact``) that another check refuses; two whole answers; ranges of figures or lines that have
nothing in common. An empty range is no check at all, which ``check`` refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any

from skillassay.canonical import canonical_bytes
from skillassay.checks import evaluate
from skillassay.checks.base import Check, CheckFault, Verdict
from skillassay.findings import Severity, register
from skillassay.folding import fold_text
from skillassay.suites.lints.base import Doubt, LintedCase, doubt, quoted
from skillassay.suites.lints.expected import literal_of

CONTRADICTION = register("suite.contradictory-checks", "Two checks of a case that no answer can pass together.")

_OF_RANGES = {
    "numeric_range": ("find", "pick", "decimal", "group", "grouping", "unit", "percent"),
    "line_count": ("blank",),
}
"""Range checks, and the fields in which two must agree to be about the same figure."""


def contrary_doubts(linted: LintedCase) -> Iterator[Doubt]:
    """Every pair of checks that contradict each other."""
    for first, second in combinations(linted.checks, 2):
        why = _why(first, second) or _why(second, first) if first.file == second.file else None
        if why is not None:
            message = f"no answer passes {first.check_id!r} and {second.check_id!r}: {why}"
            hint = "drop one of them, or mend it: the case fails whatever is answered"
            yield doubt(CONTRADICTION, Severity.ERROR, linted, message, hint=hint, item=second.check_id)


def _why(one: Check, other: Check) -> str | None:
    """Why no answer can pass both, seen from ``one``."""
    if one.type == "exact":
        return _against_exact(one, other)
    if one.type == other.type and one.type in _OF_RANGES:
        return _apart(one.spec, other.spec, _OF_RANGES[one.type])
    if one.type == other.type == "json_equal":
        return _other_value(one.spec, other.spec)
    if (one.type, other.type) == ("regex", "not_regex") and _same_pattern(one.spec, other.spec):
        return "one pattern is demanded and forbidden"
    wanted, banned = _must_stand(one), _must_not(other)
    if wanted is not None and banned is not None and _holds(wanted, banned, other.spec):
        return f"{quoted(wanted)} must stand there and {quoted(banned)} must not"
    return None


def _against_exact(one: Check, other: Check) -> str | None:
    # Folded or of another case, other answers pass too, and the text as written proves nothing.
    if one.spec.get("normalize") or one.spec.get("ignore_case"):
        return None
    text = str(one.spec["text"]).strip()
    try:
        result = evaluate(other, text)
    except CheckFault:
        return None
    # White space around the answer does not count for `exact`, and may for a pattern.
    is_certain = other.type not in {"regex", "not_regex", "line_count", "numeric_range"} or other.spec.get("normalize")
    if result.verdict is Verdict.PASS or not (is_certain or other.type == "numeric_range"):
        return None
    return f"the whole answer {quoted(text)} is demanded, and the other refuses it"


def _apart(one: Mapping[str, Any], other: Mapping[str, Any], fields: tuple[str, ...]) -> str | None:
    if any(one.get(name) != other.get(name) for name in fields) or one.get("pick") == "any":
        return None
    low, high = one.get("min"), other.get("max")
    if low is None or high is None or Decimal(str(low)) <= Decimal(str(high)):
        return None
    return f"at least {low} is wanted, and at most {high}"


def _other_value(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    is_ordered = not one.get("ignore_order") and not other.get("ignore_order")
    if is_ordered and canonical_bytes(one["value"]) != canonical_bytes(other["value"]):
        return "two values are demanded of one answer"
    return None


def _same_pattern(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("pattern", "unless", "normalize"))


def _must_stand(check: Check) -> str | None:
    """A text that stands, as written, in every answer which passes the check."""
    spec = check.spec
    if check.type == "contains" and not spec.get("ignore_case") and not spec.get("normalize"):
        return str(spec["text"])
    if check.type == "regex" and not spec.get("normalize"):
        pattern = spec["pattern"]
        return None if pattern.startswith("(?") else literal_of(pattern)
    return None


def _must_not(check: Check) -> str | None:
    """A text that stands in no answer which passes the check."""
    if check.type == "not_contains":
        return str(check.spec["text"])
    # A word end or an anchor may excuse the text in its place: only a bare literal forbids it everywhere.
    if check.type == "not_regex" and "unless" not in check.spec:
        literal = literal_of(check.spec["pattern"])
        return literal if literal is not None and literal == check.spec["pattern"].replace("\\", "") else None
    return None


def _holds(wanted: str, banned: str, spec: Mapping[str, Any]) -> bool:
    if spec.get("normalize"):
        # Folding a part is not folding the whole at its ends; plain letters fold to themselves.
        wanted, banned = fold_text(wanted), fold_text(banned)
    return banned.casefold() in wanted.casefold() if spec.get("ignore_case") else banned in wanted
