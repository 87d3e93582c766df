"""The gate's line about leakage: nobody saw the hidden holdout, nobody tuned on it, and nobody suspects more. Pure.

What the contract says of leakage (``dataset.leakage``) holds for all its cases, hidden or not. A suspicion is no proof,
so it leaves the line open; no search takes it back, since a search of this repository says nothing about what a
provider was trained on. Only a contract that says otherwise does.
"""

from __future__ import annotations

from skillassay.contract.terms import SUSPECTED
from skillassay.gate.lines import GateLine, Status
from skillassay.holdout.sealed import HoldoutUse

_UNREACHED = "the holdout could not be reached, so nothing looked for its texts"
_SUSPICION = f"the contract says that leakage is {SUSPECTED} (dataset.leakage)"


def leakage_lines(use: HoldoutUse | None, leakage: str) -> tuple[GateLine, ...]:
    """No doubt about the holdout that the run planned, and none of the contract's; no line where there is neither.

    Where its texts could not be looked for the line is open: that nothing was found says nothing then. A doubt that was
    found fails the line, whatever else is open.
    """
    suspicion = (_SUSPICION,) if leakage == SUSPECTED else ()
    if use is None and not suspicion:
        return ()
    doubts = () if use is None else use.doubts
    unseen = (_UNREACHED,) if use is not None and not use.looked and not doubts else ()
    is_open = bool(suspicion or unseen)
    about = "no holdout planned" if use is None else f"{len(doubts)} doubts about holdout {use.suite} {use.version}"
    return (
        GateLine(
            name="no_leakage",
            status=Status.FAILED if doubts else Status.UNDECIDED if is_open else Status.PASSED,
            number=f"{about}, leakage suspected" if suspicion else about,
            limit="0",
            detail=(*doubts, *unseen, *suspicion),
        ),
    )
