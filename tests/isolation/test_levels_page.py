"""The page on isolation names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "isolation.md").read_text(encoding="utf-8")
HOME = re.findall(r"Tests without a file's name are in `([\w/.]+)`", PAGE)[0]
NAMED = sorted({(file or HOME, test) for file, test in re.findall(r"`(?:(tests/[\w/.]+)::)?(test_\w+)`", PAGE)})
ATTACKS = re.findall(r"(?m)^\| (.+?) \| .+ \| .+ \| (.+) \|$", PAGE.partition("## Attacks")[2])[2:]


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[f"{file}::{test}" for file, test in NAMED])
def test_a_named_test_exists(file: str, test: str) -> None:
    """A function of that name in that file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("attack", "tests"), ATTACKS, ids=[attack for attack, _ in ATTACKS])
def test_every_attack_has_a_test(attack: str, tests: str) -> None:
    """No line of the table is a mere claim."""
    assert re.search(r"`[\w/.:]*test_\w+`", tests), attack


def test_the_table_is_found() -> None:
    """Guard of the two above."""
    assert len(ATTACKS) > 10
    assert len(NAMED) > 15
