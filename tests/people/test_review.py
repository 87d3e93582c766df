"""The human queue: what enters it, what holds the gate, and what closes an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from skillassay.errors import Reason, Stage
from skillassay.gate.lines import Status
from skillassay.people.adjudication import VERDICTS, Adjudication, Target
from skillassay.people.review import Suspects, build_queue, doubts_by_case, nothing_held_line
from skillassay.runs.plan import ALL_MODES, Mode, PlannedTrial
from skillassay.runs.record import TrialRecord, content_digest
from skillassay.scoring.scores import Row, score_run
from tests.trials import plan_of, planned_case, scored, unscored

PEOPLE = ("Mika Sato", "Jo Berg", "Ada Roy")
CRITICAL = Suspects(critical=frozenset({("q", "a")}))
Say = Callable[[PlannedTrial], TrialRecord]


def good(trial: PlannedTrial) -> TrialRecord:
    """All passed."""
    return scored(trial, trial.n_criteria)


def left_open(trial: PlannedTrial, reason: Reason = Reason.JUDGE_ABSTAINED) -> TrialRecord:
    """An answer that the judge did not decide."""
    return replace(unscored(trial, reason, Stage.JUDGE), answer="hello")


def rows_of(say: Say = good, *, repeats: int = 1, modes: Iterable[Mode] = ALL_MODES) -> tuple[Row, ...]:
    """The trials of the cases a and b."""
    plan = plan_of(planned_case("a"), planned_case("b"), modes=tuple(modes), repeats=repeats)
    return score_run(plan, [say(trial) for trial in plan.trials], slices={}).rows


def only(mode: Mode, say: Say, repeat: int = 1) -> Say:
    """As ``good``, but one trial of the case a."""
    place = ("a", mode, repeat)
    return lambda trial: say(trial) if (trial.case_id, trial.mode, trial.repeat) == place else good(trial)


def about(rows: Iterable[Row], verdict: str, by: str = PEOPLE[0], **target: Any) -> Adjudication:
    """A person's word on trials of the case a."""
    aim = Target(suite="q", case_id="a", **target)
    looked = [
        row.record
        for row in rows
        if row.planned.case_id == "a"
        and aim.mode in {None, row.planned.mode.value}
        and aim.repeat in {None, row.planned.repeat}
    ]
    return Adjudication(target=aim, verdict=verdict, by=by, reason="r", record=content_digest(looked), at="t")


TRIAL: dict[str, Any] = {"mode": "progressive", "repeat": 1}


def test_a_clean_run_leaves_nothing_to_people() -> None:
    """No entry; the line passes."""
    queue = build_queue(rows_of(), (), CRITICAL)
    assert queue == ()
    assert nothing_held_line(queue).status is Status.PASSED


@pytest.mark.parametrize(
    ("reason", "kind", "holds"),
    [
        (Reason.JUDGE_ABSTAINED, "judge_abstained", False),
        (Reason.JUDGE_DISAGREED, "judge_disagreed", False),
        (Reason.UNGROUNDED, "ungrounded", False),
        (Reason.HELD, "held", True),
    ],
)
def test_what_the_judge_left_open_is_in_the_queue(reason: Reason, kind: str, holds: bool) -> None:
    """With its trial; it has no score already, so that only a trial held on purpose holds the line too."""
    rows = rows_of(only(Mode.PROGRESSIVE, lambda trial: left_open(trial, reason)))
    (entry,) = build_queue(rows, (), CRITICAL)
    assert (entry.kind, entry.is_open, entry.holds) == (kind, True, holds)
    assert entry.target == Target(suite="q", case_id="a", **TRIAL)


LEFT_TO_PEOPLE = {Reason.JUDGE_ABSTAINED, Reason.JUDGE_DISAGREED, Reason.UNGROUNDED, Reason.HELD}


