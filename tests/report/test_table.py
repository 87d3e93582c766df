"""The report in a terminal: no line of the totals wider than it, however many trials there were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillassay.report.table import render_table
from skillassay.scoring.scores import Rate
from tests.report.seen import build_seen


@pytest.mark.parametrize("n", [9, 146, 1_000, 50_000])
def test_totals_of_many_trials_fit(n: int) -> None:
    """Rates and counts stay whole; of 50,000 trials the calls give way."""
    view = build_seen()
    assessment = view.assessment
    totals = tuple(
        replace(one, k=5 * n, n=5 * n, n_planned=5 * n, n_calls=3 * n, trials=Rate(passed=n, failed=0, unscored=0))
        for one in assessment.scores.totals
    )
    shown = render_table(
        replace(view, assessment=replace(assessment, scores=replace(assessment.scores, totals=totals)))
    )
    lines = [line for line in shown.split("\n") if f"{n}/{n} of {n} planned" in line]
    assert len(lines) == len(totals)
    assert max(map(len, lines)) <= 80
