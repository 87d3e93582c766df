"""A suite's own limit of regression, through the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.gated import checked, lines_of
from tests.project import Cli, build_small, rule, small_rules, write_json

STRICT, PLAIN = (tuple(f"{side}{i}" for i in range(12)) for side in ("s", "p"))
WHOLE, OWN = "no_regression", "no_regression:strict"


def build(cli: Cli, threshold: float | None, *, regression_max: float = 1) -> None:
    """Two suites of twelve cases; one states a limit. Every case passes."""
    names = (*STRICT, *PLAIN)
    rules = [one for name in names for one in small_rules(name, good="hello hello")]
    gate = {"quality_min": 0, "regression_max": regression_max}
    suites = {"quality": ["evals/quality.json", "evals/strict.json"]}
    build_small(cli.root, cases=[checked(name) for name in PLAIN], rules=rules, gate=gate, suites=suites)
    head = {} if threshold is None else {"regression_threshold": threshold}
    strict = {"suite": "strict", "version": "1", **head, "cases": [checked(name) for name in STRICT]}
    write_json(cli.root / "evals" / "strict.json", strict)


def spoil(cli: Cli, *names: str) -> None:
    """From now on these cases fail."""
    path = cli.root / "evals" / "fixtures" / "all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    for name in names:
        fixtures["subject"] = [one for one in fixtures["subject"] if one["when"]["query"] != [f"Greet {name}."]]
        fixtures["subject"].append(rule(name, {"text": "good day"}))
    write_json(path, fixtures)


def run(cli: Cli) -> dict[str, dict[str, Any]]:
    """The lines of one more run."""
    cli("eval")
    return lines_of(cli("gate", "--format", "json"))


@pytest.mark.parametrize(
    ("threshold", "n_bad", "status", "noise"),
    [(0.5, 6, "passed", 0), (0.49, 6, "failed", 0), (0, 6, "failed", 0), (0, 1, "passed", 1), (0.09, 1, "passed", 0)],
)
def test_a_suite_is_held_to_its_own_limit(cli: Cli, threshold: float, n_bad: int, status: str, noise: int) -> None:
    """k of its twelve cases fell: over the limit that was written and beyond noise, or not. The whole run may lose all.

    Of twelve, one is within Newcombe's interval and six are beyond it.
    """
    build(cli, threshold)
    assert OWN not in run(cli)
    spoil(cli, *STRICT[:n_bad])
    lines = run(cli)
    assert (lines[OWN]["status"], lines[OWN]["counts"]["noise"]) == (status, noise)
    counts = {name: lines[OWN]["counts"][name] for name in ("passed", "passed_before", "compared", "worse")}
    assert counts == {"passed": 12 - n_bad, "passed_before": 12, "compared": 12, "worse": n_bad}
    assert (lines[WHOLE]["status"], lines[WHOLE]["counts"]["compared"]) == ("passed", 24)


def test_cases_of_other_suites_are_not_in_it(cli: Cli) -> None:
    """All twelve of the other fall, and nothing of this one."""
    build(cli, 0)
    run(cli)
    spoil(cli, *PLAIN)
    lines = run(cli)
    assert (lines[OWN]["status"], lines[OWN]["counts"]["passed"], lines[OWN]["counts"]["compared"]) == (
        "passed",
        12,
        12,
    )
    assert lines[WHOLE]["counts"]["passed"] == 12


@pytest.mark.parametrize("n_bad", [1, 6])
def test_what_a_suite_refused_is_no_yardstick(cli: Cli, n_bad: int) -> None:
    """Running it again compares with the older run, whether it regressed or moved within noise."""
    build(cli, 0)
    run(cli)
    spoil(cli, *STRICT[:n_bad])
    first, again = run(cli), run(cli)
    assert first[OWN]["counts"] == again[OWN]["counts"]
    assert again[OWN]["counts"]["passed_before"] == 12


def test_the_run_fails_for_it(cli: Cli) -> None:
    """Exit 1 of the evaluation, for a line that the whole run would not have."""
    build(cli, 0.4)
    assert cli("eval").code == 0
    spoil(cli, *STRICT[:6])
    ran = cli("eval")
    assert (ran.code, OWN in ran.out) == (1, True)


@pytest.mark.parametrize(("threshold", "is_looser"), [(0.05, False), (0.049, False), (0.06, True)])
def test_a_looser_limit_is_refused(cli: Cli, threshold: float, *, is_looser: bool) -> None:
    """Both numbers are named, and a run is not begun; the same one is no looser."""
    build(cli, threshold, regression_max=0.05)
    ran = cli("check")
    told = f"regression_threshold {threshold} is above the contract's gate.regression_max 0.05" in ran.out
    assert (told, "suite.looser-than-contract" in ran.out) == (is_looser, is_looser)
    assert cli("eval", "--dry-run").code == (3 if is_looser else 0)


def test_another_limit_voids_evidence(cli: Cli) -> None:
    """Also a looser one, and one that was taken away."""
    build(cli, 0.5)
    run(cli)
    assert cli("lock").code == 0
    assert cli("lock", "--check").code == 0
    for other in (0.6, None):
        path = cli.root / "evals" / "strict.json"
        suite = json.loads(path.read_text("utf-8"))
        suite.pop("regression_threshold", None)
        write_json(path, suite if other is None else suite | {"regression_threshold": other})
        ran = cli("lock", "--check")
        assert (ran.code, "suites" in ran.out + ran.err) == (1, True)


def test_a_run_keeps_the_limit(cli: Cli) -> None:
    """As an exact fraction, beside nothing else, so that its decision can be made again."""
    build(cli, 0.05)
    run(cli)
    (header,) = (cli.root / ".skillassay" / "runs").glob("*/run.json")
    stored = json.loads(header.read_text("utf-8"))
    assert stored["facts"]["suites"] == {"strict": {"regression_threshold": "1/20"}}
