"""Schema problems: each names the place, the value and what would fit."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.documents import parse_document
from skillassay.findings import Severity
from skillassay.schema import SCHEMA, document_findings, pointer, schema_problems

CASE = {"id": "a", "skill": "s", "query": "q", "rubric": ["names the total"]}


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"id": "A b"}, (0, "id"), "must match"),
        ({"id": "a\n"}, (0, "id"), "must match"),
        ({"id": 7}, (0, "id"), "must be string, is 7"),
        ({"query": ""}, (0, "query"), "must not be empty"),
        ({"critical": "yes"}, (0, "critical"), 'must be boolean, is "yes"'),
        ({"critical": None}, (0, "critical"), "must be boolean, is null"),
        ({"surprise": 1}, (0,), "unknown field 'surprise'; known: "),
        ({"rubric": [{"text": "t"}]}, (0, "rubric", 0), "missing field 'id'"),
        ({"rubric": [5]}, (0, "rubric", 0), "fits none of the allowed forms: 5"),
        ({"rubric": ["x" * 2001]}, (0, "rubric", 0), "longer than 2000: "),
        ({"behavior": {"action": "shrug"}}, (0, "behavior", "action"), "must be one of assist, refuse, clarify, abst"),
        ({"files": ["a", "a"]}, (0, "files"), "uniqueItems"),
    ],
)
def test_a_problem_names_its_place(change: dict[str, Any], where: tuple[str | int, ...], words: str) -> None:
    """The path leads to the value, and the message says what would fit."""
    found = [(place, message) for place, message in schema_problems([{**CASE, **change}], "suite") if place == where]
    assert any(words in message for _, message in found), found


def test_all_problems_come_at_once() -> None:
    """Three broken fields are three problems."""
    assert len(schema_problems([{"id": 1, "skill": 2, "query": 3}], "suite")) == 3


@pytest.mark.parametrize("value", [{"cases": [{"id": 1}]}, [{"id": 1}]], ids=["object", "list"])
def test_of_two_forms_the_meant_one_complains(value: Any) -> None:
    """An object is measured as an object, a list as a list: nobody is told that a list is no object."""
    assert not any("must be" in message and "object" in message for _, message in schema_problems(value, "suite"))


def test_a_long_value_is_cut() -> None:
    """A message shows at most eighty characters of the value."""
    ((_, message),) = schema_problems([{**CASE, "critical": "x" * 500}], "suite")
    assert len(message) < 120
    assert message.endswith("…")


def test_findings_have_code_line_and_next_step() -> None:
    """A schema problem of an authored file is an error at its line."""
    document, _ = parse_document("contract: 1\ngate:\n  quality_min: 2\n", path="c.yaml", is_json=False)
    assert document is not None
    (finding,) = document_findings(document, "contract")
    assert (finding.code, finding.severity, finding.path, finding.line) == (SCHEMA, Severity.ERROR, "c.yaml", 3)
    assert finding.message.startswith("gate.quality_min: ")
    assert "contract.schema.json" in (finding.hint or "")


@pytest.mark.parametrize(
    ("where", "text"), [((), "the file"), (("a",), "a"), ((2, "rubric", 0, "id"), "[2].rubric[0].id")]
)
def test_pointer(where: tuple[str | int, ...], text: str) -> None:
    """A path is written as people write it."""
    assert pointer(where) == text
