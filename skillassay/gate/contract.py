"""The gate's line on the contract itself: a decision means nothing under one that does not say what it is for."""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.contract.groups import FIELDS, words_of
from skillassay.gate.lines import GateLine, Status


def contract_complete_line(unstated: Sequence[str]) -> GateLine:
    """Failed where the contract leaves unsaid what it alone can say. ``unstated`` holds ``group.field``."""
    needed = [field for field in FIELDS if field.must_be_written]
    return GateLine(
        name="contract_complete",
        status=Status.FAILED if unstated else Status.PASSED,
        number=f"{len(needed) - len(unstated)} of {len(needed)} fields that only the contract can state",
        limit="all",
        counts={"stated": len(needed) - len(unstated), "needed": len(needed)},
        detail=tuple(words_of(path) for path in unstated),
    )


def candidate_named_line(own_model: str | None) -> list[GateLine]:
    """Open where an agent answered with a model that nobody here knows; no line where the candidate is known.

    Its trials have their scores, but of what they are scores cannot be said, so no gate is passed.
    """
    if own_model is None:
        return []
    return [
        GateLine(
            name="candidate_named",
            status=Status.UNDECIDED,
            number=f"{own_model} answered with a model of its own, unknown here",
            limit="the model that answers is known",
        )
    ]
