"""A stored run as frames, one JSON object each: the run, then its records as they were written, then what it came to.

Owns the fields of a frame, ``"events": 1``. A frame rests on one record and nothing else, so that a run of any length
is streamed in the memory of its longest record. Without ``texts`` no frame holds a word of a model or of a judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.terms import LOOP
from skillassay.runs.record import Mark, Spent, TrialRecord
from skillassay.runs.retention import FULL
from skillassay.runs.slim import SlimHeader, SlimResult

EVENTS_VERSION = 1
UNDER_WAY = "it has no result: it is under way, or it was killed; what was written until then is above"
STOPPED = "it was stopped before its end"
OTHER_RECORDS = "its records are more or fewer than those that it ended with"
_MODEL_FIELDS = ("label", "provider", "name", "endpoint", "is_fixture", "is_replay")


def run_frame(header: SlimHeader) -> dict[str, Json]:
    """The first frame: which run this is, of what, and how many trials were planned."""
    value = header.value
    models = value["models"]
    return {
        "events": EVENTS_VERSION,
        "frame": "run",
        "run": value["id"],
        "created_at": value["created_at"],
        "skillassay": value["skillassay"],
        "subject": value.get("subject", LOOP),
        "models": {
            **{side: _model(models[side]) for side in ("candidate", "judge", "second") if side in models},
            "independent": models["independent"],
        },
        "is_fixture": value["facts"]["is_fixture"],
        "skills": {path: dict(skill) for path, skill in value["skills"].items()},
        "suites": {name: dict(suite) for name, suite in value["suites"].items()},
        "binding_digest": value["binding_digest"],
        "retention": value.get("retention", FULL),
        "purpose": value["settings"].get("purpose"),
        "sample": value.get("sample"),
        "repeats": value["facts"]["repeats"],
        "planned": dict(header.planned),
    }


def _model(model: Mapping[str, Any]) -> dict[str, Json]:
    """A model as its record names it; not even a digest of what is secret in its address."""
    return {name: model.get(name, False) for name in _MODEL_FIELDS} | (
        {"own_model": True} if model.get("own_model") else {}
    )


def trial_frame(record: TrialRecord, *, texts: bool) -> dict[str, Json]:
    """One record: an attempt at a trial. A trial without a score has no ``k``; its marks are what was seen."""
    outcome = record.outcome
    return {
        "events": EVENTS_VERSION,
        "frame": "trial",
        "trial": record.trial_id,
        "suite": record.suite,
        "case": record.case_id,
        "skill": record.skill_path,
        "mode": record.mode,
        "repeat": record.repeat,
        "attempt": record.attempt,
        "status": outcome.status,
        "reason": None if outcome.reason is None else outcome.reason.value,
        "stage": None if outcome.stage is None else outcome.stage.value,
        "kind": outcome.kind,
        "k": record.k if outcome.scored else None,
        "n": record.n_criteria,
        "marks": [_mark(mark, texts=texts) for mark in record.marks],
        "activated": list(record.activated),
        "scripts": list(record.scripts),
        "candidate": _spent(record.candidate),
        "judge": _spent(record.judge),
        **({} if record.second is None else {"second": _spent(record.second)}),
        "started_at": record.started_at,
        "duration_s": record.duration_s,
        **({"detail": outcome.detail, "answer": record.answer} if texts else {}),
    }


def _mark(mark: Mark, *, texts: bool) -> dict[str, Json]:
    told = {"id": mark.id, "by": mark.by, "verdict": mark.verdict, "critical": mark.critical, "file": mark.file}
    return told | ({"text": mark.text, "evidence": mark.evidence} if texts else {})


def _spent(spent: Spent) -> dict[str, Json]:
    usage = spent.usage
    return {
        "model": spent.model,
        "calls": spent.n_calls,
        "attempts": spent.n_attempts,
        "cached_calls": spent.n_cached,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "estimated": usage.estimated,
        "waited_s": spent.waited_s,
    }


def summary_frame(
    header: SlimHeader, result: SlimResult | None, *, n_records: int, n_shown: int, texts: bool
) -> dict[str, Json]:
    """The last frame: what the run came to, as its result says, or that it did not end and why that is known."""
    head = {"events": EVENTS_VERSION, "frame": "summary", "run": header.value["id"]}
    counted = {"planned": sum(header.planned.values()), "records": n_records, "shown": n_shown}
    if result is None:
        return head | {"ended": False, "why": UNDER_WAY, **counted, "result": None}
    why = OTHER_RECORDS if result.n_attempts != n_records else None
    if result.value["interrupted"]:
        why = STOPPED
    return head | {"ended": why is None, "why": why, **counted, "result": _result(result.value, texts=texts)}


def _result(result: Mapping[str, Any], *, texts: bool) -> dict[str, Json]:
    """The canonical result but for its trials and what is derived from them at length."""
    decision = result["decision"]
    lines = [line if texts else {k: v for k, v in line.items() if k != "detail"} for line in decision["lines"]]
    metrics = result["metrics"]
    return {
        "passed": result["passed"],
        "occurred_at": result["occurred_at"],
        "interrupted": result["interrupted"],
        "content_digest": result["content_digest"],
        "score": result["score"],
        "counts": result["counts"],
        "modes": metrics["modes"],
        "lift": metrics.get("lift", {}),
        "overall_lift": metrics.get("overall_lift"),
        "unscored": metrics["unscored"],
        "decision": {**decision, "lines": lines},
    }
