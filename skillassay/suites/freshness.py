"""How old the facts of a case are. Owns from when on a snapshot is ageing, and from when on nobody is asked about it.

Of a freshness case the day counts on which its facts were taken from their source. Past half the limit ``check`` warns;
past the limit it says so too, and in a run the case has no score: an answer would be measured against what was true
once. The case stays readable as it is; a new snapshot is a new version of its suite.
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
STALE = register("suite.snapshot-stale", "The snapshot of a freshness case is older than freshness.max_age_days.")

FRESHNESS = "freshness"
MAX_AGE_DAYS = 365
"""The limit where the contract states none."""


def age_days(case: Case, on: date) -> int | None:
    """The age of a freshness case's snapshot on a day; None for every other case."""
    snapshot = case.source_snapshot
    if case.part != FRESHNESS or snapshot is None or snapshot.taken_at is None:
        return None
    return (on - snapshot.taken_at).days


def stale_outcome(case: Case, *, on: date, max_age_days: int | None) -> Outcome | None:
    """Why a case has no score on a day; None while its snapshot is within the limit."""
    limit, age = max_age_days or MAX_AGE_DAYS, age_days(case, on)
    if age is None or age <= limit:
        return None
    detail = f"{_words(case, age)} on {on.isoformat()}, the limit is {limit}"
    return Outcome(status="UNSCORED", reason=Reason.STALE, stage=Stage.HARNESS, detail=detail)


def freshness_findings(suites: Iterable[Suite], *, on: date, max_age_days: int | None) -> tuple[Finding, ...]:
    """A warning for each freshness case past half the limit: it can still be read, and run until the limit."""
    limit = max_age_days or MAX_AGE_DAYS
    found = []
    for suite in suites:
        for case in suite.cases:
            age = age_days(case, on)
            if age is None or 2 * age <= limit:
                continue
            is_stale = age > limit
            what = f"past the limit of {limit}: a run leaves it unscored" if is_stale else f"the limit is {limit}"
            found.append(
                Finding(
                    code=STALE if is_stale else AGEING,
                    severity=Severity.WARNING,
                    path=suite.path,
                    line=case.line,
                    message=f"case {case.id!r}: {_words(case, age)}, {what}",
                    hint="take a new snapshot, write it with its day, and raise the suite's version",
                )
            )
    return tuple(found)


def _words(case: Case, age: int) -> str:
    assert case.source_snapshot is not None
    return f"the snapshot of {case.source_snapshot.taken_at} is {age} days old"
