"""Trying a trial of a stored run again. Owns which trials may be, how much of them, and what is left of a plan.

A trial is tried again for reasons of the judge, of the provider or of this machine: those say nothing about the
candidate. It never is for what the candidate did: a score, an answer that breaks the contract, one that was cut at its
limit or that the provider withheld for what it says. Asked again until it goes well, such a trial would be a selected
one. For the same reason it is not where the provider ended an answer without one or gave an empty one, nor where a
command-line agent took the time of all its turns: that is its turn limit by the clock. An abstention that the case
allows is a verdict and waits for a person; a check that cannot decide would not decide the next time.

An answer that was observed stays: where the judge failed on it, the judge alone is asked again, about that answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillassay.errors import REPLAY_MISS, Reason, Stage
from skillassay.runs.plan import Plan, PlannedTrial
from skillassay.runs.record import TrialRecord


class Again(StrEnum):
    """How much of a trial is tried again: all of it, or the judge's part on the answer that is there."""

    WHOLE = "whole"
    JUDGE = "judge"


_NOT_THE_CANDIDATE = frozenset(
    {
        Reason.PROVIDER_ERROR,
        Reason.TIMEOUT,
        Reason.MISSING_CAPABILITY,
        Reason.INTERRUPTED,
        Reason.BUDGET_BLOCKED,
        Reason.HARNESS_ERROR,
    }
)
_AS_IT_ANSWERED = frozenset(
    {(Reason.PROVIDER_ERROR, "finish"), (Reason.PROVIDER_ERROR, "empty"), (Reason.TIMEOUT, "agent")}
)
"""Reasons with their kind that say something about the candidate all the same."""
_THE_JUDGE = frozenset(
    {*_NOT_THE_CANDIDATE, Reason.CONTRACT_ERROR, Reason.BLOCKED, Reason.TRUNCATED, Reason.UNGROUNDED}
)


def again_of(record: TrialRecord) -> Again | None:
    """How much of a recorded trial may be tried again; None for nothing of it."""
    outcome = record.outcome
    if outcome.kind == REPLAY_MISS:
        return None  # a recording holds tomorrow what it holds today, and with another one it is another run
    if outcome.stage is Stage.JUDGE:
        if outcome.reason not in _THE_JUDGE:
            return None
        # A record whose texts were not kept has no answer to ask about.
        return Again.WHOLE if record.answer is None else Again.JUDGE
    if record.was_answered or (outcome.reason, outcome.kind) in _AS_IT_ANSWERED:
        return None
    return Again.WHOLE if outcome.reason in _NOT_THE_CANDIDATE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """What is left of a plan, in its order. ``earlier`` has the last record of each trial that is tried again."""

    trials: tuple[PlannedTrial, ...]
    n_planned: int
    earlier: Mapping[str, TrialRecord] = field(default_factory=dict)


def build_todo(plan: Plan, records: Iterable[TrialRecord], *, retry_unscored: bool = False) -> Todo:
    """The trials that have no record, and under ``retry_unscored`` those whose last record may be tried again."""
    last: dict[str, tuple[int, TrialRecord | None]] = {}
    for record in records:
        if record.attempt >= last.get(record.trial_id, (0, None))[0]:
            # A scored record is of no further use, and holding thousands of them would be.
            last[record.trial_id] = (record.attempt, record if retry_unscored and again_of(record) else None)
    earlier = {trial_id: record for trial_id, (_, record) in last.items() if record is not None}
    trials = tuple(trial for trial in plan.trials if trial.trial_id not in last or trial.trial_id in earlier)
    return Todo(trials=trials, n_planned=len(plan.trials), earlier=earlier)
