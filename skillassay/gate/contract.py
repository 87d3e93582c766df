"""The gate's lines on what a decision rests on: a contract that says what it is for, a known candidate, its records."""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.contract.groups import FIELDS, words_of
from skillassay.gate.lines import GateLine, Status
from skillassay.runs.record import RECORDS_CHANGED


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


def records_whole_line(*, is_changed: bool) -> list[GateLine]:
    """Open where the stored records are not those that the run ended with; no line where they are.

    What was counted then cannot be counted again from them, so neither a pass nor a failure of theirs is the run's.
    """
    if not is_changed:
        return []
    return [
        GateLine(
            name="records_whole",
            status=Status.UNDECIDED,
            number=RECORDS_CHANGED,
            limit="the records that the run ended with",
        )
    ]


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
