"""Parts of the dataset: each has its own counts, and challenge cases stand apart from totals and lift."""

from __future__ import annotations

import pytest

from skillassay.runs.plan import Mode
from skillassay.scoring.effects import exact_lift
from skillassay.scoring.scores import score_run
from skillassay.suites.parts import ALL_PARTS, cases_apart, part_totals
from tests.project import Cli, build_small, small_case, small_rules
from tests.trials import plan_of, planned_case, scored, unscored


def test_each_part_has_its_own_counts() -> None:
    """N, scored and passed by part and mode; parts without a case are not there, unscored trials stay in N."""
    plan = plan_of(planned_case("a"), planned_case("b"), planned_case("c"), modes=[Mode.PROGRESSIVE])
    trials = {trial.case_id: trial for trial in plan.trials}
    records = [scored(trials["a"], 5), scored(trials["b"], 2), unscored(trials["c"])]
    rows = score_run(plan, records, slices={}).rows
    parts = {("q", "a"): "representative", ("q", "b"): "holdout", ("q", "c"): "holdout"}
    found = {one.part: one for one in part_totals(rows, parts, plan.modes)}
    assert list(found) == ["representative", "holdout"]
    assert [(one.n_cases, one.trials.planned, one.trials.scored, one.trials.passed) for one in found.values()] == [
        (1, 1, 1, 1),
        (2, 2, 1, 0),
    ]
    assert (found["holdout"].k, found["holdout"].n) == (2, 5)


def test_challenge_cases_enter_no_total_and_no_lift() -> None:
    """With a failed challenge case the others' totals and lift are what they are without it; its rows stay."""
    alone = plan_of(planned_case("a"), modes=[Mode.PROGRESSIVE, Mode.NONE])
    both = plan_of(planned_case("a"), planned_case("hard"), modes=[Mode.PROGRESSIVE, Mode.NONE])
    points = {("a", Mode.PROGRESSIVE): 5, ("a", Mode.NONE): 2, ("hard", Mode.PROGRESSIVE): 0, ("hard", Mode.NONE): 4}
    apart = cases_apart({("q", "a"): "representative", ("q", "hard"): "challenge"})
    first, second = (
        score_run(plan, [scored(t, points[t.case_id, t.mode]) for t in plan.trials], slices={}, apart=apart)
        for plan in (alone, both)
    )
    assert (second.totals, second.lifts, second.overall_lift) == (first.totals, first.lifts, first.overall_lift)
    assert exact_lift(second.counted, "skills/s") == exact_lift(first.rows, "skills/s")
    assert len(second.rows) == 4


def test_the_report_shows_challenge_apart_and_the_gate_still_sees_it(cli: Cli) -> None:
    """A failed challenge case: the totals say 3 of 3, its part 0 of 1, and the line on each case names it."""
    cases = [small_case(name) for name in ("one", "two", "three")] + [small_case("hard", part="challenge")]
    rules = [rule for name in ("one", "two", "three") for rule in small_rules(name)]
    build_small(cli.root, cases=cases, rules=[*rules, *small_rules("hard", good="good day")])
    ran = cli("eval", "--format", "json")
    result = ran.json
    assert ran.code == 1
    assert (result["metrics"]["modes"]["progressive"]["k"], result["metrics"]["modes"]["progressive"]["n"]) == (3, 3)
    parts = {(one["part"], one["mode"]): one for one in result["metrics"]["parts"]}
    assert (parts["challenge", "progressive"]["k"], parts["challenge", "progressive"]["n"]) == (0, 1)
    lines = {line["name"]: line for line in result["decision"]["lines"]}
    assert lines["beats_none"]["status"] == "passed"
    assert "hard" in lines["quality_min"]["detail"][0]
    assert "challenge (apart)  progressive" in cli("report").out
    assert "| challenge" in cli("report", "--format", "markdown").out


@pytest.mark.parametrize("part", ["representative", "challenge", "holdout"])
def test_the_words_of_parts(part: str) -> None:
    """The holdout is a part like those a case can name."""
    assert part in ALL_PARTS


def test_a_run_of_representative_cases_has_no_table_of_parts(cli: Cli) -> None:
    """Where there is one part, the totals say it all."""
    build_small(cli.root)
    assert "95 %\n---" not in cli("eval").out.replace("trials passed, Wilson 95 %", "")
