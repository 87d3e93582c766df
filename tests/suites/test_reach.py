"""What the cases of a skill can show at all: which cases count, and what check and dry run say of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.stats import beta

from skillassay.findings import Severity
from skillassay.project import load_project
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.suites.reach import REACH, cases_in_lift, planned_in_lift, reach_findings, reach_text
from tests.project import Cli, build_small, small_case
from tests.trials import plan_of, planned_case

RATCHET = {"requires": "fixture", "require_evidence": "ratchet"}
FILE_CHECK = {"id": "made", "type": "contains", "text": "hello", "file": "out.txt"}


def build(root: Path, n_cases: int, *more: dict[str, Any], rule: str = "point") -> Path:
    """A small project with so many plain cases, and others."""
    cases = [*(small_case(f"c{index}") for index in range(n_cases)), *more]
    return build_small(root, cases=cases, gate={"lift_rule": rule, "min_cases": 1}, lock=RATCHET)


def test_cases_that_enter_no_lift_are_not_counted(tmp_path: Path) -> None:
    """A challenge case stands apart, and a case with file checks alone has nothing that both arms could meet."""
    made = small_case("made", checks=[FILE_CHECK])
    del made["rubric"]
    build(tmp_path, 2, small_case("hard", part="challenge"), made, small_case("both", checks=[FILE_CHECK]))
    counted = cases_in_lift(load_project(tmp_path))
    assert counted == {"skills/greeter": (("quality", "c0"), ("quality", "c1"), ("quality", "both"))}


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (ALL_MODES, {"skills/s": 2, "skills/t": 1}),
        ((Mode.PROGRESSIVE, Mode.NONE), {"skills/s": 2, "skills/t": 1}),
        ((Mode.PROGRESSIVE, Mode.EAGER), {}),
    ],
)
def test_a_plan_counts_what_it_plans(modes: Sequence[Mode], expected: dict[str, int]) -> None:
    """Each case once, whatever its repeats; none that stands apart; nothing where no lift is planned."""
    cases = [planned_case("a"), planned_case("b"), planned_case("hard"), planned_case("c", skill="skills/t")]
    plan = plan_of(*cases, modes=modes, repeats=3)
    assert planned_in_lift(plan, {("q", "hard"): "challenge"}) == expected


@pytest.mark.parametrize("n_cases", [1, 4, 5])
def test_too_few_cases_show_nothing(n_cases: int) -> None:
    """And it says how many it takes."""
    assert "cannot show a lift" in reach_text(n_cases)
    assert "at least 6" in reach_text(n_cases)


@pytest.mark.parametrize("n_cases", [6, 8, 30])
def test_the_least_lift_is_said(n_cases: int) -> None:
    """The d at which the first of n + 1 gaps, Beta(1, n), is above d / (1 + d) with 2.5 %; by scipy."""
    least = brentq(lambda d: beta.sf(d / (1 + d), 1, n_cases) - 0.025, 0.001, 1)
    assert f"only above {least:+.2f}," in reach_text(n_cases)


@pytest.mark.parametrize(
    ("rule", "n_cases", "n_notes"), [("point", 3, 1), ("point", 6, 1), ("bound", 3, 0), ("bound", 6, 1)]
)
def test_it_is_a_note(tmp_path: Path, rule: str, n_cases: int, n_notes: int) -> None:
    """Which fails no check; under the rule bound the error on too few cases says it already."""
    project = load_project(build(tmp_path, n_cases, rule=rule))
    notes = reach_findings(project)
    assert [(note.code, note.severity, note.path) for note in notes] == [
        (REACH, Severity.NOTE, "skills/greeter")
    ] * n_notes


@pytest.mark.parametrize(("n_cases", "is_told"), [(5, True), (6, False)])
def test_check_says_it_without_failing(cli: Cli, n_cases: int, is_told: bool) -> None:
    """One line where a skill has too few cases, and the figure among the notes; exit 0 as before."""
    build(cli.root, n_cases)
    assert cli("lock").code == 0
    plain, noted = cli("check"), cli("check", "--notes")
    assert (plain.code, noted.code) == (0, 0)
    assert ("lift: 1 skill with fewer than 6 cases" in plain.out) is is_told
    assert "suite.lift-reach" not in plain.out
    assert f"skills/greeter: note suite.lift-reach: {reach_text(n_cases)}" in noted.out


def test_a_dry_run_says_it_before_anything_is_spent(cli: Cli) -> None:
    """For each planned skill, of the cases planned."""
    build(cli.root, 7)
    assert f"skills/greeter: {reach_text(7)}" in cli("eval", "--dry-run").out
    assert f"skills/greeter: {reach_text(1)}" in cli("eval", "--dry-run", "--case", "c0").out
