"""The reference page of checks: complete, and its examples work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillassay.checks import CHECK_TYPES, build_check, has_both_samples, verify_samples

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "checks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"(?ms)^## (\S+)\n(.*?)(?=^## |\Z)", PAGE))
EXAMPLES = [json.loads(block) for block in re.findall(r"(?ms)^```json\n(.*?)^```$", PAGE)]


@pytest.mark.parametrize("name", CHECK_TYPES)
def test_every_type_has_a_section_with_an_example(name: str) -> None:
    """Under its own heading, with at least one example of that type."""
    assert name in SECTIONS
    assert [example for example in EXAMPLES if example["type"] == name]


@pytest.mark.parametrize("name", CHECK_TYPES)
def test_every_field_is_described(name: str) -> None:
    """In the type's own section, or in the one that it points to."""
    section = SECTIONS[name]
    for other in re.findall(r"Fields as for `(\w+)`|Fails where `(\w+)` would pass", section):
        section += "".join(SECTIONS[part] for part in other if part)
    section += SECTIONS["exact"] if name == "not_contains" else ""
    for field in (CHECK_TYPES[name].schema or {})["properties"]:
        assert f"`{field}`" in section, f"{name}: {field}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_every_example_builds_and_keeps_its_word(example: dict[str, Any]) -> None:
    """Its samples of both kinds come out as they say."""
    check = build_check(example, where="docs/reference/checks.md")
    assert has_both_samples(example)
    assert verify_samples(check) == []
