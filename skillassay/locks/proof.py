"""From a finished run to evidence, and from stored runs to the proof a lock may use. Owns what counts as proof.

Only a run whose whole decision passed proves anything, and only for skills of which it planned every case and every
mode. Its models must be those that the contract names, asked on the endpoint that it names (the provider's own, unless
it says otherwise), and answering under the names requested. The newest run that decided on exactly these bytes, cases
and terms counts, also when it says no: running until something passes and locking that is not offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillassay.agents.described import SUFFIXES
from skillassay.calibration.judged import answered_names, names_of
from skillassay.calibration.pin import UNNAMED
from skillassay.canonical import Json
from skillassay.contract.contract import Contract, Models
from skillassay.fixture.files import fixtures_digest
from skillassay.gate.lines import Decision, Status
from skillassay.holdout.doubts import TUNING
from skillassay.locks.evidence import EVIDENCE_VERSION
from skillassay.models.endpoint import PUBLIC_ENDPOINTS
from skillassay.models.naming import is_called, model_of
from skillassay.people.adjudication import adjudication_json
from skillassay.people.approval import approval_json
from skillassay.people.audit import use_json
from skillassay.people.effective import Effective
from skillassay.project import ReadySkill
from skillassay.runs.plan import NOISE_MODES
from skillassay.runs.preparation import Prepared
from skillassay.runs.results import interval_json, lift_json, rate_json
from skillassay.scoring.assessment import Assessment
from skillassay.scoring.scores import ModeTotal, Row, mode_totals

_SIDES = ("candidate", "judge")


def evidence_bodies(
    prepared: Prepared,
    assessment: Assessment,
    *,
    header: Mapping[str, Any],
    occurred_at: str,
    effective: Effective | None = None,
) -> tuple[dict[str, Json], dict[str, str]]:
    """Evidence by skill path, and why there is none for the other planned skills, or on which condition there is.

    With an ``effective`` decision that one decides, and the waivers it rests on stand in the evidence.
    """
    decision = assessment.decision if effective is None else effective.decision
    grade = None if assessment.interrupted else _grade(prepared, decision)
    stranger = next(_strangers(prepared, assessment, header["models"]), None)
    bodies, why_not = dict[str, Json](), dict[str, str]()
    by_path = {ready.path: ready for ready in prepared.project.usable}
    for path in prepared.plan.skills:
        if path in prepared.plan.partial_skills:
            why_not[path] = "the run covered a part of its cases or modes"
        elif grade is None:
            why_not[path] = f"the run's {decision.gate} is {decision.status.value}"
        elif stranger is not None:
            why_not[path] = stranger
        elif by_path[path].skill.version is None:
            why_not[path] = "it has no metadata.version; run `skillassay bump --init`"
        else:
            bodies[path] = _body(prepared, assessment, by_path[path], header=header) | {
                "decision": {"gate": decision.gate, "grade": grade},
                **_exceptions(assessment, effective),
                "run": _run(header, assessment, occurred_at),
            }
    if words := "; ".join(_conditions(prepared)):
        why_not |= dict.fromkeys(bodies, words)
    return bodies, why_not


def _run(header: Mapping[str, Any], assessment: Assessment, occurred_at: str) -> dict[str, Json]:
    return {
        "id": header["id"],
        "occurred_at": occurred_at,
        "content_digest": assessment.content_digest,
        "git": header["git"],
        "skillassay": header["skillassay"],
    }


def _conditions(prepared: Prepared) -> Iterator[str]:
    """What the contract would have to name for the run to count."""
    named, used = prepared.contract.models, prepared.models
    if used != named:
        yield (
            f"it counts only if evals/contract.yaml names candidate {used.candidate} and judge {_judges(used)}, "
            f"now it names {named.candidate} and {_judges(named)}"
        )
    samples = prepared.contract.judge.samples
    if samples != prepared.project.contract.judge.samples:
        yield f"it counts only if evals/contract.yaml says judge.samples: {samples}"
    subject, own = prepared.subject, prepared.project.contract.candidate.subject
    if subject != own and subject.endswith(SUFFIXES):
        yield f"its subject {subject} is described in a file, which no contract can name"
    elif subject != own:
        yield f"it counts only if evals/contract.yaml names candidate.subject: {subject}, now it names {own}"


def _judges(models: Models) -> str:
    return models.judge if models.second is None else f"{models.judge} with the second {models.second}"


def _strangers(prepared: Prepared, assessment: Assessment, models: Mapping[str, Any]) -> Iterator[str]:
    """What says that the run was for something else, or somebody else answered than the contract's terms name."""
    contract = prepared.contract
    if prepared.request.answers is not None:
        yield "its answers were made elsewhere, and nobody saw what the candidate was shown"
    if prepared.request.purpose == TUNING:
        yield "the run was for tuning"
    for side in (*_SIDES, *(("second",) if "second" in models else ())):
        model = models[side]
        own = "embedded" if model["is_fixture"] else _own_endpoint(model["provider"], contract, side)
        if model["endpoint"] != own and not model.get("is_replay"):  # a recording is asked nowhere
            yield f"its {side} ran on the endpoint {model['endpoint']}, which the contract does not name"
        asked = model.get("recorded", model)  # a recording answers under the name of the model that was recorded
        name = model_of(asked["provider"], asked["name"])
        if name is None:
            yield f"its {side} {asked['label']} names no model, so nothing says who answered (agent:NAME/MODEL does)"
            return
        for row in assessment.scores.rows if not asked["is_fixture"] else ():
            for answered in names_of(getattr(row.record, side)):
                if answered is not None and not is_called(answered, name):
                    yield f"its {side} {asked['name']} answered as {answered}"
        records = [row.record for row in assessment.scores.rows if side != "candidate" and not asked["is_fixture"]]
        if UNNAMED in answered_names(records, side):
            yield f"its {side} {asked['name']} answered under no name in some of its replies"


