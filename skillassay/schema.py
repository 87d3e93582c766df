"""The JSON Schemas of every file format, and validation that names place and value. Owns messages, not formats.

The schemas ship with the package, so that an editor can complete and a reader validate with the same document.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

from skillassay.documents import Document
from skillassay.findings import Finding, Severity, register

SCHEMA = register("file.schema", "A part of a file does not fit the file's JSON Schema.")

SHOWN_VALUE_CHARS = 80


@functools.cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema document ``schemas/NAME.schema.json`` of this package."""
    text = (Path(__file__).parent / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@functools.cache
def _validator(name: str) -> Any:
    schema = load_schema(name)
    return jsonschema.Draft7Validator(_inlined(schema, schema.get("definitions", {})))


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    """The schema with its references written out: none of ours recurs, and looking them up is half of validation."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(definitions[node["$ref"].removeprefix("#/definitions/")], definitions)
    return {key: _inlined(item, definitions) for key, item in node.items() if key != "definitions"}


def schema_problems(value: Any, schema: str | dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """Every way in which ``value`` does not fit: (path of keys and indexes, one short message). Empty when it fits."""
    validator = _validator(schema) if isinstance(schema, str) else jsonschema.Draft202012Validator(schema)
    found = {(tuple(error.absolute_path), _message(error)) for error in _leaves(validator.iter_errors(value))}
    return sorted(found, key=lambda item: ([str(part) for part in item[0]], item[1]))


def _leaves(errors: Any) -> Iterator[Any]:
    """Errors of the branch that was meant: below oneOf the branch whose type fits, not all branches' complaints."""
    for error in errors:
        if error.validator in {"oneOf", "anyOf"} and error.context:
            branches: dict[int, list[Any]] = {}
            for inner in error.context:
                branches.setdefault(inner.schema_path[0], []).append(inner)
            fitting = [b for b in branches.values() if not any(e.validator == "type" and not e.path for e in b)]
            yield from _leaves(fitting[0]) if fitting else iter((error,))
        else:
            yield error


def _message(error: Any) -> str:
    shown = json.dumps(error.instance, ensure_ascii=False, default=str)
    if len(shown) > SHOWN_VALUE_CHARS:
        shown = shown[: SHOWN_VALUE_CHARS - 1] + "…"
    match error.validator:
        case "additionalProperties":
            known = error.schema.get("properties", {})
            extra = ", ".join(repr(key) for key in error.instance if key not in known)
            return f"unknown field {extra}; known: {', '.join(sorted(known))}"
        case "required":
            missing = ", ".join(repr(key) for key in error.validator_value if key not in error.instance)
            why = f": {error.schema['$comment']}" if "$comment" in error.schema else ""
            return f"missing field {missing}{why}"
        case "type":
            wanted = error.validator_value
            return f"must be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}, is {shown}"
        case "enum":
            return f"must be one of {', '.join(map(str, error.validator_value))}, is {shown}"
        case "const":
            return f"must be {error.validator_value!r}, is {shown}"
        case "pattern":
            return f"must match {error.validator_value}, is {shown}"
        case "minLength" | "minItems":
            return f"must not be empty, is {shown}" if error.validator_value == 1 else f"too short: {shown}"
        case "maxLength" | "maxItems":
            return f"longer than {error.validator_value}: {shown}"
        case "oneOf" | "anyOf":
            return f"fits none of the allowed forms: {shown}"
        case _:
            return f"{error.validator} {error.validator_value!r} is not met by {shown}"


def document_findings(document: Document, schema: str) -> tuple[Finding, ...]:
    """The schema problems of an authored file as findings with their lines."""
    return tuple(
        Finding(
            code=SCHEMA,
            severity=Severity.ERROR,
            path=document.path,
            line=document.line_of(where),
            message=f"{pointer(where)}: {message}",
            hint=f"the format is described by skillassay/schemas/{schema}.schema.json",
        )
        for where, message in schema_problems(document.value, schema)
    )


def pointer(where: tuple[str | int, ...]) -> str:
    """A path of keys and indexes as people write it: ``cases[2].rubric[0].id``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return text.lstrip(".") or "the file"