@pytest.mark.parametrize("reason", sorted(set(Reason) - LEFT_TO_PEOPLE))
def test_what_no_person_can_decide_is_not(reason: Reason) -> None:
    """A provider's error, a cut answer, a missing capability: try again, do not ask people."""
    assert build_queue(rows_of(only(Mode.PROGRESSIVE, lambda t: unscored(t, reason))), (), CRITICAL) == ()


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("suspects", [CRITICAL, Suspects()], ids=["critical", "not critical"])
def test_repeats_that_disagree_are_flaky(mode: Mode, suspects: Suspects) -> None:
    """In every mode; the gate is held for a critical case in progressive alone."""
    rows = rows_of(only(mode, lambda trial: scored(trial, 0), repeat=2), repeats=3)
    (entry,) = build_queue(rows, (), suspects)
    assert (entry.kind, entry.why) == ("flaky", "2 of 3 scored repeats passed")
    assert entry.holds == (mode is Mode.PROGRESSIVE and suspects is CRITICAL)


def test_repeats_that_agree_are_not() -> None:
    """All failed, or one of them without a score beside passes, is no disagreement."""
    failing = only(Mode.PROGRESSIVE, lambda trial: scored(trial, 0))
    assert build_queue(rows_of(failing), (), CRITICAL) == ()
    broken = only(Mode.PROGRESSIVE, unscored, repeat=2)
    assert build_queue(rows_of(broken, repeats=3), (), CRITICAL) == ()


@pytest.mark.parametrize("words", list(product(VERDICTS, repeat=3)), ids="-".join)
def test_only_one_voice_closes_an_entry(words: tuple[str, ...]) -> None:
    """Three people on one abstention: closed when all say pass, or all say fail; never by two against one."""
    rows = rows_of(only(Mode.PROGRESSIVE, left_open))
    said = [about(rows, word, by, **TRIAL) for word, by in zip(words, PEOPLE, strict=True)]
    (entry,) = build_queue(rows, said, CRITICAL)
    agreed = set(words) in ({"pass"}, {"fail"})
    assert entry.is_open is not agreed
    assert entry.holds is not agreed
    assert (entry.kind == "disagreement") is (len(set(words)) > 1)
    assert len(entry.said) == 3


@pytest.mark.parametrize(
    ("k", "word", "kind", "is_open"),
    [
        (5, "pass", "held", False),
        (5, "fail", "disagreement", True),
        (5, "hold", "held", True),
        (5, "oracle-invalid", "oracle_doubt", True),
        (0, "pass", "disagreement", True),
        (0, "fail", "held", False),
        (0, "oracle-invalid", "oracle_doubt", True),
    ],
)
def test_a_score_is_a_voice_too(k: int, word: str, kind: str, is_open: bool) -> None:
    """Who contradicts a score is heard, as a disagreement that holds the gate."""
    rows = rows_of(only(Mode.PROGRESSIVE, lambda trial: scored(trial, k)))
    (entry,) = build_queue(rows, [about(rows, word, **TRIAL)], CRITICAL)
    assert (entry.kind, entry.is_open, entry.holds) == (kind, is_open, is_open)


def test_a_failed_check_is_not_talked_away() -> None:
    """Pass on an open trial in which a check failed closes nothing."""
    rows = rows_of(only(Mode.PROGRESSIVE, lambda trial: replace(left_open(trial), marks=scored(trial, 0).marks[:1])))
    (entry,) = build_queue(rows, [about(rows, "pass", **TRIAL)], CRITICAL)
    assert entry.is_open
    (entry,) = build_queue(rows, [about(rows, "fail", **TRIAL)], CRITICAL)
    assert not entry.is_open


