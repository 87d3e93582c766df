"""Answers that are JSON: ``json_valid`` and ``json_equal``. Owns when an answer is one value and when two are equal.

The whole answer, white space around it aside, is one strict JSON value (``canonical.parse_json``): nothing is cut out
of prose, nothing repaired. ``fence: "allow"`` also takes an answer that is one fenced Markdown block and nothing else.

A schema is applied within a budget of steps and of processor time, because alternatives that refer to themselves take
exponential time on a nested answer. Over it the check cannot decide: :class:`CheckFault`.

``json_equal`` reads numbers as exact decimals: 1 equals 1.0 and 1e0, 0.1 is not 0.10000000000000000001, true is not 1.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
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
from skillassay.patterns import TIME_LIMIT_S, Pattern, PatternProblem

Run = Callable[[str], tuple[bool, str]]

_FENCE = re.compile(r"(?:```|~~~)[\w+-]*[ \t]*\r?\n(.*?)\r?\n(?:```|~~~)", re.DOTALL)
_FENCE_SCHEMA = {"enum": ["refuse", "allow"]}

MAX_STEPS = 100_000
"""Keywords applied to values in one check of one answer: a bound that is the same on every machine."""
MAX_UNEVALUATED = 2_000
"""Items under ``unevaluatedItems`` and ``unevaluatedProperties``, which compare each with all the others."""


@dataclass(slots=True)
class _Budget:
    """What one application of a schema may still cost. Processor time of its thread: others must not decide it."""

    steps: int = MAX_STEPS
    end_s: float = field(default_factory=lambda: time.thread_time() + TIME_LIMIT_S)

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise CheckFault(f"the schema took over {MAX_STEPS} steps on this answer: do its alternatives multiply?")
        if time.thread_time() > self.end_s:
            raise CheckFault(f"the schema ran over {TIME_LIMIT_S:g} s on this answer")


# A validator is shared by the threads that score; what it has spent belongs to one of them.
_BUDGET: ContextVar[_Budget] = ContextVar("_BUDGET")


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
        token = _BUDGET.set(_Budget())
        try:
            error = best_match(validator.iter_errors(value))
        except (Unresolvable, RecursionError) as fault:
            raise CheckFault(f"the schema cannot be applied: {str(fault)[:200]}") from fault
        finally:
            _BUDGET.reset(token)
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
    """A validator that opens no URL, and whose patterns, comparisons and alternatives all end."""
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
    if isinstance(schema, dict):
        # What names a draft is validated by the draft's own class, and a reference may lead back here.
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    validator: Validator = _bounded(base)(schema, registry=Registry())
    return validator


@functools.cache
def _bounded(base: Any) -> Any:
    """The draft's class with every keyword under the budget, and with our patterns and comparison of items."""
    keywords = {**base.VALIDATORS, "pattern": _check_pattern, "uniqueItems": _check_unique}
    # unevaluated… looks for what is evaluated without applying keywords, but asks this of every schema on its way.
    types = base.TYPE_CHECKER.redefine("boolean", _is_boolean)
    return extend(  # type: ignore[no-untyped-call]  # the stubs leave it bare
        base, {name: _metered(name, check) for name, check in keywords.items()}, type_checker=types
    )


def _metered(name: str, check: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
    def run(validator: Validator, wanted: Any, instance: Json, schema: Json) -> Iterator[ValidationError]:
        _BUDGET.get().spend()
        if name.startswith("unevaluated") and isinstance(instance, dict | list) and len(instance) > MAX_UNEVALUATED:
            raise CheckFault(f"{name} is applied to {len(instance)} values, over the limit of {MAX_UNEVALUATED}")
        yield from check(validator, wanted, instance, schema) or ()

    return run


def _is_boolean(_: Any, value: Json) -> bool:
    _BUDGET.get().spend()
    return isinstance(value, bool)


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    if isinstance(value, dict):
        yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _objects(child)


def _unusable(node: dict[str, Json], schema: Json) -> Iterator[str]:
    """What of one schema object cannot be kept within limits or resolved. Looks at ``const`` and ``enum`` data too."""
    if node is not schema and isinstance(node.get("$schema"), str):
        yield "schema: $schema below the top is not supported, one draft holds for the whole"
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
