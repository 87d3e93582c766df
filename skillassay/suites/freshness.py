"""How old the facts of a case are. Owns from when on a snapshot is ageing, and from when on nobody is asked about it.

Of a freshness case the day counts on which its facts were taken from their source. Past half the limit ``check`` warns;
past the limit it says so too, and in a run the case has no score: an answer would be measured against what was true
once. The case stays readable as it is; a new snapshot is a new version of its suite.

A snapshot of a day that is still to come would never age: ``check`` refuses it, and a run has no score for it either.
Days are counted in UTC, and an author may be ahead of that by most of a day, so one day ahead is today.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from skillassay.errors import Reason, Stage
from skillassay.findings import Finding, Severity, register
from skillassay.runs.record import Outcome
from skillassay.suites.case import Case, Suite

AGEING = register(
    "suite.snapshot-ageing", "The snapshot of a freshness case is older than half freshness.max_age_days."
)
AHEAD = register("suite.snapshot-ahead", "The snapshot of a freshness case is dated more than a day after today.")
STALE = register("suite.snapshot-stale", "The snapshot of a freshness case is older than freshness.max_age_days.")

FRESHNESS = "freshness"
MAX_AGE_DAYS = 365
"""The limit where the contract states none."""
DAYS_AHEAD = 1
"""How far a snapshot's day may lie after that of a run: the clocks of the world are up to 14 hours ahead of UTC."""


def age_days(case: Case, on: date) -> int | None:
    """The age of a freshness case's snapshot on a day, negative before its day; None for every other case."""
    snapshot = case.source_snapshot
    if case.part != FRESHNESS or snapshot is None or snapshot.taken_at is None:
        return None
    return (on - snapshot.taken_at).days


def stale_outcome(case: Case, *, on: date, max_age_days: int | None) -> Outcome | None:
    """Why a case has no score on a day; None while its snapshot is within the limit and not of a day to come."""
    limit, age = max_age_days or MAX_AGE_DAYS, age_days(case, on)
    if age is None or -DAYS_AHEAD <= age <= limit:
        return None
    told = f"the limit is {limit}" if age > limit else "so nobody can have taken it"
    detail = f"{_words(case, age)} on {on.isoformat()}, {told}"
    return Outcome(status="UNSCORED", reason=Reason.STALE, stage=Stage.HARNESS, detail=detail)


def freshness_findings(suites: Iterable[Suite], *, on: date, max_age_days: int | None) -> tuple[Finding, ...]:
    """A warning for each freshness case past half the limit: it can still be read, and run until the limit.

    An error for one whose snapshot is of a day to come.
    """
    limit = max_age_days or MAX_AGE_DAYS
    found = []
    for suite in suites:
        for case in suite.cases:
            age = age_days(case, on)
            if age is None or (age >= -DAYS_AHEAD and 2 * age <= limit):
                continue
            code, what, hint = _verdict(age, limit)
            found.append(
                Finding(
                    code=code,
                    severity=Severity.ERROR if code == AHEAD else Severity.WARNING,
                    path=suite.path,
                    line=case.line,
                    message=f"case {case.id!r}: {_words(case, age)}, {what}",
                    hint=hint,
                )
            )
    return tuple(found)


def _verdict(age: int, limit: int) -> tuple[str, str, str]:
    """Code, words and next step for a snapshot of an age that is worth a word."""
    if age < 0:
        return AHEAD, "so it would never go stale: a run leaves it unscored", "write the day on which it was taken"
    hint = "take a new snapshot, write it with its day, and raise the suite's version"
    if age > limit:
        return STALE, f"past the limit of {limit}: a run leaves it unscored", hint
    return AGEING, f"the limit is {limit}", hint


def _words(case: Case, age: int) -> str:
    assert case.source_snapshot is not None
    told = f"is {age} days old" if age >= 0 else f"lies {-age} days ahead"
    return f"the snapshot of {case.source_snapshot.taken_at} {told}"
