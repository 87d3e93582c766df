"""The shipped trigger suite: a demonstration on authored answers, in both of its parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project import Cli


@pytest.mark.parametrize("split", ["train", "validation"])
def test_each_part_does_as_it_should(cli: Cli, shipped: Path, split: str) -> None:
    """Eight requests about four skills, half of them near ones that load nothing; only validation writes a line."""
    before = set(shipped.rglob("*"))
    ran = cli("triggers", "--split", split, "--repeats", "1", "--format", "json")
    assert ran.code == 0, ran.out
    assert ran.json["fixture"]
    assert [len(ran.json[key]) for key in ("cases", "skills")] == [8, 4]
    assert sum(one["should_trigger"] for one in ran.json["cases"]) == 4
    written = {path.name for path in set(shipped.rglob("*")) - before}
    assert ("triggers.jsonl" in written) == (split == "validation")
    assert split == "validation" or written == set()


def test_no_request_of_validation_is_one_of_training() -> None:
    """Nor one of the routing suite, by which fixtures were written."""
    root = Path(__file__).parents[2] / "evals"
    cases = json.loads((root / "triggers.json").read_text("utf-8"))["cases"]
    routing = json.loads((root / "routing.json").read_text("utf-8"))["cases"]
    queries = [case["query"] for case in (*cases, *routing)]
    assert len(set(queries)) == len(queries) == 25
