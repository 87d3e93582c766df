"""A suite's default scorer, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import Cli, build_small, records, small_case, small_rules, write_json

FIGURE = {"type": "numeric_range", "decimal": ".", "tolerance": 0.5}


def bare(name: str, **fields: object) -> dict[str, Any]:
    """A case that states nothing of how it is scored."""
    return {key: value for key, value in small_case(name).items() if key != "rubric"} | fields


def build(root: Path, scorer: dict[str, Any] | None, cases: list[dict[str, Any]], answer: str) -> None:
    """A project whose cases are all answered so where the skill is offered."""
    rules = [one for case in cases for one in small_rules(case["id"], good=answer, bad="nothing")]
    build_small(root, cases=cases, rules=rules, gate={"min_cases": 1})
    path = root / "evals" / "quality.json"
    suite = json.loads(path.read_text("utf-8"))
    write_json(path, suite if scorer is None else suite | {"default_scorer": scorer})


def outcomes(root: Path) -> dict[tuple[str, str], Any]:
    """What became of each trial: its status and what decided."""
    return {
        (one["case_id"], one["mode"]): [one["outcome"]["status"], *((m["id"], m["verdict"]) for m in one["marks"])]
        for one in records(root)
    }


@pytest.mark.parametrize(
    ("scorer", "answer", "right", "wrong"),
    [
        ({"type": "exact", "ignore_case": True}, "Paris", "paris", "par"),
        ({"type": "contains"}, "It is Paris.", "Paris", "Rome"),
        ({"type": "json_equal", "ignore_order": True}, '{"n": [2, 1]}', {"n": [1, 2]}, {"n": [1, 3]}),
        (FIGURE, "It is 42.5 in all.", 42, 41.9),
    ],
)
def test_the_expected_value_decides(cli: Cli, scorer: dict[str, Any], answer: str, right: Any, wrong: Any) -> None:
    """One case expects what is answered, the other something else."""
    build(cli.root, scorer, [bare("right", expected=right), bare("wrong", expected=wrong)], answer)
    assert cli("eval").code == 1
    found = outcomes(cli.root)
    assert found["right", "progressive"] == ["PASS", ("expected", "PASS")]
    assert found["wrong", "progressive"] == ["FAIL", ("expected", "FAIL")]
    assert found["right", "none"] == ["FAIL", ("expected", "FAIL")]


def test_scores_are_those_of_checks_written_out(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same suite in both forms, trial by trial."""
    figures = {"low": 41.9, "near": 42, "exact": 42.5, "high": 43.1}
    build(cli.root, FIGURE, [bare(name, expected=value) for name, value in figures.items()], "42.5")
    cli("eval")
    bounds = {"low": (41.4, 42.4), "near": (41.5, 42.5), "exact": (42, 43), "high": (42.6, 43.6)}
    written = [
        bare(name, checks=[{"id": "expected", "type": "numeric_range", "decimal": ".", "min": low, "max": high}])
        for name, (low, high) in bounds.items()
    ]
    other = Cli(tmp_path_factory.mktemp("written"), capsys)
    build(other.root, None, written, "42.5")
    other("eval")
    assert outcomes(cli.root) == outcomes(other.root)
    assert {one[0] for one in outcomes(cli.root).values()} == {"PASS", "FAIL"}


def test_another_scorer_is_another_case_under_an_old_name(cli: Cli) -> None:
    """The lock names the case that uses it, and no other."""
    build(cli.root, {"type": "contains"}, [bare("one", expected="hello"), small_case("two")], "hello")
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    path = cli.root / "evals" / "quality.json"
    write_json(path, json.loads(path.read_text("utf-8")) | {"default_scorer": {"type": "exact"}})
    ran = cli("lock")
    assert ran.code == 1
    assert "suite quality 1.0.0: case one changed under the same suite version" in ran.out
    assert "case two" not in ran.out


def test_a_field_that_the_type_does_not_know_is_refused(cli: Cli) -> None:
    """A tolerance on a text would be read by nobody."""
    build(cli.root, {"type": "exact", "tolerance": 1}, [bare("one", expected="hello")], "hello")
    ran = cli("check")
    assert (ran.code, "unknown key 'tolerance'" in ran.out) == (1, True)


def test_a_case_without_an_expected_value_names_the_scorer(cli: Cli) -> None:
    """Nothing would score it."""
    build(cli.root, {"type": "exact"}, [bare("one")], "hello")
    ran = cli("check")
    assert (ran.code, "no expected for the suite's default_scorer" in ran.out) == (1, True)
