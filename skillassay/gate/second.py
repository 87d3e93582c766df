"""The gate's line on the second judge: where one is asked, it has its say on all that the first one decides. Pure.

Without it a second judge that nobody could reach would count as one that agreed. Its errors change no score: the line
stays open, as any part of a run that could not be had.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.gate.lines import GateLine, Status
from skillassay.scoring.scores import Row
from skillassay.scoring.second import second_words


def second_judge_line(rows: Sequence[Row]) -> list[GateLine]:
    """Every criterion that the judge was heard on has the second judge's word; no line where none was asked."""
    found = second_words(row.record for row in rows)
    if found is None:
        return []
    return [
        GateLine(
            name="second_judge",
            status=Status.PASSED if found.n == found.of else Status.UNDECIDED,
            number=f"{found.n} of {found.of} criteria have the second judge's word",
            limit="all that the judge was heard on",
            detail=tuple(f"{n} without: {why}" for why, n in found.missing.items()),
            counts={"heard": found.n, "judged": found.of},
        )
    ]
