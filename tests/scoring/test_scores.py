"""Scoring: denominators come from the plan, errors are no failures, and every figure has its counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillassay.errors import Reason, Stage
from skillassay.runs.plan import Mode, Plan
from skillassay.runs.record import Spent, TrialRecord
from skillassay.scoring.effects import exact_lift
from skillassay.scoring.scores import Scores, rate_of, score_run
from skillassay.statistics.rates import wilson
from skillassay.transcript import Usage
from tests.trials import plan_of, planned_case, scored, turn_limit, unscored

OUTCOMES = st.one_of(
    st.integers(0, 5),
    st.sampled_from([Reason.TIMEOUT, Reason.CONTRACT_ERROR, Reason.HELD]),
    st.sampled_from([None, "turns"]),
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Plan, list[TrialRecord]]:
    """A random plan over two skills and slices, and random records in random order, some missing."""
    cases = [
        planned_case(f"c{i}", n=draw(st.integers(1, 5)), skill=f"skills/{'xy'[i % 2]}")
        for i in range(draw(st.integers(0, 5)))
    ]
    modes = draw(st.sets(st.sampled_from(Mode), min_size=1))
    plan = plan_of(*cases, modes=tuple(modes), repeats=draw(st.integers(1, 2)))
    records = []
    for trial in plan.trials:
        outcome = draw(OUTCOMES)
        if isinstance(outcome, int):
            records.append(scored(trial, min(outcome, trial.n_criteria)))
        elif isinstance(outcome, Reason):
            records.append(unscored(trial, outcome, k=draw(st.integers(0, trial.n_criteria))))
        elif outcome is not None:
            records.append(turn_limit(trial))
    return plan, draw(st.permutations(records))


def score(plan: Plan, records: list[TrialRecord]) -> Scores:
    """Scores with the even cases in a slice."""
    slices = {(t.suite, t.case_id): "even" for t in plan.trials if t.case_id in {"c0", "c2", "c4"}}
    return score_run(plan, records, slices=slices)


@given(runs())
@settings(deadline=None)
def test_nothing_planned_vanishes(run: tuple[Plan, list[TrialRecord]]) -> None:
    """Law: passed + failed + unscored == planned, in the whole, in each mode and in each slice."""
    plan, records = run
    scores = score(plan, records)
    rate = rate_of(scores.rows)
    assert rate.passed + rate.failed + rate.unscored == rate.planned == len(plan.trials)
    assert sum(total.trials.planned for total in scores.totals) == len(plan.trials)
    for total in scores.totals:
        of_mode = [trial for trial in plan.trials if trial.mode is total.mode]
        assert total.trials.planned == len(of_mode)
        assert total.n_planned == sum(trial.n_criteria for trial in of_mode)
    for part in scores.slices:
        even = [trial for trial in plan.trials if trial.case_id in {"c0", "c2", "c4"}]
        assert sum(total.trials.planned for total in part.totals) == len(even)


@given(runs())
@settings(deadline=None)
def test_unscored_trials_change_no_figure_of_others(run: tuple[Plan, list[TrialRecord]]) -> None:
    """Law: k and n are those of the scored trials alone; the reasons count exactly the unscored ones."""
    plan, records = run
    scores = score(plan, records)
    for total in scores.totals:
        of_mode = [r for r in records if r.mode == total.mode.value and r.outcome.scored]
        assert (total.k, total.n) == (sum(r.k for r in of_mode), sum(r.n_criteria for r in of_mode))
        assert (total.trials.passed, total.trials.failed) == (
            sum(r.outcome.status == "PASS" for r in of_mode),
            sum(r.outcome.status == "FAIL" for r in of_mode),
        )
        assert total.interval == wilson(total.k, total.n)
    assert sum(n for _, _, n in scores.reasons) == rate_of(scores.rows).unscored


@given(runs())
@settings(deadline=None)
def test_the_order_of_records_does_not_count(run: tuple[Plan, list[TrialRecord]]) -> None:
    """Law: trials end in any order."""
    plan, records = run
    assert score(plan, records) == score(plan, records[::-1])


@given(runs())
@settings(deadline=None)
def test_lifts_pair_cases_scored_in_both_modes(run: tuple[Plan, list[TrialRecord]]) -> None:
    """Law: a lift is the mean over cases of the difference of shares, each case counted once, whole or not at all."""
    plan, records = run
    if not {Mode.PROGRESSIVE, Mode.NONE} <= set(plan.modes):
        assert score(plan, records).lifts == ()
        return
    by_id = {record.trial_id: record for record in records}
    for lift in score(plan, records).lifts:
        differences = []
        cases = {t.case_id for t in plan.trials if t.skill_path == lift.skill_path}
        for case in cases:
            arms = []
            for mode in (Mode.PROGRESSIVE, Mode.NONE):
                found = [by_id.get(t.trial_id) for t in plan.trials if t.case_id == case and t.mode is mode]
                shares = [Fraction(r.k, r.n_criteria) for r in found if r is not None and r.outcome.scored]
                arms.append(sum(shares, Fraction(0)) / len(found) if len(shares) == len(found) else None)
            if arms[0] is not None and arms[1] is not None:
                differences.append(arms[0] - arms[1])
        assert (lift.n_cases, lift.n_planned) == (len(differences), len(cases))
        expected = sum(differences, Fraction(0)) / len(differences) if differences else None
        assert exact_lift(score(plan, records).rows, lift.skill_path) == expected
        assert lift.difference.mean == (None if expected is None else pytest.approx(float(expected)))


def test_a_missing_record_is_interrupted() -> None:
    """What never ran is unscored, of the harness, and not a failure of the skill."""
    plan = plan_of(planned_case("a"))
    scores = score(plan, [])
    assert {row.record.outcome.reason for row in scores.rows} == {Reason.INTERRUPTED}
    assert [(total.k, total.n, total.n_planned) for total in scores.totals] == [(0, 0, 5)] * 3
    assert rate_of(scores.rows).interval is None


def test_a_turn_limit_is_none_of_n() -> None:
    """The candidate had its turns: a failure with k = 0, and n counts in full."""
    plan = plan_of(planned_case("a"), modes=(Mode.PROGRESSIVE,))
    (total,) = score(plan, [turn_limit(plan.trials[0])]).totals
    assert (total.k, total.n, total.trials.failed) == (0, 5, 1)


def test_the_last_attempt_counts() -> None:
    """A second attempt replaces the first, in whatever order they stand; records of no planned trial count nothing."""
    plan = plan_of(planned_case("a"), modes=(Mode.NONE,))
    (trial,) = plan.trials
    attempts = [unscored(trial), scored(trial, 4, attempt=2), replace(scored(trial, 5), trial_id="foreign")]
    for records in (attempts, attempts[::-1]):
        (total,) = score(plan, records).totals
        assert (total.k, total.n, total.trials.planned) == (4, 5, 1)


def test_reasons_are_counted_by_arm_and_stage() -> None:
    """An error that strikes one mode more often is seen."""
    plan = plan_of(planned_case("a"), planned_case("b"), modes=(Mode.PROGRESSIVE, Mode.NONE))
    records = [unscored(t, Reason.TIMEOUT, Stage.JUDGE) if t.mode is Mode.NONE else scored(t, 5) for t in plan.trials]
    assert score(plan, records).reasons == (("none", "timeout (judge)", 2),)


def test_repeats_are_averaged_inside_their_case() -> None:
    """The case is the unit: two repeats of one case do not count twice."""
    plan = plan_of(planned_case("a"), planned_case("b", n=2), modes=(Mode.PROGRESSIVE, Mode.NONE), repeats=2)
    k = {
        ("a", Mode.PROGRESSIVE): (5, 3),
        ("a", Mode.NONE): (0, 0),
        ("b", Mode.PROGRESSIVE): (2, 2),
        ("b", Mode.NONE): (1, 1),
    }
    records = [scored(t, k[t.case_id, t.mode][t.repeat - 1]) for t in plan.trials]
    (lift,) = score(plan, records).lifts
    assert lift.n_cases == 2
    assert exact_lift(score(plan, records).rows, "skills/s") == (Fraction(4, 5) + Fraction(1, 2)) / 2


def test_slices_have_subtotals() -> None:
    """A slice counts its own cases, in every mode."""
    plan = plan_of(planned_case("c0"), planned_case("c1"))
    (part,) = score(plan, [scored(trial, 5 if trial.case_id == "c0" else 0) for trial in plan.trials]).slices
    assert (part.name, part.n_cases, [total.k for total in part.totals]) == ("even", 1, [5, 5, 5])


def test_unknown_tokens_stay_unknown() -> None:
    """Where no token was told there is no count and no ratio, never a zero."""
    plan = plan_of(planned_case("a"))
    records = [replace(r, candidate=replace(r.candidate, usage=Usage())) for r in (scored(t, 5) for t in plan.trials)]
    scores = score(plan, records)
    assert [total.usage.input_tokens for total in scores.totals] == [None] * 3
    assert scores.token_ratio is None


GAPS = {
    "an answered call that told nothing": Spent(n_calls=1, n_attempts=1, usage=Usage(n_calls=1)),
    "the same in a record from before": Spent(n_calls=1, n_attempts=1, usage=Usage()),
    "a second call that never answered": Spent(n_calls=2, n_attempts=5, usage=Usage(input_tokens=9, n_calls=1)),
}


@pytest.mark.parametrize("spent", GAPS.values(), ids=GAPS)
def test_a_total_with_a_gap_is_no_total(spent: Spent) -> None:
    """One call without a count, and the sum of its mode is not known; a trial that made no call leaves no gap."""
    plan = plan_of(planned_case("a"), planned_case("b"), planned_case("c"), modes=(Mode.NONE,))
    told = Spent(n_calls=1, n_attempts=1, usage=Usage(input_tokens=7, n_calls=1))
    idle, whole, gap = (
        replace(scored(t, 5), candidate=s) for t, s in zip(plan.trials, (Spent(), told, spent), strict=True)
    )
    assert [total.usage.input_tokens for total in score(plan, [idle, whole]).totals] == [7]
    assert [total.usage.input_tokens for total in score(plan, [idle, whole, gap]).totals] == [None]


def test_the_token_ratio_is_eager_over_progressive() -> None:
    """300 tokens against 100 are three."""
    plan = plan_of(planned_case("a"))
    tokens = {Mode.EAGER: 300, Mode.PROGRESSIVE: 100, Mode.NONE: 50}
    records = []
    for trial in plan.trials:
        record = scored(trial, 5)
        records.append(
            replace(record, candidate=replace(record.candidate, usage=Usage(input_tokens=tokens[trial.mode])))
        )
    assert score(plan, records).token_ratio == 3


def test_retries_are_attempts_beyond_the_calls() -> None:
    """Two calls in three attempts are one retry."""
    plan = plan_of(planned_case("a"), modes=(Mode.NONE,))
    (total,) = score(plan, [scored(plan.trials[0], 5)]).totals
    assert (total.n_calls, total.n_retries) == (2, 1)
