"""Lines of the gate about single trials: complete, quality, worst case, failures, critical failures. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from skillassay.errors import Reason
from skillassay.gate.lines import GateLine, Status, decimal_text
from skillassay.gate.rows import (
    below,
    causes_of,
    failed_marks,
    progressive_rows,
    scored_rows,
    status_of,
    where,
    why_unscored,
)
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row, mean_shares


def complete_line(rows: Sequence[Row]) -> GateLine:
    """Every planned trial has a score."""
    errors = [row for row in rows if not row.record.outcome.scored]
    detail = tuple(f"{where(row)}: {why_unscored(row)}" for row in errors)
    contract = sum(row.record.outcome.reason is Reason.CONTRACT_ERROR for row in errors)
    n_scored = len(rows) - len(errors)
    return GateLine(
        name="complete",
        status=Status.PASSED if rows and not errors else Status.UNDECIDED,
        number=f"{n_scored} of {len(rows)} trials scored, {contract} contract errors",
        limit="every planned trial",
        detail=detail or (() if rows else ("nothing was planned",)),
        counts={"scored": n_scored, "planned": len(rows), "contract_errors": contract},
    )


def quality_line(rows: Sequence[Row], limit: Fraction) -> GateLine:
    """k/n reaches the limit on each case and repeat in progressive, compared in integers."""
    line = _lowest_line("quality_min", rows, limit)
    n_scored, n_planned = line.counts["scored"], line.counts["planned"]
    return replace(
        line,
        number=f"worst {line.number}, {n_scored - line.counts['low']} of {n_scored} scored trials reach it"
        + (f", {n_planned - n_scored} without a score" if n_planned > n_scored else ""),
        limit=f"{line.limit} on every case in progressive",
    )


def worst_case_line(rows: Sequence[Row], limit: Fraction | None) -> list[GateLine]:
    """The lowest k/n of all reaches its own limit; no line where none is set."""
    return [] if limit is None else [_lowest_line("worst_case", rows, limit)]


def _lowest_line(name: str, rows: Sequence[Row], limit: Fraction) -> GateLine:
    """Every scored trial in progressive reaches the limit; the number is the lowest share of all."""
    looked = progressive_rows(rows)
    scored = scored_rows(looked)
    low = below(scored, limit)
    worst = min(scored, key=lambda row: Fraction(row.record.k, row.planned.n_criteria), default=None)
    lowest = {} if worst is None else {"worst_k": worst.record.k, "worst_n": worst.planned.n_criteria}
    return GateLine(
        name=name,
        # Without a progressive trial nothing was seen of the skill, and no other line may carry the decision.
        status=status_of(looked, failed=bool(low)) if looked else Status.UNDECIDED,
        number="none scored" if worst is None else f"{worst.record.k}/{worst.planned.n_criteria}",
        limit=f"k/n >= {decimal_text(limit)}",
        detail=tuple(f"{where(row)}: {row.record.k}/{row.planned.n_criteria}{failed_marks(row)}" for row in low),
        counts={"low": len(low), "scored": len(scored), "planned": len(looked), **lowest},
        causes=causes_of(low),
        otherwise=status_of(looked, failed=False),
    )


def failures_line(rows: Sequence[Row], limit: int | None) -> list[GateLine]:
    """No more progressive trials failed than allowed; no line where no limit is set."""
    if limit is None:
        return []
    looked = progressive_rows(rows)
    failed = [row for row in looked if row.record.outcome.status == "FAIL"]
    n_open = len(looked) - len(scored_rows(looked))
    status = Status.PASSED if looked and len(failed) + n_open <= limit else Status.UNDECIDED
    return [
        GateLine(
            name="failures",
            status=Status.FAILED if len(failed) > limit else status,
            number=f"{len(failed)} of {len(looked)} progressive trials failed",
            limit=f"<= {limit}",
            detail=tuple(f"{where(row)}{failed_marks(row)}" for row in failed) if len(failed) > limit else (),
            counts={"failed": len(failed), "unscored": n_open, "planned": len(looked), "limit": limit},
            causes=causes_of(failed),
            otherwise=Status.PASSED if n_open <= limit else Status.UNDECIDED,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Critical:
    """What is critical, by (suite, case id): the whole case, or a criterion of it."""

    cases: frozenset[tuple[str, str]]
    criteria: frozenset[tuple[str, str]]

    def covers(self, row: Row) -> bool:
        """Whether a failure of this trial can be critical."""
        return (row.planned.suite, row.planned.case_id) in self.cases | self.criteria

    def broken_in(self, row: Row) -> bool:
        """Whether what is critical failed in this scored trial."""
        if (row.planned.suite, row.planned.case_id) in self.cases:
            return row.record.outcome.status == "FAIL"
        if row.record.outcome.status == "FAIL" and not row.record.marks:
            return True  # no answer within the turn limit: 0 of n, the critical criterion among them
        return any(mark.critical and not mark.passed for mark in row.record.marks)


def critical_line(rows: Sequence[Row], critical: Critical) -> GateLine:
    """No critical failure in progressive, and no critical case that does worse with the skill than without it."""
    name = "critical_failures"
    covered = [row for row in rows if critical.covers(row)]
    looked = progressive_rows(covered)
    scored = scored_rows(looked)
    failed = [row for row in scored if critical.broken_in(row)]
    worse = _worse_than_none(covered)
    if not looked:
        return GateLine(name=name, status=Status.NOT_APPLICABLE, number="no critical case or criterion", limit="0")
    number = f"{len(failed)} in {len(scored)} scored trials"
    return GateLine(
        name=name,
        status=status_of(looked, failed=bool(failed or worse)),
        number=number + (f", {len(worse)} worse than without the skill" if worse else ""),
        limit="0",
        detail=(*(f"{where(row)}{failed_marks(row)}" for row in failed), *worse),
        counts={"failed": len(failed), "worse_than_none": len(worse), "scored": len(scored), "planned": len(looked)},
    )


def _worse_than_none(rows: Sequence[Row]) -> tuple[str, ...]:
    """The cases whose mean share is lower in progressive than in none, over what both arms could meet."""
    comparable = [row for row in rows if row.n_answer > 0]
    arms: dict[Mode, Mapping[tuple[str, str], Fraction]] = {
        mode: mean_shares(comparable, mode) for mode in (Mode.PROGRESSIVE, Mode.NONE)
    }
    return tuple(
        f"{case_id}: {decimal_text(share)} of its criteria in progressive, "
        f"{decimal_text(arms[Mode.NONE][suite, case_id])} in none: worse than without the skill"
        for (suite, case_id), share in arms[Mode.PROGRESSIVE].items()
        if share < arms[Mode.NONE].get((suite, case_id), Fraction(0))
    )
