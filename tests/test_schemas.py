"""The shipped JSON Schemas, and the shipped files under them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from skillassay.documents import load_document
from skillassay.schema import load_schema, schema_problems

ROOT = Path(__file__).parents[1]
SCHEMAS = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "skillassay/schemas").glob("*.json"))
SHIPPED = [
    ("contract", "evals/contract.yaml"),
    ("suite", "evals/quality.json"),
    ("suite", "evals/behavior.json"),
    ("routing", "evals/routing.json"),
    ("triggers", "evals/triggers.json"),
    ("prices", "evals/prices.template.yaml"),
    *(("fixture", path.relative_to(ROOT).as_posix()) for path in sorted((ROOT / "evals/fixtures").glob("*.yaml"))),
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_shipped_schema_is_a_schema(name: str) -> None:
    """Each schema is valid under its own meta-schema."""
    Draft7Validator.check_schema(load_schema(name))


@pytest.mark.parametrize(("schema", "path"), SHIPPED, ids=[path for _, path in SHIPPED])
def test_a_shipped_file_fits_its_schema(schema: str, path: str) -> None:
    """The repository's own contract, suites and fixtures have no schema problem."""
    document, findings = load_document(ROOT / path, shown_as=path)
    assert findings == ()
    assert document is not None
    assert schema_problems(document.value, schema) == []


def patterns(node: Any) -> list[str]:
    """Every ``pattern`` of a schema that is anchored at its end."""
    if isinstance(node, dict):
        own = [node["pattern"]] if isinstance(node.get("pattern"), str) and "$" in node["pattern"] else []
        return own + [inner for value in node.values() for inner in patterns(value)]
    return [inner for value in node for inner in patterns(value)] if isinstance(node, list) else []


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_pattern_lets_a_trailing_line_feed_through(name: str) -> None:
    """Python's ``$`` also matches before a last line feed; an id never ends in one."""
    for pattern in patterns(load_schema(name)):
        assert re.search(pattern, "A\n") is None
        assert re.search(pattern, "a\n") is None


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_closed_object_requires_only_known_fields(name: str) -> None:
    """Under ``additionalProperties: false`` each required field is one that may stand there."""

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("additionalProperties") is False:
                assert set(node.get("required", ())) <= set(node.get("properties", {}))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(load_schema(name))


@pytest.mark.parametrize("term", ["quality_min", "lift_min"])
def test_a_limit_that_nothing_reads_is_refused(term: str) -> None:
    """A suite cannot state a threshold of its own that the gate would not look at."""
    suite = {"suite": "s", "version": "1", term: 0.9, "cases": [{"id": "a", "skill": "s", "query": "q"}]}
    assert any(term in message for _, message in schema_problems(suite, "suite"))


def test_schemas_are_plain_json() -> None:
    """The files are read by editors too, so they are strict JSON in UTF-8."""
    for name in SCHEMAS:
        text = (ROOT / f"skillassay/schemas/{name}.schema.json").read_text(encoding="utf-8")
        assert json.loads(text) == load_schema(name)