def _own_endpoint(provider: str, contract: Contract, side: str) -> str | None:
    """Where a side must have been asked: where the contract says, else at the provider's own endpoint."""
    stated = {"candidate": contract.candidate.endpoint, "judge": contract.judge.endpoint}
    named = stated.get(side)
    return PUBLIC_ENDPOINTS.get(provider) if named is None else named.rstrip("/")


def _exceptions(assessment: Assessment, effective: Effective | None) -> dict[str, Json]:
    """What people decided that the run alone would not have: waivers, and verdicts where the judge had none."""
    said = [adjudication_json(item) for entry in assessment.queue for item in entry.said]
    waivers = [] if effective is None else [use_json(use) for use in effective.uses]
    return {
        **({"recorded_decision": assessment.recorded.status.value} if said or waivers else {}),
        **({"adjudications": said} if said else {}),
        **({"approval": approval_json(assessment.approval)} if assessment.approval is not None else {}),
        **({"waivers": waivers, "waived_on": effective.day.isoformat()} if effective is not None and waivers else {}),
    }


def _grade(prepared: Prepared, decision: Decision) -> str | None:
    if decision.status is Status.PASSED:
        return "fixture" if prepared.facts.is_fixture else "model"
    return "declared" if not prepared.facts.is_fixture and decision.declared else None


def _body(
    prepared: Prepared, assessment: Assessment, ready: ReadySkill, *, header: Mapping[str, Any]
) -> dict[str, Json]:
    rows = [row for row in assessment.scores.rows if row.planned.skill_path == ready.path]
    counted = [row for row in assessment.scores.counted if row.planned.skill_path == ready.path]
    answered, judged = (_answered(rows, side) for side in _SIDES)
    lift = next((lift for lift in assessment.scores.lifts if lift.skill_path == ready.path), None)
    totals = mode_totals(counted, [mode for mode in prepared.plan.modes if mode not in NOISE_MODES])
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
        "cases": {
            name: digest
            for name, digest in prepared.project.case_digests(ready.path).items()
            if prepared.hidden_suite is None or not name.startswith(f"{prepared.hidden_suite}/")
        },
        **_holdout(prepared, ready.path),
        "binding": {"digest": header["binding_digest"], "terms": header["contract"]["binding"]},
        "models": {
            "candidate": {**_public(header["models"]["candidate"]), "answered": answered},
            "judge": {**_public(header["models"]["judge"]), "answered": judged},
            **{side: _public(model) for side, model in header["models"].items() if side == "second"},
            "independent": header["models"]["independent"],
        },
        "catalog": {other.path: other.digest for other in prepared.project.usable if other.path != ready.path},
        "results": {total.mode.value: _result(total) for total in totals},
        "lift": None if lift is None else lift_json(lift),
        "repeats": prepared.plan.repeats,
        **_trial_attempts(totals),
        **_cached_calls(rows),
    }


def _answered(rows: Sequence[Row], side: str) -> list[Json]:
    names = {name for row in rows for name in names_of(getattr(row.record, side))}
    return [*sorted(name for name in names if name is not None)]


def _public(model: Mapping[str, Any]) -> dict[str, Json]:
    """A model as a committed file may tell it: not even a digest of what is secret in its address."""
    return {name: value for name, value in model.items() if name != "address"}


def _cached_calls(rows: Sequence[Row]) -> dict[str, Json]:
    """How many answers came out of this machine's cache, by side, where any did."""
    counts: dict[str, Json] = {side: sum(getattr(row.record, side).n_cached for row in rows) for side in _SIDES}
    return {"cached_calls": counts} if any(counts.values()) else {}


def _holdout(prepared: Prepared, path: str) -> dict[str, Json]:
    """Which holdout the skill's run rests on, where it has cases of this skill."""
    use = prepared.facts.holdout
    is_about = any(trial.suite == prepared.hidden_suite and trial.skill_path == path for trial in prepared.plan.trials)
    return {"holdout": use.identity} if use is not None and is_about else {}


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
