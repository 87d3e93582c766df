"""The scorer that a suite states for all of its cases: how a case's ``expected`` becomes a check of it.

    {"default_scorer": {"type": "numeric_range", "decimal": ".", "tolerance": 0.5},
     "cases": [{"id": "sum", "skill": "adder", "query": "What is 40 and 2?", "expected": 42}]}

Owns which check types take an expected value, and in which of their fields. The case is then one with the check
``expected`` written out: its digest, its scores and its rules are those of a case in which an author wrote this check.
What takes no value as it is (a pattern, a schema, what must not occur) is no default scorer; nothing is converted, a
figure to a text no more than a text to a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from typing import Any

from skillassay.findings import register

NOTHING_TO_SCORE = register("suite.nothing-to-score", "A case has neither check nor rubric.")
BAD_EXPECTED = register(
    "suite.bad-expected", "A case's expected is not what the suite's default_scorer takes, or nothing would score it."
)

CHECK_ID = "expected"
SCORED_BY = ("checks", "must_match", "must_not_match", "rubric", "behavior")
"""Fields of a case that say how it is scored."""


_EXACT = Context(prec=100, traps=[Inexact])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerProblem:
    """What is wrong with how a case is scored; ``where`` leads to the field below the case."""

    code: str
    message: str
    where: tuple[str, ...] = ()
    hint: str


class _UnfitError(ValueError):
    """The expected value is not what the scorer takes."""


def _text(expected: Any, _: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(expected, str):
        raise _UnfitError("is no text")
    return {"text": expected}


def _value(expected: Any, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"value": expected}


def _bounds(expected: Any, scorer: Mapping[str, Any]) -> dict[str, Any]:
    """The expected figure with the tolerance on both sides, by the decimals that were written."""
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        raise _UnfitError("is no number")
    middle, around = Decimal(str(expected)), Decimal(str(scorer.get("tolerance", 0)))
    try:
        low, high = _EXACT.subtract(middle, around), _EXACT.add(middle, around)
    except Inexact as error:
        raise _UnfitError("and its tolerance are too far apart to be added exactly") from error
    return {"min": _number(low), "max": _number(high)}


def _number(value: Decimal) -> int | float:
    if value == value.to_integral_value():
        return int(value)
    # What a file would hold for this bound has to be the bound: beyond some 17 digits it is another number.
    if Decimal(str(float(value))) != value:
        raise _UnfitError(f"and its tolerance give a bound of too many digits, {value}")
    return float(value)


_TAKES: Mapping[str, Callable[[Any, Mapping[str, Any]], dict[str, Any]]] = {
    "exact": _text,
    "contains": _text,
    "json_equal": _value,
    "numeric_range": _bounds,
}
"""By check type, the fields that hold an expected value."""


def with_expected(
    body: Mapping[str, Any], scorer: Mapping[str, Any] | None
) -> tuple[dict[str, Any], ScorerProblem | None]:
    """The body of a case of sound shape with its expected value as a check, as if that had been written.

    The problem is a case that nothing scores, or an expected value that nothing reads.
    """
    plain = {key: value for key, value in body.items() if key != "expected"}
    own = next((field for field in SCORED_BY if body.get(field)), None)
    if own is not None and "expected" not in body:
        return plain, None
    if own is not None:
        message = f"case {body['id']!r} has expected, which nothing reads: it is scored by its {own}"
        return plain, _bad_expected(message, "write it as a check, or leave it out")
    if scorer is None or "expected" not in body:
        return plain, _nothing(body, scorer)
    kind = scorer["type"]
    try:
        built = _TAKES[kind](body["expected"], scorer)
    except _UnfitError as problem:
        message = f"case {body['id']!r}: expected {body['expected']!r:.80} {problem}; default_scorer is {kind!r}"
        return plain, _bad_expected(message, "write what the scorer takes, or checks of the case's own")
    # Under any other type a tolerance is a field that the check does not know, and is refused as such.
    fixed = {key: value for key, value in scorer.items() if key != "tolerance" or kind != "numeric_range"}
    return {**plain, "checks": [{"id": CHECK_ID, **fixed, **built}]}, None


def _bad_expected(message: str, hint: str) -> ScorerProblem:
    return ScorerProblem(code=BAD_EXPECTED, message=message, where=("expected",), hint=hint)


def _nothing(body: Mapping[str, Any], scorer: Mapping[str, Any] | None) -> ScorerProblem:
    message, hint = f"case {body['id']!r} has neither check nor rubric nor behavior", "add checks or a rubric"
    if scorer is not None:
        message += ", and no expected for the suite's default_scorer"
        hint = "add expected, checks or a rubric"
    elif "expected" in body:
        message += ", and the suite has no sound default_scorer for its expected"
        hint = "add default_scorer to the suite, or checks or a rubric to the case"
    return ScorerProblem(code=NOTHING_TO_SCORE, message=message, hint=hint)
