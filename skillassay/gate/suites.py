"""Lines of the gate about whole suites: the share of its trials that pass reaches what a suite demands. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from skillassay.gate.lines import GateLine, Status, decimal_text
from skillassay.gate.rows import causes_of, progressive_rows, where, why_unscored
from skillassay.scoring.scores import Row
from skillassay.statistics.rates import wilson
from skillassay.suites.terms import SuiteTerms

LINE = "suite_pass_rate"


def suite_lines(rows: Sequence[Row], terms: Mapping[str, SuiteTerms]) -> list[GateLine]:
    """One line for each planned suite that demands a share, named ``suite_pass_rate:SUITE``."""
    planned = {row.planned.suite for row in rows}
    return [
        _line(name, [row for row in progressive_rows(rows) if row.planned.suite == name], of.pass_threshold)
        for name, of in sorted(terms.items())
        if of.pass_threshold is not None and name in planned
    ]


def _line(name: str, looked: Sequence[Row], limit: Fraction) -> GateLine:
    """Passed of planned, in integers. Failed where the trials without a score could not reach it any more."""
    n = len(looked)
    failed = [row for row in looked if row.record.outcome.scored and row.record.outcome.status == "FAIL"]
    open_ = [row for row in looked if not row.record.outcome.scored]
    passed = n - len(failed) - len(open_)
    is_open = bool(open_) or not n
    is_lost = n > 0 and (n - len(failed)) * limit.denominator < limit.numerator * n
    interval = wilson(passed, passed + len(failed))
    shown = "" if interval is None else f", Wilson 95 % [{interval.low:.3f}, {interval.high:.3f}] of the scored"
    return GateLine(
        name=f"{LINE}:{name}",
        status=Status.FAILED if is_lost else Status.UNDECIDED if is_open else Status.PASSED,
        number=f"{passed} of {n} trials passed{shown}" + (f", {len(open_)} without a score" if open_ else ""),
        limit=f">= {decimal_text(limit)} of the suite's trials in progressive",
        detail=(
            *(f"{where(row)}: failed" for row in failed),
            *(f"{where(row)}: {why_unscored(row)}" for row in open_),
        ),
        counts={"passed": passed, "failed": len(failed), "unscored": len(open_), "planned": n},
        causes=causes_of(failed) if is_lost else (),
        otherwise=Status.UNDECIDED if is_open else Status.PASSED,
    )
