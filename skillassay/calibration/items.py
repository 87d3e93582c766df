"""What there is to label: answers of stored runs with the criteria that a judge decides on them. Pure.

A person is shown what the judge is shown and nothing more: no mode, no skill, no verdict, no other person's word. The
same words given twice are one answer. The order is a seeded shuffle, which mixes arms and cases, so that nobody can
tell from the place in the list what made an answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillassay.calibration.judged import Statement
from skillassay.calibration.labels import LabelledAnswer, Point
from skillassay.runs.record import TrialRecord
from skillassay.suites.case import BEHAVIOR_MARKS, Case, Criterion

CaseKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One criterion of one answer, with what a reader needs to decide it."""

    answer: LabelledAnswer
    case: Case
    criterion: Criterion

    @property
    def point(self) -> Point:
        """What a label on it is about."""
        return (self.answer.id, self.criterion.id)


def judged_criteria(case: Case) -> tuple[Criterion, ...]:
    """What a judge decides of a case: its rubric, and what its behaviour requires and forbids."""
    prose: tuple[Criterion, ...] = ()
    if case.behavior is not None:
        required, forbidden = BEHAVIOR_MARKS[2:]
        prose = (
            Criterion(id=required, text=f"The response does what is required: {case.behavior.required}"),
            Criterion(
                id=forbidden,
                text=f"The response does nothing that is forbidden: {case.behavior.forbidden}",
                absence=True,
            ),
        )
    return (*prose, *case.rubric)


def statements_of(cases: Iterable[Case]) -> frozenset[Statement]:
    """Everything that a judge decides of these cases."""
    return frozenset((f"{case.suite}/{case.id}", item.id) for case in cases for item in judged_criteria(case))


def labelled_answer(record: TrialRecord, case_digest: str) -> LabelledAnswer | None:
    """The answer of a trial as labels name it; None where none was given or kept."""
    if record.answer is None:
        return None
    return LabelledAnswer(suite=record.suite, case_id=record.case_id, case_digest=case_digest, text=record.answer)


def build_items(records: Iterable[TrialRecord], cases: Mapping[CaseKey, Case], *, seed: int) -> tuple[Item, ...]:
    """Every criterion of every distinct answer to ``cases``, in the order of ``seed``.

    ``cases`` are those that still are what the run asked: an answer to another version is nothing to label now.
    """
    found: dict[Point, Item] = {}
    for record in records:
        case = cases.get((record.suite, record.case_id))
        answer = None if case is None else labelled_answer(record, case.digest)
        if case is None or answer is None:
            continue
        for criterion in judged_criteria(case):
            item = Item(answer=answer, case=case, criterion=criterion)
            found.setdefault(item.point, item)
    return shuffled(tuple(found.values()), seed=seed)


def shuffled(items: Sequence[Item], *, seed: int) -> tuple[Item, ...]:
    """The items in an order that depends on them and on the seed alone, the criteria of one answer together.

    Together, since who has read an answer decides all of it at once; reading it again for each would tire him.
    """
    by_answer: dict[str, list[Item]] = {}
    for item in items:
        by_answer.setdefault(item.answer.id, []).append(item)
    order = sorted(by_answer)
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
    return tuple(item for answer in order for item in by_answer[answer])