@pytest.mark.parametrize(("word", "is_open"), [("pass", False), ("fail", True), ("hold", True)])
def test_a_case_under_suspicion_is_held(word: str, is_open: bool) -> None:
    """Until a person has looked at it and finds nothing."""
    suspects = Suspects(contaminated={("q", "a"): "case a: query in skills/s/SKILL.md"})
    rows = rows_of()
    (entry,) = build_queue(rows, (), suspects)
    assert (entry.kind, entry.holds, entry.target) == ("contamination", True, Target(suite="q", case_id="a"))
    (entry,) = build_queue(rows, [about(rows, word)], suspects)
    assert (entry.is_open, entry.holds) == (is_open, is_open)


def test_a_doubt_is_of_the_case_that_it_names() -> None:
    """One that names none is of every hidden case; an id that begins like another one is not it."""
    hidden = [("h", "a"), ("h", "ab")]
    assert doubts_by_case(["case ab: query in x"], hidden) == {("h", "ab"): "case ab: query in x"}
    assert set(doubts_by_case(["run r used it for tuning"], hidden)) == set(hidden)
    assert doubts_by_case([], hidden) == {}


def test_the_line_names_what_holds_it() -> None:
    """Undecided, with case, kind and reason; an entry that holds nothing is counted and not named."""
    rows = rows_of(only(Mode.PROGRESSIVE, left_open))
    queue = build_queue(rows, [about(rows, "hold", mode="none", repeat=1)], CRITICAL)
    line = nothing_held_line(queue)
    assert (line.status, line.number) == (Status.UNDECIDED, "1 held, 2 of 2 in the queue open")
    assert line.detail == ("a [none #1]: held, scored PASS",)


def test_ids_are_stable_and_apart() -> None:
    """The id is made of what it is about, so that it is the same in every listing."""
    rows = rows_of(only(Mode.PROGRESSIVE, left_open))
    said = [about(rows, "hold", mode="none", repeat=1), about(rows, "hold")]
    queue = build_queue(rows, said, CRITICAL)
    assert len({entry.id for entry in queue}) == 3
    assert {entry.id for entry in build_queue(rows, (), CRITICAL)} < {entry.id for entry in queue}


@pytest.mark.parametrize("k", [5, 2])
@pytest.mark.parametrize("speakers", list(product((False, True), repeat=2)), ids=["nobody", "other", "reader", "both"])
def test_a_verdict_that_is_called_wrong_holds_until_its_reader_lets_the_score_stand(
    k: int, speakers: tuple[bool, bool]
) -> None:
    """Whatever the score is, and whoever else says that it stands."""
    rows = rows_of(only(Mode.PROGRESSIVE, lambda trial: scored(trial, k)))
    (trial_id,) = (
        row.record.trial_id for row in rows if row.record.case_id == "a" and row.record.mode == "progressive"
    )
    reader_speaks, other_speaks = speakers
    who = (*((PEOPLE[0],) if reader_speaks else ()), *((PEOPLE[1],) if other_speaks else ()))
    said = [about(rows, "pass" if k == 5 else "fail", by, **TRIAL) for by in who]
    (entry,) = build_queue(rows, said, Suspects(wrong={trial_id: (("r1", PEOPLE[0]),)}))
    assert entry.kind == "verdict_wrong"
    assert entry.wrong == (("r1", PEOPLE[0]),)
    assert entry.is_open is entry.holds is not reader_speaks
    assert nothing_held_line([entry]).status is (Status.PASSED if reader_speaks else Status.UNDECIDED)


def test_a_reader_who_contradicts_the_score_disagrees_with_it() -> None:
    """Calling a verdict wrong and failing the trial that it passed: held as every disagreement is."""
    rows = rows_of()
    (trial_id,) = (
        row.record.trial_id for row in rows if row.record.case_id == "a" and row.record.mode == "progressive"
    )
    suspects = Suspects(wrong={trial_id: (("r1", PEOPLE[0]),)})
    (entry,) = build_queue(rows, [about(rows, "fail", PEOPLE[0], **TRIAL)], suspects)
    assert (entry.kind, entry.is_open, entry.holds) == ("disagreement", True, True)
