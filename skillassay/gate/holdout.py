"""The gate's line about the hidden holdout: nobody has seen it, and nobody tuned on it. Pure."""

from __future__ import annotations

from skillassay.gate.lines import GateLine, Status
from skillassay.holdout.sealed import HoldoutUse


def leakage_lines(use: HoldoutUse | None) -> tuple[GateLine, ...]:
    """No doubt about the holdout that the run planned; no line where it planned none.

    Where its texts could not be looked for the line is open: that nothing was found says nothing then.
    """
    if use is None:
        return ()
    unseen = () if use.looked or use.doubts else ("the holdout could not be reached, so nothing looked for its texts",)
    status = Status.FAILED if use.doubts else Status.PASSED if use.looked else Status.UNDECIDED
    return (
        GateLine(
            name="no_leakage",
            status=status,
            number=f"{len(use.doubts)} doubts about holdout {use.suite} {use.version}",
            limit="0",
            detail=use.doubts + unseen,
        ),
    )
