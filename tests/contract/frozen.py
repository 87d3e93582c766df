"""Frozen contracts for tests that need one and are about something else: a fitting value for each field."""

from __future__ import annotations

from typing import Any

from skillassay.contract.groups import FIELDS, RESULT


def any_value(schema: Any) -> Any:
    """A value that fits the schema of a field."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("pattern"):
        return "0" * 64
    if "required" in schema:
        return {name: any_value(schema.get("additionalProperties", {"type": "string"})) for name in schema["required"]}
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    return {"string": "x", "integer": 1, "array": ["x"], "object": {"x": "x"}}[kind]


def any_groups() -> dict[str, Any]:
    """The eight groups of a header."""
    groups: dict[str, Any] = {}
    for field in FIELDS:
        if field.group != RESULT:
            groups.setdefault(field.group, {})[field.name] = any_value(field.schema)
    return groups


def other_value(schema: Any) -> Any:
    """Another value that fits as well; a field of one value has none and gets None."""
    if "const" in schema:
        return None
    if "enum" in schema:
        return schema["enum"][1]
    if schema.get("pattern"):
        return "1" * 64
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    return {"string": "another", "integer": 99, "array": ["another"], "object": {"another": "value"}}[kind]
