"""What people decided about a run, as JSON: its queue, their verdicts, the waivers. Owns these fields of results.

They stand beside the recorded decision, which no field here replaces.
"""

from __future__ import annotations

from skillassay.canonical import Json
from skillassay.people.adjudication import adjudication_json
from skillassay.people.audit import use_json
from skillassay.people.effective import Effective
from skillassay.people.review import Entry
from skillassay.runs.results import decision_json
from skillassay.scoring.assessment import Assessment


def people_json(assessment: Assessment, effective: Effective | None) -> dict[str, Json]:
    """The queue, with people's words where there are any, and the effective decision where waivers were asked for."""
    said = any(entry.said or entry.wrong for entry in assessment.queue)
    return {
        "review": [entry_json(entry) for entry in assessment.queue],
        **({"adjudicated": decision_json(assessment.decision)} if said else {}),
        **({"recorded": decision_json(assessment.recorded)} if said else {}),
        **({"effective": effective_json(effective)} if effective is not None else {}),
    }


def entry_json(entry: Entry) -> dict[str, Json]:
    """One entry of the queue."""
    target = entry.target
    return {
        "id": entry.id,
        "kind": entry.kind,
        "suite": target.suite,
        "case": target.case_id,
        "mode": target.mode,
        "repeat": target.repeat,
        "why": entry.why,
        "state": "open" if entry.is_open else "adjudicated",
        "holds_the_gate": entry.holds,
        "record": entry.record,
        "adjudications": [adjudication_json(item) for item in entry.said],
        **({"wrong": [{"criterion": name, "by": by} for name, by in entry.wrong]} if entry.wrong else {}),
    }


def effective_json(effective: Effective) -> dict[str, Json]:
    """The effective decision: what it exits by, its lines, the waivers it rests on, and those that did not count."""
    return {
        "exit_code": int(effective.decision.exit_code),
        "decision": decision_json(effective.decision),
        "on": effective.day.isoformat(),
        "waived": list(effective.waived),
        "waivers": [use_json(use) for use in effective.uses],
        "not_counted": [{"waiver": waiver.id, "why": why} for waiver, why in effective.unused],
    }
