"""Results by part of the dataset. Owns which parts stand apart, and their table.

Challenge cases stand apart: they enter no total and no lift of the others, so that neither hides the other in an
average. Every line of the gate that looks at single cases sees them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Rate, Row, rate_of
from skillassay.suites.facts import PARTS

CHALLENGE = "challenge"
HOLDOUT = "holdout"
"""A place, not a field: the part of every case that lies outside the repository."""
ALL_PARTS = (*PARTS, HOLDOUT)

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTotal:
    """What the cases of one part came to in one mode. ``k`` of ``n`` are criteria of scored trials."""

    part: str
    mode: Mode
    n_cases: int
    k: int
    n: int
    trials: Rate


def cases_apart(parts: Mapping[_Key, str]) -> frozenset[_Key]:
    """The cases that enter no total and no lift."""
    return frozenset(key for key, part in parts.items() if part == CHALLENGE)


def part_totals(rows: Sequence[Row], parts: Mapping[_Key, str], modes: Sequence[Mode]) -> tuple[PartTotal, ...]:
    """The totals of every part that has a trial, by part and mode. A case of no known part is in none."""
    found = []
    for part in ALL_PARTS:
        own = [row for row in rows if parts.get((row.planned.suite, row.planned.case_id)) == part]
        n_cases = len({(row.planned.suite, row.planned.case_id) for row in own})
        found += [_total(part, mode, n_cases, [r for r in own if r.planned.mode is mode]) for mode in modes if own]
    return tuple(found)


def _total(part: str, mode: Mode, n_cases: int, rows: Sequence[Row]) -> PartTotal:
    scored = [row for row in rows if row.record.outcome.scored]
    return PartTotal(
        part=part,
        mode=mode,
        n_cases=n_cases,
        k=sum(row.record.k for row in scored),
        n=sum(row.planned.n_criteria for row in scored),
        trials=rate_of(rows),
    )
