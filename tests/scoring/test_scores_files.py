"""Criteria that read a file of the workspace: they enter score and gate, and no lift."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.runs.plan import Mode, Plan, PlannedCase, PlannedTrial
from skillassay.runs.record import Mark, Outcome, TrialRecord
from skillassay.scoring.effects import exact_lift
from skillassay.scoring.scores import rate_of, score_run
from skillassay.suites.case import Case
from tests.scoring.test_scores import runs
from tests.trials import plan_of, planned_case, scored, unscored

BOTH = (Mode.PROGRESSIVE, Mode.NONE)


def marks(verdicts: list[bool]) -> tuple[Mark, ...]:
    """Marks of file checks."""
    return tuple(
        Mark(id=f"f{i}", by="code", verdict="PASS" if verdict else "FAIL", evidence="e", file="out.csv")
        for i, verdict in enumerate(verdicts)
    )


def with_files(trial: PlannedTrial, n: int) -> PlannedTrial:
    """The same trial with ``n`` file checks more."""
    return replace(trial, n_criteria=trial.n_criteria + n, n_file_checks=n)


def recorded(record: TrialRecord, verdicts: list[bool]) -> TrialRecord:
    """The same record with these file checks decided, where any mark was."""
    more = replace(record, n_criteria=record.n_criteria + len(verdicts))
    if not record.outcome.scored or record.outcome.kind == "turn_limit":
        return more
    more = replace(more, marks=(*marks(verdicts), *record.marks))
    return replace(more, outcome=Outcome(status="PASS" if more.k == more.n_criteria else "FAIL"))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tuple[Plan, list[TrialRecord]], tuple[Plan, list[TrialRecord]]]:
    """A random run, and the same run after some cases were given file checks, which came out somehow."""
    plan, records = draw(runs())
    n_of = {case: draw(st.integers(0, 3)) for case in sorted({trial.case_id for trial in plan.trials})}
    trials = tuple(with_files(trial, n_of[trial.case_id]) for trial in plan.trials)
    more = [
        recorded(record, draw(st.lists(st.booleans(), min_size=(n := n_of[record.case_id]), max_size=n)))
        for record in records
    ]
    return (plan, records), (replace(plan, trials=trials), more)


@given(pairs())
def test_file_checks_change_no_lift(
    pair: tuple[tuple[Plan, list[TrialRecord]], tuple[Plan, list[TrialRecord]]],
) -> None:
    """Law: whatever they come to, every figure of every lift is that of the run without them."""
    before, after = (score_run(plan, records, slices={}) for plan, records in pair)
    assert after.lifts == before.lifts
    assert after.overall_lift == before.overall_lift
    for skill in pair[0][0].skills:
        assert exact_lift(after.rows, skill) == exact_lift(before.rows, skill)


@given(pairs())
def test_file_checks_count_in_every_score(
    pair: tuple[tuple[Plan, list[TrialRecord]], tuple[Plan, list[TrialRecord]]],
) -> None:
    """Law: passed + failed + unscored == planned, and k of n counts each mark of each scored trial."""
    plan, records = pair[1]
    scores = score_run(plan, records, slices={})
    rate = rate_of(scores.rows)
    assert rate.passed + rate.failed + rate.unscored == len(plan.trials)
    decided = [record for record in records if record.outcome.scored]
    for total in scores.totals:
        here = [record for record in decided if record.mode == total.mode]
        assert total.k == sum(mark.passed for record in here for mark in record.marks)
        assert total.n == sum(record.n_criteria for record in here)


def run_of(n_answer: int, n_file: int) -> tuple[Plan, list[TrialRecord]]:
    """One case in which progressive passes everything and none nothing of the files and one of the answer's."""
    plan = (
        plan_of(planned_case("a", n=n_answer), modes=BOTH) if n_answer else plan_of(planned_case("a", n=1), modes=BOTH)
    )
    trials = tuple(replace(with_files(t, n_file), n_criteria=n_answer + n_file) for t in plan.trials)
    records = []
    for trial in trials:
        answer = replace(trial, n_criteria=n_answer, n_file_checks=0)
        is_none = trial.mode is Mode.NONE
        records.append(recorded(scored(answer, min(1, n_answer) if is_none else n_answer), [not is_none] * n_file))
    return replace(plan, trials=trials), records


def test_a_lift_counts_the_answers_criteria_alone() -> None:
    """4 of 4 against 1 of 4, though 6 of 6 and 1 of 6 were scored."""
    plan, records = run_of(4, 2)
    scores = score_run(plan, records, slices={})
    (lift,) = scores.lifts
    assert (lift.k_of, lift.n_of, lift.k_against, lift.n_against) == (4, 4, 1, 4)
    assert exact_lift(scores.rows, lift.skill_path) == Fraction(3, 4)
    assert [(total.k, total.n) for total in scores.totals] == [(6, 6), (1, 6)]


def test_a_case_of_file_checks_alone_is_in_no_lift() -> None:
    """Neither among its cases nor among those that were planned for it; its score stays."""
    plan, records = run_of(0, 2)
    scores = score_run(plan, records, slices={})
    (lift,) = scores.lifts
    assert (lift.n_cases, lift.n_planned, lift.difference.mean) == (0, 0, None)
    assert exact_lift(scores.rows, lift.skill_path) is None
    assert [(total.k, total.n) for total in scores.totals] == [(2, 2), (0, 2)]


def test_an_unscored_arm_of_such_a_case_is_in_no_lift_either() -> None:
    """What cannot be in it cannot be missing from it."""
    plan, records = run_of(0, 1)
    records = [unscored(trial) for trial in plan.trials]
    assert score_run(plan, records, slices={}).lifts[0].n_planned == 0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_plan_knows_how_many_criteria_read_a_file(n: int) -> None:
    """Counted from the specifications of the case's checks."""
    files = tuple({"id": f"f{i}", "type": "line_count", "min": 1, "file": "out.csv"} for i in range(n))
    answer = {"id": "says", "type": "contains", "text": "hello"}
    case = Case(id="a", skill="s", query="q", checks=(answer, *files), suite="q")
    plan = plan_of(PlannedCase(case=case, skill_path="s", skill_digest="bytes"))
    assert {(trial.n_criteria, trial.n_file_checks) for trial in plan.trials} == {(1 + n, n)}
