"""What the judge of a run decided and under which names it answered, by the records of the run. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from skillassay.calibration.pin import UNNAMED
from skillassay.runs.record import Spent, TrialRecord
from skillassay.suites.case import BEHAVIOR_MARKS

PROSE_MARKS = BEHAVIOR_MARKS[2:]
"""What a judge decides of a behaviour, under instructions of its own."""

Statement = tuple[str, str]
"""A case as ``suite/id``, and a criterion of it."""


JUDGE, SECOND = "judge", "second"
"""The sides of a record that judge."""


def names_of(spent: Spent | None) -> tuple[str | None, ...]:
    """Every name under which one side of a trial answered, None for replies that told none."""
    return () if spent is None else spent.models or (spent.model,)


def told_names(names: Iterable[str | None]) -> frozenset[str]:
    """The names that are one; ``UNNAMED`` among them where some replies told none and others did."""
    every = set(names)
    told = {name for name in every if name is not None}
    return frozenset(told | {UNNAMED}) if told and None in every else frozenset(told)


def answered_names(records: Iterable[TrialRecord], side: str = JUDGE) -> frozenset[str]:
    """The names under which a judge of a run answered; ``UNNAMED`` among them where some replies told none."""
    found: list[str | None] = []
    for record in records:
        spent: Spent | None = getattr(record, side)
        # Without a name and without a word there was no reply, or one that decided nothing.
        is_heard = spent is not None and (spent.models or spent.model is not None or _spoke(record, side))
        found += names_of(spent) if is_heard else ()
    return told_names(found)


def _spoke(record: TrialRecord, side: str) -> bool:
    if side == JUDGE:
        return any(mark.by == "judge" for mark in record.marks)
    return any(sample.side == side and sample.words for sample in record.samples)


def judged_points(records: Iterable[TrialRecord]) -> frozenset[Statement]:
    """What the judge of a run decided."""
    return frozenset(
        (f"{record.suite}/{record.case_id}", mark.id)
        for record in records
        for mark in record.marks
        if mark.by == "judge"
    )
