"""Which verdicts are drawn to be read: both kinds, each once, no arm, and the same ones every time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skillassay.calibration.items import labelled_answer
from skillassay.calibration.sampling import Drawn, called_wrong, draw_verdicts, judged_verdicts
from skillassay.calibration.verdicts_read import VerdictRead
from skillassay.runs.plan import Mode
from skillassay.runs.record import Mark, TrialRecord
from skillassay.scoring.scores import Row, score_run
from tests.trials import plan_of, planned_case, scored, unscored

MARKS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.booleans()), max_size=25, unique=True)


def drawn_of(found: list[tuple[str, int, bool]]) -> list[Drawn]:
    """A verdict of each skill, answer and kind."""
    (trial, *_) = plan_of(planned_case("a")).trials
    record = scored(trial, 5)
    return [
        Drawn(
            point=(f"{skill}{answer}", "r0", "PASS" if passed else "FAIL"),
            record=replace(record, skill_path=skill),
            mark=Mark(id="r0", by="judge", verdict="PASS" if passed else "FAIL", evidence="e"),
        )
        for skill, answer, passed in found
    ]


@given(found=MARKS, n_each=st.integers(1, 8), seed=st.integers(0, 99))
def test_both_kinds_are_drawn_wherever_both_exist(found: list[tuple[str, int, bool]], n_each: int, seed: int) -> None:
    """Of each skill as many as asked or all there are, none twice; from two on both kinds, as even as they can be."""
    verdicts = drawn_of(found)
    drawn = draw_verdicts(verdicts, n_each=n_each, seed=seed)
    assert len({one.point for one in drawn}) == len(drawn)
    assert set(drawn) <= set(verdicts)
    for skill in "ab":
        there = Counter(one.mark.verdict for one in verdicts if one.skill_path == skill)
        taken = Counter(one.mark.verdict for one in drawn if one.skill_path == skill)
        assert taken.total() == min(n_each, there.total())
        for kind, other in (("PASS", "FAIL"), ("FAIL", "PASS")):
            # A kind is short of its half only where it has no more.
            assert taken[kind] >= min(there[kind], n_each // 2)
            assert n_each < 2 or taken[kind] > 0 or there[kind] == 0 or there[other] == 0


@given(found=MARKS, seed=st.integers(0, 99))
def test_the_draw_depends_on_the_run_and_the_seed_alone(found: list[tuple[str, int, bool]], seed: int) -> None:
    """Not on the order in which trials ended, so that the next session has the same sample."""
    verdicts = drawn_of(found)
    assert draw_verdicts(verdicts, n_each=3, seed=seed) == draw_verdicts(verdicts[::-1], n_each=3, seed=seed)


@given(found=MARKS, n_each=st.integers(1, 6))
def test_a_larger_sample_holds_the_smaller_one(found: list[tuple[str, int, bool]], n_each: int) -> None:
    """Who reads more begins with what the contract asks for."""
    verdicts = drawn_of(found)
    smaller, larger = (set(draw_verdicts(verdicts, n_each=n, seed=0)) for n in (n_each, n_each + 1))
    assert smaller <= larger


def rows_of(*records: TrialRecord) -> tuple[Row, ...]:
    """The rows of these records of the case a."""
    return score_run(plan_of(planned_case("a")), records, slices={}).rows


CASES = {"q/a": "digest-a"}


def records(answers: dict[Mode, str], k: int = 3) -> list[TrialRecord]:
    """A scored record of each trial, ``k`` of five criteria passed."""
    return [replace(scored(trial, k), answer=answers[trial.mode]) for trial in plan_of(planned_case("a")).trials]


SAME = dict.fromkeys((Mode.PROGRESSIVE, Mode.EAGER, Mode.NONE), "hello")


def test_the_same_verdict_on_the_same_words_is_one_whichever_arm_answered() -> None:
    """Three modes, one answer, five criteria: five verdicts; with another answer in one of them ten."""
    assert len(judged_verdicts(rows_of(*records(SAME)), CASES, hidden=None)) == 5
    other = records(SAME | {Mode.NONE: "good day"})
    assert len(judged_verdicts(rows_of(*other), CASES, hidden=None)) == 10


def test_a_verdict_without_a_score_behind_it_a_hidden_one_and_code_s_are_none() -> None:
    """Nothing rests on the first, nobody may see the second, nobody judged the third."""
    (trial, *_) = plan_of(planned_case("a")).trials
    assert judged_verdicts(rows_of(unscored(trial, k=2)), CASES, hidden=None) == ()
    assert judged_verdicts(rows_of(*records(SAME)), CASES, hidden="q") == ()
    (first, *_) = records(SAME)
    coded = replace(first, marks=tuple(replace(mark, by="code") for mark in first.marks))
    assert judged_verdicts(rows_of(coded), CASES, hidden=None) == ()


def test_what_is_called_wrong_is_found_in_every_trial_that_has_it() -> None:
    """The same answer, criterion and verdict; not another verdict on it, not another answer."""
    found = records(SAME | {Mode.NONE: "good day"})
    answer = labelled_answer(found[0], "digest-a")
    assert answer is not None
    word = VerdictRead(
        at="t",
        by="Mika Sato",
        run="r",
        suite="q",
        case_id="a",
        case_digest="digest-a",
        criterion="r0",
        rubric="b",
        verdict="PASS",
        said="wrong",
        answer=answer.id,
    )
    same = {one.trial_id for one in found if one.answer == found[0].answer}
    rows = rows_of(*found)
    assert called_wrong(rows, [word], CASES) == dict.fromkeys(same, (("r0", "Mika Sato"),))
    assert called_wrong(rows, [replace(word, verdict="FAIL")], CASES) == {}
    assert called_wrong(rows, [replace(word, answer="other")], CASES) == {}
