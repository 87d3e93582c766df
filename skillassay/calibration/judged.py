"""What the judge of a run decided and under which names it answered, by the records of the run. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from skillassay.calibration.pin import UNNAMED
from skillassay.runs.record import TrialRecord
from skillassay.suites.case import BEHAVIOR_MARKS

PROSE_MARKS = BEHAVIOR_MARKS[2:]
"""What a judge decides of a behaviour, under instructions of its own."""

Statement = tuple[str, str]
"""A case as ``suite/id``, and a criterion of it."""


def answered_names(records: Iterable[TrialRecord]) -> frozenset[str]:
    """The names under which the judge of a run answered; ``UNNAMED`` among them where some replies told none."""
    told: set[str] = set()
    is_silent = False
    for record in records:
        if record.judge.model is not None:
            told.add(record.judge.model)
        elif any(mark.by == "judge" for mark in record.marks):
            is_silent = True
    return frozenset(told | {UNNAMED}) if told and is_silent else frozenset(told)


def judged_points(records: Iterable[TrialRecord]) -> frozenset[Statement]:
    """What the judge of a run decided."""
    return frozenset(
        (f"{record.suite}/{record.case_id}", mark.id)
        for record in records
        for mark in record.marks
        if mark.by == "judge"
    )
