"""The gate's line about the holdout that the contract names: whether the run asked it. Pure.

A run that left it out is good for looking, not for deciding: what passes on cases that everybody knows may pass nowhere
else. So the line is open, never failed; that a holdout is exposed or tuned on is ``no_leakage``, and that a planned
trial of it has no score is ``complete``.
"""

from __future__ import annotations

from skillassay.gate.lines import GateLine, Status
from skillassay.holdout.sealed import HoldoutAsked, LeftOut

_WORDS = {
    LeftOut.OPTION: "the run was told to leave the holdout out (--no-holdout), so it decides nothing",
    LeftOut.TUNING: "a run for tuning leaves the holdout out; what was tuned is decided by a run for release",
    LeftOut.SELECTION: "the run's selection (--case, --skill) leaves out cases of the holdout",
}


def holdout_asked_lines(asked: HoldoutAsked | None) -> tuple[GateLine, ...]:
    """All cases of the holdout about the run's skills are planned; no line where the contract names no holdout."""
    if asked is None:
        return ()
    is_whole = asked.n_planned >= asked.n_cases
    open_or_none = Status.PASSED if asked.n_cases else Status.NOT_APPLICABLE
    return (
        GateLine(
            name="holdout_asked",
            status=open_or_none if is_whole else Status.UNDECIDED,
            number=f"{asked.n_planned} of {asked.n_cases} cases of {asked.suite} about these skills planned",
            limit="all",
            detail=() if is_whole else (_WORDS[asked.why],),
            counts={"planned": asked.n_planned, "cases": asked.n_cases},
        ),
    )
