"""What became of a mutant, by the definitions: a case can kill when it passed unmutated on every repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from statsmodels.stats.proportion import proportion_confint

from skillassay.errors import Reason, Stage
from skillassay.mutation.verdicts import (
    Fate,
    Score,
    Verdict,
    build_score,
    judge_mutant,
    last_records,
    read_unmutated,
)
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import TrialRecord
from tests.trials import plan_of, planned_case, scored, turn_limit, unscored

N = 3
PASS, FAIL, LOST, NEVER = "pass", "fail", "lost", "never"


def record(trial: PlannedTrial, what: str) -> TrialRecord | None:
    """The record of a trial that went so; a failed one fails its last criterion alone."""
    made = {PASS: lambda: scored(trial, N), FAIL: lambda: scored(trial, N - 1), LOST: lambda: unscored(trial)}
    return None if what == NEVER else made[what]()


def verdict(unmutated: Mapping[str, Sequence[str]], mutated: Mapping[str, Sequence[str]]) -> Verdict:
    """What becomes of a mutant whose cases went so before and after; one word a repeat."""
    n_repeats = len(next(iter(unmutated.values())))
    plan = plan_of(*(planned_case(name, n=N) for name in unmutated), modes=[Mode.PROGRESSIVE], repeats=n_repeats)
    first, second = (
        last_records(
            made
            for trial in plan.trials
            if trial.case_id in words
            if (made := record(trial, words[trial.case_id][trial.repeat - 1])) is not None
        )
        for words in (unmutated, mutated)
    )
    cases = read_unmutated(plan.trials, first)
    able = {case.case_id for case in cases if case.can_kill}
    return judge_mutant("m", [trial for trial in plan.trials if trial.case_id in able], second, cases)


ONE_REPEAT = [
    ({"a": [PASS]}, {"a": [PASS]}, Fate.SURVIVED),
    ({"a": [PASS]}, {"a": [FAIL]}, Fate.KILLED),
    ({"a": [PASS]}, {"a": [LOST]}, Fate.UNDECIDED),
    ({"a": [PASS]}, {"a": [NEVER]}, Fate.UNDECIDED),
    ({"a": [PASS], "b": [PASS]}, {"a": [FAIL], "b": [LOST]}, Fate.KILLED),
    ({"a": [PASS], "b": [PASS]}, {"a": [PASS], "b": [LOST]}, Fate.UNDECIDED),
    ({"a": [PASS], "b": [FAIL]}, {"a": [PASS], "b": [FAIL]}, Fate.SURVIVED),
    ({"a": [PASS], "b": [LOST]}, {"a": [PASS]}, Fate.UNDECIDED),
    ({"a": [PASS], "b": [LOST]}, {"a": [FAIL]}, Fate.KILLED),
    ({"a": [FAIL]}, {"a": [FAIL]}, Fate.UNDECIDED),
    ({"a": [LOST]}, {"a": [FAIL]}, Fate.UNDECIDED),
]


@pytest.mark.parametrize(("unmutated", "mutated", "fate"), ONE_REPEAT)
def test_one_repeat(unmutated: dict[str, list[str]], mutated: dict[str, list[str]], fate: Fate) -> None:
    """Killed where something that passed fails; undecided where a needed trial has no score and nothing killed."""
    assert verdict(unmutated, mutated).fate is fate


THREE_REPEATS = [
    ([PASS, PASS, PASS], [FAIL, FAIL, PASS], Fate.KILLED),
    ([PASS, PASS, PASS], [FAIL, PASS, PASS], Fate.UNDECIDED),
    ([PASS, PASS, PASS], [FAIL, FAIL, LOST], Fate.KILLED),
    ([PASS, PASS, PASS], [FAIL, PASS, LOST], Fate.UNDECIDED),
    ([PASS, PASS, PASS], [FAIL, LOST, LOST], Fate.KILLED),  # on one of one scored repeat
    ([PASS, PASS, PASS], [PASS, PASS, LOST], Fate.UNDECIDED),
    ([PASS, PASS, FAIL], [FAIL, FAIL, FAIL], Fate.UNDECIDED),
    ([PASS, PASS, LOST], [FAIL, FAIL, FAIL], Fate.UNDECIDED),
]


@pytest.mark.parametrize(("unmutated", "mutated", "fate"), THREE_REPEATS)
def test_three_repeats(unmutated: list[str], mutated: list[str], fate: Fate) -> None:
    """More than half of the scored repeats must fail; a case that did not pass each time unmutated kills nothing."""
    assert verdict({"a": unmutated}, {"a": mutated}).fate is fate


@pytest.mark.parametrize("words", [*product((PASS, FAIL, LOST, NEVER), repeat=2)])
def test_half_of_the_repeats_is_not_more_than_half(words: tuple[str, str]) -> None:
    """Over all outcomes of two repeats: killed, exactly where no scored repeat passes and one fails."""
    found = verdict({"a": [PASS, PASS]}, {"a": words})
    assert (found.fate is Fate.KILLED) == (FAIL in words and PASS not in words)
    assert (found.fate is Fate.SURVIVED) == (words == (PASS, PASS))


def test_the_criterion_that_fails_is_named_with_its_share() -> None:
    """The last criterion fails on two of three repeats, the others on none."""
    (found,) = verdict({"a": [PASS] * 3}, {"a": [FAIL, PASS, FAIL]}).kills
    assert (found.case_id, found.mark_id, found.by) == ("a", "r2", "judge")
    assert (found.failed, found.scored, found.planned, found.evidence) == (2, 3, 3, "e")


def test_what_an_unscored_trial_saw_kills_nothing() -> None:
    """Its checks passed or failed, but the trial has no score."""
    plan = plan_of(planned_case("a", n=N), modes=[Mode.PROGRESSIVE])
    (trial,) = plan.trials
    cases = read_unmutated(plan.trials, {trial.trial_id: scored(trial, N)})
    lost = unscored(trial, Reason.UNGROUNDED, Stage.JUDGE, k=1)
    found = judge_mutant("m", plan.trials, {trial.trial_id: lost}, cases)
    assert (found.fate, found.failing, dict(found.reasons)) == (Fate.UNDECIDED, (), {"ungrounded": 1})
    assert found.why == "trials without a score: 1 ungrounded"


def test_a_turn_limit_fails_everything() -> None:
    """No answer within the turns: the trial is a FAIL without marks, so every criterion that passed fails."""
    plan = plan_of(planned_case("a", n=N), modes=[Mode.PROGRESSIVE])
    (trial,) = plan.trials
    cases = read_unmutated(plan.trials, {trial.trial_id: scored(trial, N)})
    found = judge_mutant("m", plan.trials, {trial.trial_id: turn_limit(trial)}, cases)
    assert [(one.mark_id, one.evidence) for one in found.kills] == [(f"r{n}", "turn_limit") for n in range(N)]


def test_the_last_attempt_counts() -> None:
    """A trial that was tried again is what its last attempt says, in whatever order they are read."""
    (trial,) = plan_of(planned_case("a", n=N), modes=[Mode.PROGRESSIVE]).trials
    attempts = [unscored(trial), scored(trial, N, attempt=2)]
    for order in (attempts, attempts[::-1]):
        assert last_records(order)[trial.trial_id].outcome.status == "PASS"


def test_why_a_mutant_is_undecided() -> None:
    """Each cause in its words."""
    assert verdict({"a": [FAIL]}, {}).why == "no case passes unmutated"
    assert verdict({"a": [PASS]}, {"a": [NEVER]}).why == "trials without a score: 1 not run"
    assert verdict({"a": [PASS], "b": [LOST]}, {"a": [PASS]}).why == "unscored unmutated: b"
    assert (
        verdict({"a": [PASS] * 2}, {"a": [PASS, FAIL]}).why == "fails, but not on more than half: r2 on 1 of 2 repeats"
    )


@pytest.mark.parametrize(("killed", "survived"), [(0, 5), (5, 0), (16, 39), (1, 1)])
def test_the_score_has_wilsons_interval_over_what_is_decided(killed: int, survived: int) -> None:
    """As statsmodels has it; undecided ones are in neither number."""
    score = Score(killed=killed, survived=survived, undecided=7)
    low, high = proportion_confint(killed, killed + survived, method="wilson")
    assert score.interval is not None
    assert [score.interval.low, score.interval.high] == pytest.approx([low, high])


def test_nothing_decided_has_no_interval() -> None:
    """0 of 0 is no share."""
    undecided = verdict({"a": [FAIL]}, {})
    assert build_score([undecided, undecided]) == Score(killed=0, survived=0, undecided=2)
    assert build_score([undecided]).interval is None
