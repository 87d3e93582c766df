"""Answers that are JSON: ``json_valid`` and ``json_equal``. Owns when an answer is one value and when two are equal.

The whole answer, white space around it aside, is one strict JSON value (``canonical.parse_json``): nothing is cut out
of prose, nothing repaired. ``fence: "allow"`` also takes an answer that is one fenced Markdown block and nothing else.

``json_equal`` reads numbers as exact decimals: 1 equals 1.0 and 1e0, 0.1 is not 0.10000000000000000001, true is not 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for

# referencing comes with jsonschema and is the type of its `registry` argument.
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from skillassay.canonical import Json, JsonProblem, canonical_bytes, parse_json
from skillassay.checks.base import CheckFault, SpecProblem
from skillassay.patterns import Pattern, PatternProblem

Run = Callable[[str], tuple[bool, str]]

_FENCE = re.compile(r"(?:```|~~~)[\w+-]*[ \t]*\r?\n(.*?)\r?\n(?:```|~~~)", re.DOTALL)
_FENCE_SCHEMA = {"enum": ["refuse", "allow"]}


def build_json_valid(spec: Mapping[str, Any]) -> Run:
    """The answer is one JSON value, and valid under ``schema`` if there is one."""
    validator = _build_validator(spec["schema"]) if "schema" in spec else None

    def run(answer: str) -> tuple[bool, str]:
        try:
            value = parse_json(_body(answer, spec))
        except JsonProblem as problem:
            return False, _not_json(problem)
        if validator is None:
            return True, "one JSON value"
        try:
            error = best_match(validator.iter_errors(value))
        except (Unresolvable, RecursionError) as fault:
            raise CheckFault(f"the schema cannot be applied: {str(fault)[:200]}") from fault
        if error is None:
            return True, "one JSON value, valid under the schema"
        return False, f"at {error.json_path}: {error.message[:200]}"

    return run


def build_json_equal(spec: Mapping[str, Any]) -> Run:
    """The answer is one JSON value equal to ``value``; ``ignore_order`` compares arrays as multisets at every depth."""
    try:
        wanted = _read_exactly(canonical_bytes(spec["value"]).decode())
    except (TypeError, ValueError) as error:
        raise SpecProblem(f"value is not a JSON value: {error}") from error
    ignore_order = bool(spec.get("ignore_order"))

    def run(answer: str) -> tuple[bool, str]:
        try:
            got = _read_exactly(_body(answer, spec))
        except JsonProblem as problem:
            return False, _not_json(problem)
        difference = _difference(wanted, got, "$", ignore_order=ignore_order)
        return difference is None, difference or "equal"

    return run


def _body(answer: str, spec: Mapping[str, Any]) -> str:
    text = answer.strip()
    fenced = _FENCE.fullmatch(text) if spec.get("fence") == "allow" else None
    return fenced[1] if fenced else text


def _not_json(problem: JsonProblem) -> str:
    place = f"line {problem.line}: " if problem.line is not None else ""
    return f"the answer is not one JSON value: {place}{problem}"


def _read_exactly(text: str) -> Json:
    """The value with every number as a Decimal. Strictness is ``parse_json``'s; its floats would round the digits."""
    parse_json(text)
    try:
        return json.loads(text, parse_float=Decimal, parse_int=Decimal)
    except InvalidOperation as error:
        raise JsonProblem("a number's exponent is out of range") from error


def _difference(wanted: Json, got: Json, path: str, *, ignore_order: bool) -> str | None:
    """The first difference with its path, or None. Types decide first, so that true is not 1."""
    if type(wanted) is not type(got):
        return f"at {path}: {_shown(got)}, wanted {_shown(wanted)}"
    if isinstance(wanted, dict):
        if wanted.keys() != got.keys():
            missing, extra = sorted(wanted.keys() - got.keys()), sorted(got.keys() - wanted.keys())
            return f"at {path}: missing keys {missing}, extra keys {extra}"
        pairs = [(f"{path}.{key}", wanted[key], got[key]) for key in wanted]
        return _first(pairs, ignore_order=ignore_order)
    if isinstance(wanted, list):
        if ignore_order:
            return None if _frozen(wanted) == _frozen(got) else f"at {path}: other items than wanted, in any order"
        if len(wanted) != len(got):
            return f"at {path}: {len(got)} items, wanted {len(wanted)}"
        pairs = [(f"{path}[{at}]", one, other) for at, (one, other) in enumerate(zip(wanted, got, strict=True))]
        return _first(pairs, ignore_order=ignore_order)
    return None if wanted == got else f"at {path}: {_shown(got)}, wanted {_shown(wanted)}"


