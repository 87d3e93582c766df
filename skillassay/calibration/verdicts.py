"""What a judge says on labelled points: read from the records of a run, or asked anew. Writes nothing.

An answer that the judge could not decide by its own rules (a broken reply, a quotation that does not stand in the
answer, an abstention, samples that differ) has no verdict here either, and neither has one on which it said both: none
is guessed, and all are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from skillassay.calibration.items import labelled_answer
from skillassay.calibration.judged import PROSE_MARKS, names_of
from skillassay.calibration.labels import LabelledAnswer, Point
from skillassay.contract.terms import JudgeTerms
from skillassay.errors import TrialError
from skillassay.judging.behavior import ask_verdict, judge_marks, parse_answer
from skillassay.judging.judge import ask_judge
from skillassay.judging.samples import PASS, Ruling, Word, combine
from skillassay.models.base import Model, ModelReply, sample_slot
from skillassay.runs.record import TrialRecord
from skillassay.runs.verdicts import rubric_words
from skillassay.suites.case import Case


@dataclass(slots=True, kw_only=True)
class Verdicts:
    """What a judge said, by point; why it said nothing; and the names under which it answered, None for no name."""

    said: dict[Point, bool] = field(default_factory=dict)
    unanswered: dict[Point, str] = field(default_factory=dict)
    answered: set[str | None] = field(default_factory=set)

    def add(self, point: Point, *, passed: bool) -> None:
        """One verdict. A second one that says otherwise takes both out."""
        if point in self.unanswered:
            return
        if self.said.get(point, passed) is not passed:
            del self.said[point]
            self.unanswered[point] = "the judge passed and failed it"
            return
        self.said[point] = passed


def recorded_verdicts(records: Iterable[TrialRecord], cases: Mapping[str, str], points: Iterable[Point]) -> Verdicts:
    """What the judge of a run said on ``points``. ``cases`` are the digests of the run's cases by ``suite/id``.

    A point on an answer that the run does not hold is in neither list: it was not asked.
    """
    wanted: dict[str, set[str]] = {}
    for answer_id, criterion in points:
        wanted.setdefault(answer_id, set()).add(criterion)
    found = Verdicts()
    for record in records:
        answer = labelled_answer(record, cases.get(f"{record.suite}/{record.case_id}", ""))
        if answer is None or answer.id not in wanted:
            continue
        marks = {mark.id: mark.passed for mark in record.marks if mark.by == "judge"}
        found.answered |= {name for name in names_of(record.judge) if name is not None}
        for criterion in wanted[answer.id]:
            if criterion in marks:
                found.add((answer.id, criterion), passed=marks[criterion])
            elif (answer.id, criterion) not in found.said:
                reason = record.outcome.reason
                found.unanswered[answer.id, criterion] = "no verdict" if reason is None else reason.value
    return found


def asked_verdicts(
    judge: Model,
    answers: Iterable[tuple[LabelledAnswer, Case, frozenset[str]]],
    terms: JudgeTerms,
    *,
    tell: Callable[[int], None],
) -> Verdicts:
    """Ask the judge about each answer on the criteria named. ``tell`` hears how many are done."""
    found = Verdicts()
    for number, (answer, case, criteria) in enumerate(answers, start=1):
        if criteria & set(PROSE_MARKS):
            _ask(found, answer, criteria & set(PROSE_MARKS), partial(_prose, judge, case, answer.text, terms))
        if criteria - set(PROSE_MARKS):
            _ask(found, answer, criteria - set(PROSE_MARKS), partial(_rubric, judge, case, answer.text, terms))
        tell(number)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What all samples on one answer come to, by criterion, and the names under which they answered."""

    rulings: dict[str, Ruling]
    names: frozenset[str | None]


def _ask(found: Verdicts, answer: LabelledAnswer, criteria: Iterable[str], ask: Callable[[], _Said]) -> None:
    try:
        said = ask()
    except TrialError as error:
        found.unanswered |= {(answer.id, criterion): error.reason.value for criterion in criteria}
        return
    found.answered |= said.names
    for criterion in criteria:
        ruling = said.rulings.get(criterion)
        if ruling is not None and ruling.why is None:
            found.add((answer.id, criterion), passed=ruling.verdict == PASS)
        else:
            why = None if ruling is None else ruling.why
            found.unanswered[answer.id, criterion] = "no verdict" if why is None else why.value


def _prose(judge: Model, case: Case, text: str, terms: JudgeTerms) -> _Said:
    structured = parse_answer(text)
    replies = [
        ask_verdict(judge, case, structured, timeout_s=terms.timeout_s, slot=sample_slot("", number))
        for number in range(1, terms.samples + 1)
    ]
    samples = [
        {mark.id: Word(verdict=mark.verdict, evidence=mark.evidence) for mark in judge_marks(reply.turn.text)}
        for reply in replies
    ]
    return _said(replies, samples, dict.fromkeys(PROSE_MARKS, case.critical))


def _rubric(judge: Model, case: Case, text: str, terms: JudgeTerms) -> _Said:
    shown = parse_answer(text).response if case.behavior is not None else text
    replies = [
        ask_judge(judge, case, shown, terms, slot=sample_slot("", number)) for number in range(1, terms.samples + 1)
    ]
    samples = [rubric_words(reply.turn.text, case, shown) for reply in replies]
    return _said(replies, samples, {one.id: case.critical or one.critical for one in case.rubric})


def _said(replies: Iterable[ModelReply], samples: Sequence[Mapping[str, Word]], critical: Mapping[str, bool]) -> _Said:
    return _Said(
        rulings={
            name: combine([words[name] for words in samples], critical=is_critical)
            for name, is_critical in critical.items()
        },
        names=frozenset(reply.model for reply in replies),
    )
