"""The table of parts: representative, failure corpus, freshness, challenge, negative, over-refusal, holdout.

Owns its words. It is shown where a run planned more than representative cases; challenge cases are named as apart.
"""

from __future__ import annotations

from skillassay.report.base import RunView, interval_text
from skillassay.suites.facts import REPRESENTATIVE
from skillassay.suites.parts import CHALLENGE

HEADERS = ("part", "mode", "cases", "trials", "scored", "passed", "95 %")


def part_rows(view: RunView) -> list[tuple[str, ...]]:
    """One row for each part and mode; none where all cases are representative."""
    parts = view.assessment.parts
    if {total.part for total in parts} <= {REPRESENTATIVE}:
        return []
    return [
        (
            f"{total.part} (apart)" if total.part == CHALLENGE else total.part,
            total.mode.value,
            str(total.n_cases),
            str(total.trials.planned),
            str(total.trials.scored),
            str(total.trials.passed),
            interval_text(total.trials.interval),
        )
        for total in parts
    ]