def _first(pairs: Iterable[tuple[str, Json, Json]], *, ignore_order: bool) -> str | None:
    differences = (_difference(one, other, path, ignore_order=ignore_order) for path, one, other in pairs)
    return next((difference for difference in differences if difference is not None), None)


def _frozen(value: Json) -> Hashable:
    """A hashable form that is equal for equal values, arrays as multisets. The type is part of it."""
    if isinstance(value, dict):
        return ("object", frozenset((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", frozenset(Counter(map(_frozen, value)).items()))
    return (type(value).__name__, value)


def _shown(value: Json) -> str:
    if isinstance(value, Decimal):
        return str(value)[:80]
    return {dict: "an object", list: "an array", type(None): "null"}.get(type(value)) or json.dumps(value)[:80]


def _build_validator(schema: Any) -> Validator:
    """A validator that neither opens a URL nor runs an unbounded pattern or a quadratic comparison on the answer."""
    base: Any = validator_for(schema, default=Draft202012Validator)
    try:
        canonical_bytes(schema)
        # Without formats: "regex" would be asserted in the dialect of re, which is not ours.
        base.check_schema(schema, format_checker=FormatChecker(formats=()))
    except (TypeError, ValueError) as error:
        raise SpecProblem(f"schema is not JSON: {error}") from error
    except SchemaError as error:
        raise SpecProblem(f"schema is not a JSON Schema: at {error.json_path}: {error.message[:200]}") from error
    problems = [problem for node in _objects(schema) for problem in _unusable(node, schema)]
    if problems:
        raise SpecProblem("; ".join(problems))
    keywords = {"pattern": _check_pattern, "uniqueItems": _check_unique}
    validator: Validator = extend(base, keywords)(  # type: ignore[no-untyped-call]  # the stubs leave it bare
        schema, registry=Registry()
    )
    return validator


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    if isinstance(value, dict):
        yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _objects(child)


def _unusable(node: dict[str, Json], schema: Json) -> Iterator[str]:
    """What of one schema object cannot be kept within limits or resolved. Looks at ``const`` and ``enum`` data too."""
    if "patternProperties" in node:
        yield "schema: patternProperties is not supported, its patterns cannot be stopped; use propertyNames"
    if isinstance(node.get("pattern"), str):
        try:
            Pattern(node["pattern"])
        except PatternProblem as error:
            yield f"schema: {error}"
    for word in ("$ref", "$dynamicRef"):
        target = node.get(word)
        if isinstance(target, str) and not _resolves(target, schema):
            yield f"schema: {word} {target!r} leads nowhere in this schema; nothing is fetched"


def _resolves(target: str, schema: Json) -> bool:
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    registry: Registry[Any] = Registry()
    try:
        registry.with_resource("", resource).resolver().lookup(target)
    except Unresolvable:
        return False
    return True


def _check_pattern(_: Validator, pattern: str, instance: Json, __: Json) -> Iterator[ValidationError]:
    if isinstance(instance, str) and Pattern(pattern).search(instance) is None:
        yield ValidationError(f"{instance[:80]!r} does not match {pattern[:80]!r}")


def _check_unique(_: Validator, wanted: bool, instance: Json, __: Json) -> Iterator[ValidationError]:  # noqa: FBT001
    if wanted and isinstance(instance, list) and len({_ordered(item) for item in instance}) < len(instance):
        yield ValidationError("the array has non-unique elements")


def _ordered(value: Json) -> Hashable:
    """Like ``_frozen`` with the order of arrays kept; JSON Schema calls 1 and 1.0 equal, and true another value."""
    if isinstance(value, dict):
        return ("object", frozenset((key, _ordered(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(_ordered, value)))
    return ("bool", value) if isinstance(value, bool) else value


_FENCED = {"fence": _FENCE_SCHEMA}
TYPES = {
    "json_valid": (build_json_valid, {"properties": {"schema": {"type": ["object", "boolean"]}} | _FENCED}),
    "json_equal": (
        build_json_equal,
        {"properties": {"value": {}, "ignore_order": {"type": "boolean"}} | _FENCED, "required": ["value"]},
    ),
}
