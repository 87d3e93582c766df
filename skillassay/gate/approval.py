"""The model gate's line on approval: a named person has seen result and unknowns, as they are. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.gate.lines import GateLine, Status
from skillassay.people.approval import Approval, in_force

APPROVED = "approved"


def approved_line(approvals: Sequence[Approval], seen: str) -> GateLine:
    """Passed while somebody has approved exactly what there is to see. An approval of another state is named."""
    found = in_force(approvals, seen)
    older = tuple(f"{one.by} approved another state of this run on {one.at[:10]}" for one in approvals)
    return GateLine(
        name=APPROVED,
        status=Status.FAILED if found is None else Status.PASSED,
        number="no approver" if found is None else f"approved by {found.by} on {found.at[:10]} ({found.id})",
        limit="one named person has seen result and unknowns",
        detail=older if found is None else (),
        live_only=True,
    )
