"""What lines of the gate say of trials: where one stands, why it has no score, what failed in it. Owns that wording."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from skillassay.gate.lines import Cause, Status
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row


def progressive_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The trials that decide on a skill: those in which it was offered as an agent would offer it."""
    return tuple(row for row in rows if row.planned.mode is Mode.PROGRESSIVE)


def scored_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Those of the trials that have a score."""
    return tuple(row for row in rows if row.record.outcome.scored)


def below(scored: Sequence[Row], limit: Fraction) -> tuple[Row, ...]:
    """The scored trials whose k/n does not reach the limit, compared in integers."""
    return tuple(r for r in scored if r.record.k * limit.denominator < limit.numerator * r.planned.n_criteria)


def status_of(looked: Sequence[Row], *, failed: bool) -> Status:
    """Failed on what was scored; else not applicable with nothing to look at, and open while a trial has no score."""
    if failed:
        return Status.FAILED
    if not looked:
        return Status.NOT_APPLICABLE
    return Status.PASSED if all(row.record.outcome.scored for row in looked) else Status.UNDECIDED


def causes_of(rows: Sequence[Row]) -> tuple[Cause, ...]:
    """The cases that these trials are of, as what a line fails on."""
    cases = ((row.planned.skill_path, f"{row.planned.suite}/{row.planned.case_id}") for row in rows)
    return tuple(Cause(skill_path=path, case=case) for path, case in dict.fromkeys(cases))


def where(row: Row) -> str:
    """``case [mode #repeat]``."""
    return f"{row.planned.case_id} [{row.planned.mode.value} #{row.planned.repeat}]"


def why_unscored(row: Row) -> str:
    """The reason of a trial without a score, with its stage and detail."""
    outcome = row.record.outcome
    words = outcome.reason.value if outcome.reason else "unscored"
    return f"{words}{f' ({outcome.stage.value})' if outcome.stage else ''}: {outcome.detail or 'no detail'}"


def failed_marks(row: Row) -> str:
    """What failed in a trial, to be put behind its score; empty where nothing did."""
    if row.record.outcome.reason is not None or row.record.outcome.detail:
        return f", {row.record.outcome.detail}"
    failed = [mark.id for mark in row.record.marks if not mark.passed]
    return f", failed: {', '.join(failed)}" if failed else ""
