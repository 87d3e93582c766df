"""What a suite demands as a whole, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.acceptance.gated import build, checked, lines_of
from tests.project import Cli, write_json

NAMES = tuple(f"c{index}" for index in range(4))
LINE = "suite_pass_rate:quality"


def demand(root: Path, threshold: float | None) -> None:
    """Write the suite's threshold, or take it away."""
    path = root / "evals" / "quality.json"
    suite = json.loads(path.read_text("utf-8"))
    suite.pop("pass_threshold", None)
    write_json(path, suite if threshold is None else suite | {"pass_threshold": threshold})


def run(cli: Cli, threshold: float | None, *, bad: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """The lines of a run whose ``bad`` cases fail, under a quality limit that every case reaches."""
    build(cli, [checked(name) for name in NAMES], bad=bad, gate={"quality_min": 0})
    demand(cli.root, threshold)
    cli("eval")
    return lines_of(cli("gate", "--format", "json"))


@pytest.mark.parametrize(
    ("threshold", "n_bad", "status"),
    [
        (1, 0, "passed"),
        (0.75, 0, "passed"),
        (1, 1, "failed"),
        (0.76, 1, "failed"),
        (0.5, 3, "failed"),
        (0, 4, "passed"),
    ],
)
def test_the_share_is_compared_exactly(cli: Cli, threshold: float, n_bad: int, status: str) -> None:
    """k of n planned trials in progressive against the decimal that was written."""
    found = run(cli, threshold, bad=NAMES[:n_bad])[LINE]
    assert found["status"] == status
    assert found["counts"] == {"passed": 4 - n_bad, "failed": n_bad, "unscored": 0, "planned": 4}


def test_the_number_has_its_wilson_interval(cli: Cli) -> None:
    """As statsmodels computes it."""
    number = run(cli, 0.5, bad=NAMES[:1])[LINE]["number"]
    low, high = proportion_confint(3, 4, method="wilson")
    assert f"3 of 4 trials passed, Wilson 95 % [{low:.3f}, {high:.3f}]" in number


def test_a_suite_that_demands_nothing_has_no_line(cli: Cli) -> None:
    """Nor anything new in what its runs and evidence bind."""
    assert LINE not in run(cli, None)
    (header,) = (cli.root / ".skillassay" / "runs").glob("*/run.json")
    stored = json.loads(header.read_text("utf-8"))
    assert "suites" not in stored["facts"]
    assert "suites" not in stored["contract"]["binding"]


def test_another_threshold_voids_evidence(cli: Cli) -> None:
    """Also a lower one: what was decided was decided under the old one."""
    assert run(cli, 0.5)[LINE]["status"] == "passed"
    assert cli("lock").code == 0
    assert cli("lock", "--check").code == 0
    demand(cli.root, 0.4)
    ran = cli("lock", "--check")
    assert (ran.code, "suites.quality.pass_threshold" in ran.out + ran.err) == (1, True)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "1"])
def test_what_is_no_share_is_refused(cli: Cli, threshold: Any) -> None:
    """By the schema, at the file."""
    build(cli, [checked(name) for name in NAMES])
    demand(cli.root, threshold)
    ran = cli("check")
    assert (ran.code, "pass_threshold" in ran.out) == (1, True)
