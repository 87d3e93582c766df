"""The ninth group of a frozen contract: what came of the run, by ids and fixed words alone. Pure.

It repeats of the result what a decision is traced by: which attempts, which failures, what stayed unknown, and whether
a person approved. No text of candidate or judge is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillassay.calibration.judged import names_of
from skillassay.canonical import Json
from skillassay.contract.frozen import complete
from skillassay.gate.lines import Status
from skillassay.scoring.assessment import Assessment
from skillassay.scoring.scores import ModeTotal, Row

SIDES = ("candidate", "judge", "second")


def build_ended_contract(header: Mapping[str, Any], assessment: Assessment, *, occurred_at: str) -> dict[str, Json]:
    """The whole frozen contract of a run that ended."""
    rows = assessment.scores.rows
    spent = {side: [name for row in rows for name in names_of(getattr(row.record, side))] for side in SIDES}
    return complete(
        header["contract"]["groups"],
        answered={side: {name for name in spent[side] if name is not None} for side in SIDES},
        result=_result(header, assessment, occurred_at)
        | {"approval_id": None if assessment.approval is None else assessment.approval.id},
    )


def _result(header: Mapping[str, Any], assessment: Assessment, occurred_at: str) -> dict[str, Json]:
    scores, decision = assessment.scores, assessment.decision
    open_lines: list[Json] = [{"line": line.name} for line in decision.lines if line.status is Status.UNDECIDED]
    return {
        "run_id": header["id"],
        "start": header["created_at"],
        "end": occurred_at,
        "attempts": {
            "trials": len(scores.rows),
            "attempts": sum(row.n_attempts for row in scores.rows),
            "tried_again": sum(row.n_attempts > 1 for row in scores.rows),
        },
        "slice_results": {part.name: _counts(part.totals) for part in scores.slices},
        "failures": [_place(row) for row in scores.rows if row.record.outcome.status == "FAIL"],
        "uncertainties": [_place(row) for row in scores.rows if not row.record.outcome.scored] + open_lines,
        "decision": {"gate": decision.gate, "status": decision.status.value, "declared": decision.declared},
    }


def _counts(totals: Sequence[ModeTotal]) -> Json:
    return {
        total.mode.value: {
            "planned": total.trials.planned,
            "passed": total.trials.passed,
            "failed": total.trials.failed,
            "unscored": total.trials.unscored,
        }
        for total in totals
    }


def _place(row: Row) -> Json:
    planned, reason = row.planned, row.record.outcome.reason
    place: dict[str, Json] = {
        "case": f"{planned.suite}/{planned.case_id}",
        "mode": planned.mode.value,
        "repeat": planned.repeat,
    }
    return place if reason is None else place | {"reason": reason.value}
