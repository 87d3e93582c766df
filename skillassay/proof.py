"""From a finished run to evidence, and from stored runs to the proof a lock may use. Owns what counts as proof.

Only a run whose whole decision passed proves anything, and only for skills of which it planned every case and every
mode. Its models must be those that the contract names, asked on the endpoint that it names (the provider's own, unless
it says otherwise), and answering under the names requested. The newest run that decided on exactly these bytes, cases
and terms counts, also when it says no: running until something passes and locking that is not offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillassay.assessment import Assessment
from skillassay.canonical import Json
from skillassay.contract import Contract
from skillassay.evidence import EVIDENCE_VERSION
from skillassay.fixture.files import fixtures_digest
from skillassay.gate import Status
from skillassay.models.endpoint import PUBLIC_ENDPOINTS
from skillassay.preparation import Prepared
from skillassay.project import ReadySkill
from skillassay.results import interval_json, lift_json, rate_json
from skillassay.scoring import ModeTotal, mode_totals

_SIDES = ("candidate", "judge")
_REVISION = re.compile(r"(?:[-@](?:\d|preview|exp)[\w.-]*)?")
"""What a provider may add to the name of a model that it answers for: `-001`, `-preview-09-2025`; not `-lite`."""


def evidence_bodies(
    prepared: Prepared, assessment: Assessment, *, header: Mapping[str, Any], occurred_at: str
) -> tuple[dict[str, Json], dict[str, str]]:
    """Evidence by skill path, and why there is none for the other planned skills, or on which condition there is."""
    grade = _grade(prepared, assessment)
    stranger = next(_strangers(assessment, header["models"], prepared.contract), None)
    bodies: dict[str, Json] = {}
    why_not: dict[str, str] = {}
    by_path = {ready.path: ready for ready in prepared.project.usable}
    for path in prepared.plan.skills:
        if path in prepared.plan.partial_skills:
            why_not[path] = "the run covered a part of its cases or modes"
        elif grade is None:
            why_not[path] = f"the run's {assessment.decision.gate} is {assessment.decision.status.value}"
        elif stranger is not None:
            why_not[path] = stranger
        elif by_path[path].skill.version is None:
            why_not[path] = "it has no metadata.version; run `skillassay bump --init`"
        else:
            bodies[path] = _body(prepared, assessment, by_path[path], header=header) | {
                "decision": {"gate": assessment.decision.gate, "grade": grade},
                "run": {
                    "id": header["id"],
                    "occurred_at": occurred_at,
                    "content_digest": assessment.content_digest,
                    "git": header["git"],
                    "skillassay": header["skillassay"],
                },
            }
    if prepared.models != prepared.contract.models:
        named, used = prepared.contract.models, prepared.models
        words = (
            f"it counts only if evals/contract.yaml names candidate {used.candidate} and judge {used.judge}, "
            f"now it names {named.candidate} and {named.judge}"
        )
        why_not |= dict.fromkeys(bodies, words)
    return bodies, why_not


def _strangers(assessment: Assessment, models: Mapping[str, Any], contract: Contract) -> Iterator[str]:
    """What says that somebody else answered than the contract's terms name."""
    for side in _SIDES:
        model = models[side]
        own = "embedded" if model["is_fixture"] else _own_endpoint(model["provider"], contract, side)
        if model["endpoint"] != own and not model.get("is_replay"):  # a recording is asked nowhere
            yield f"its {side} ran on the endpoint {model['endpoint']}, which the contract does not name"
        asked = model.get("recorded", model)  # a recording answers under the name of the model that was recorded
        for row in assessment.scores.rows if not asked["is_fixture"] else ():
            answered = row.record.candidate.model if side == "candidate" else row.record.judge.model
            if answered is not None and not is_called(answered, asked["name"]):
                yield f"its {side} {asked['name']} answered as {answered}"


def _own_endpoint(provider: str, contract: Contract, side: str) -> str | None:
    """Where a side must have been asked: where the contract says, else at the provider's own endpoint."""
    named = (contract.candidate if side == "candidate" else contract.judge).endpoint
    return PUBLIC_ENDPOINTS.get(provider) if named is None else named.rstrip("/")


def is_called(answered: str, requested: str) -> bool:
    """Whether a model's name as answered is the requested one, or a revision of it."""
    asked, told = requested.removeprefix("models/"), answered.removeprefix("models/")
    return told.startswith(asked) and _REVISION.fullmatch(told[len(asked) :]) is not None


def _grade(prepared: Prepared, assessment: Assessment) -> str | None:
    decision = assessment.decision
    if assessment.interrupted:
        return None
    if decision.status is Status.PASSED:
        return "fixture" if prepared.facts.is_fixture else "model"
    return "declared" if not prepared.facts.is_fixture and decision.declared else None


def _body(
    prepared: Prepared, assessment: Assessment, ready: ReadySkill, *, header: Mapping[str, Any]
) -> dict[str, Json]:
    rows = [row for row in assessment.scores.rows if row.planned.skill_path == ready.path]
    answered = sorted({name for row in rows for name in (row.record.candidate.model,) if name})
    judged = sorted({name for row in rows for name in (row.record.judge.model,) if name})
    lift = next((lift for lift in assessment.scores.lifts if lift.skill_path == ready.path), None)
    totals = mode_totals(rows, prepared.plan.modes)
    # Of authored answers alone: a model's are its own. What they were is checked against the tree, as a warning.
    contract, root = prepared.contract, prepared.project.root
    fixtures = fixtures_digest(root, contract.fixtures) if prepared.rules is not None else None
    return {
        "evidence": EVIDENCE_VERSION,
        **({"fixtures": {"digest": fixtures}} if fixtures is not None else {}),
        "skill": {
            "path": ready.path,
            "name": ready.skill.name,
            "version": ready.skill.version,
            "digest": ready.digest,
        },
        "cases": prepared.project.case_digests(ready.path),
        "binding": {"digest": header["binding_digest"], "terms": header["contract"]["binding"]},
        "models": {
            "candidate": {**header["models"]["candidate"], "answered": answered},
            "judge": {**header["models"]["judge"], "answered": judged},
            "independent": header["models"]["independent"],
        },
        "catalog": {other.path: other.digest for other in prepared.project.usable if other.path != ready.path},
        "results": {total.mode.value: _result(total) for total in totals},
        "lift": None if lift is None else lift_json(lift),
        "repeats": prepared.plan.repeats,
        **_trial_attempts(totals),
    }


def _result(total: ModeTotal) -> dict[str, Json]:
    interval, trials = interval_json(total.interval), rate_json(total.trials)
    return {"k": total.k, "n": total.n, "interval": interval, "trials": trials}


def _trial_attempts(totals: Sequence[ModeTotal]) -> dict[str, Json]:
    """How often trials were tried, where any was more than once."""
    if not any(total.n_tried_again for total in totals):
        return {}
    counts: dict[str, Json] = {
        total.mode.value: {
            "trials": total.trials.planned,
            "tried_again": total.n_tried_again,
            "attempts": total.n_attempts,
        }
        for total in totals
    }
    return {"trial_attempts": counts}
