"""The canonical result of a run, ``result.json``: what other tools read. Owns its fields.

``passed`` is null while the decision is open. Every rate carries its counts and its Wilson 95 % interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.frozen_result import build_ended_contract
from skillassay.errors import Exit
from skillassay.gate.decide import Decision, Status
from skillassay.people.approval import approval_json
from skillassay.runs.plan import Mode
from skillassay.runs.retention import FULL
from skillassay.scoring.assessment import Assessment, RunFacts
from skillassay.scoring.billing import Billing, billing_of
from skillassay.scoring.breakdown_json import breakdown_json
from skillassay.scoring.effects import adjusted_p, build_effects, normalized_gain, prices
from skillassay.scoring.judges import judges_json
from skillassay.scoring.noise import REPEATS, Noise, build_noise
from skillassay.scoring.scores import Lift, ModeTotal, Rate, Row, Scores, rate_of
from skillassay.scoring.since import since_previous
from skillassay.statistics.interval import Interval
from skillassay.suites.parts import PartTotal


def build_result(
    facts: RunFacts, assessment: Assessment, header: Mapping[str, Any], *, occurred_at: str
) -> dict[str, Json]:
    """The result as one JSON object."""
    scores, decision = assessment.scores, assessment.decision
    candidate, judge = header["models"]["candidate"], header["models"]["judge"]
    progressive = next((total for total in scores.totals if total.mode is Mode.PROGRESSIVE), None)
    return {
        "run": header["id"],
        "suites": header["suites"],
        "subject": {"kind": header["subject"], **_who(candidate)},
        "judge": _who(judge),
        **_of_run(header),
        "isolation": header.get("isolation"),
        "retention": header.get("retention", FULL),
        "score": None if progressive is None else {"k": progressive.k, "n": progressive.n},
        "passed": {Status.PASSED: True, Status.FAILED: False}.get(decision.status),
        "occurred_at": occurred_at,
        "interrupted": assessment.interrupted,
        "content_digest": assessment.content_digest,
        "counts": rate_json(rate_of(scores.rows)),
        "metrics": {
            "modes": {total.mode.value: _total_json(total) for total in scores.totals},
            "slices": {
                part.name: {total.mode.value: _total_json(total) for total in part.totals} for part in scores.slices
            },
            "parts": [part_json(total) for total in assessment.parts],
            **_lifts_json(scores, facts),
            "token_ratio": None if scores.token_ratio is None else float(scores.token_ratio),
            "tokens_are_estimates": facts.estimated_tokens,
            "cache": _cache_json(billing_of(scores.rows)),
            "unscored": [{"mode": mode, "reason": name, "count": n} for mode, name, n in scores.reasons],
        },
        "trials": [trial_json(row) for row in scores.rows],
        "decision": decision_json(decision),
        **breakdown_json(assessment.breakdown, decision),
        **judges_json(scores.rows, header),
        "contract": build_ended_contract(header, assessment, occurred_at=occurred_at),
        "moved_skills": list(assessment.moved),
    }


def _of_run(header: Mapping[str, Any]) -> dict[str, Json]:
    """Whether the judge is known to be independent; of what a sample the figures are, where one was drawn."""
    sample = {"sample": header["sample"]} if "sample" in header else {}
    return {"independent": header["models"]["independent"], **sample}


def part_json(total: PartTotal) -> dict[str, Json]:
    """One part of the dataset in one mode."""
    return {
        "part": total.part,
        "mode": total.mode.value,
        "cases": total.n_cases,
        "k": total.k,
        "n": total.n,
        "trials": rate_json(total.trials),
    }


def rate_json(rate: Rate) -> dict[str, Json]:
    """Counts of a rate; ``passed + failed + unscored == planned``."""
    return {
        "planned": rate.planned,
        "passed": rate.passed,
        "failed": rate.failed,
        "unscored": rate.unscored,
        "interval": interval_json(rate.interval),
    }


def interval_json(interval: Interval | None) -> list[float] | None:
    """``[low, high]``, or null where none exists."""
    return None if interval is None else [round(interval.low, 6), round(interval.high, 6)]


def _total_json(total: ModeTotal) -> dict[str, Json]:
    return {
        "k": total.k,
        "n": total.n,
        "n_planned": total.n_planned,
        "interval": interval_json(total.interval),
        "trials": rate_json(total.trials),
        "input_tokens": total.usage.input_tokens,
        "output_tokens": total.usage.output_tokens,
        "model_calls": total.n_calls,
        "retries": total.n_retries,
        "waited_s": round(total.waited_s, 3),
        "attempts": total.n_attempts,
        "trials_tried_again": total.n_tried_again,
    }


def _who(model: Mapping[str, Any]) -> dict[str, Json]:
    return {
        "id": model["label"],
        "is_fixture": model["is_fixture"],
        "is_replay": model.get("is_replay", False),  # not in headers from before there were recordings
    }


def _cache_json(billing: Billing) -> dict[str, Json]:
    """What of the run's calls, of candidate and judge, was answered from the cache and not billed."""
    return {
        "calls": billing.n_calls,
        "cached_calls": billing.n_cached,
        "tokens_not_billed": billing.tokens_saved,
    }


def lift_json(lift: Lift) -> dict[str, Json]:
    """A lift with its counts; ``p_value`` is the two-sided sign-flip test's."""
    difference = lift.difference
    return {
        "mean": None if difference.mean is None else round(difference.mean, 6),
        "interval": interval_json(difference.interval),
        "p_value": None if difference.p_value is None else round(difference.p_value, 6),
        "word": difference.word,
        "cases": lift.n_cases,
        "cases_planned": lift.n_planned,
        lift.of.value: {"k": lift.k_of, "n": lift.n_of},
        lift.against.value: {"k": lift.k_against, "n": lift.n_against},
    }


def _noise_json(noise: Noise) -> dict[str, Json]:
    """What stands beside a lift. Of repeats the two sides are called what they are."""
    a_a = None if noise.a_a is None else lift_json(noise.a_a)
    if a_a is not None and noise.source == REPEATS:
        a_a["odd_repeats"], a_a["even_repeats"] = a_a.pop(Mode.PROGRESSIVE.value), a_a.pop(Mode.AGAIN.value)
    return {
        "identical_arms": None if a_a is None else noise.source,
        "a_a": a_a,
        "floor": None if noise.floor is None else round(noise.floor, 6),
        "word": noise.word,
        "placebo_effect": None if noise.placebo_effect is None else lift_json(noise.placebo_effect),
        "over_placebo": None if noise.over_placebo is None else lift_json(noise.over_placebo),
    }


def _gain_json(scores: Scores, path: str) -> Json:
    gain = normalized_gain(scores.counted, path)
    return None if gain is None else round(float(gain), 6)


def _adjusted_json(lifts: Sequence[Lift]) -> dict[str, Json]:
    """Lifts by skill; ``p_adjusted`` is the p-value of each over all of them (Holm), which decides nothing."""
    adjusted = adjusted_p(lifts)
    return {
        lift.skill_path: lift_json(lift)
        | {"p_adjusted": round(adjusted[lift.skill_path], 6) if lift.skill_path in adjusted else None}
        for lift in lifts
    }


def _lifts_json(scores: Scores, facts: RunFacts) -> dict[str, Json]:
    """The lifts over ``none``; what each skill gained since its earlier state only in a run that has it."""
    since, noise = since_previous(scores, facts.plan), build_noise(scores, facts.plan)
    return {
        "lift": _adjusted_json(scores.lifts),
        "overall_lift": None if scores.overall_lift is None else lift_json(scores.overall_lift),
        "effects": {
            effects.skill_path or "all": {"activation": lift_json(effects.activation), "body": lift_json(effects.body)}
            for effects in build_effects(scores, facts.plan)
        },
        "normalized_gain": {path: _gain_json(scores, path) for path in facts.plan.skills} if scores.lifts else {},
        "prices": {
            price.mode.value: {
                "tokens_more": price.tokens,
                "criteria_more": price.criteria,
                "tokens_each": None if price.each is None else round(float(price.each), 2),
            }
            for price in prices(scores.totals)
        },
        **({"noise": {one.skill_path or "all": _noise_json(one) for one in noise}} if noise else {}),
        **({"since_previous": _adjusted_json(since)} if since else {}),
    }


def trial_json(row: Row) -> dict[str, Json]:
    """One planned trial. Without a score it has neither ``k`` nor a lucky pass; its marks are what was seen."""
    record = row.record
    outcome = record.outcome
    return {
        "suite": row.planned.suite,
        "case": row.planned.case_id,
        "skill": row.planned.skill_path,
        "mode": row.planned.mode.value,
        "repeat": row.planned.repeat,
        "status": outcome.status,
        "reason": None if outcome.reason is None else outcome.reason.value,
        "stage": None if outcome.stage is None else outcome.stage.value,
        "detail": outcome.detail,
        "k": record.k if outcome.scored else None,
        "n": row.planned.n_criteria,
        "marks": [
            {"id": mark.id, "by": mark.by, "verdict": mark.verdict, "evidence": mark.evidence, "file": mark.file}
            for mark in record.marks
        ],
        "lucky": [{"check": check, "criterion": criterion} for check, criterion in record.lucky if outcome.scored],
        "attempts": row.n_attempts,
        "model_calls": record.candidate.n_calls,
        "input_tokens": record.candidate.usage.input_tokens,
        "activated": list(record.activated),
        "scripts": list(record.scripts),
    }


GATE_FORMAT = 1
"""The version of a decision as JSON: raised when a field changes its meaning or goes."""


def gate_json(header: Mapping[str, Any], assessment: Assessment) -> dict[str, Json]:
    """What ``gate --format json`` prints: the decision with what it rests on. A run that was stopped passes nothing."""
    decision = assessment.decision
    stopped = assessment.interrupted and decision.exit_code is Exit.PASSED
    return {
        **decision_json(decision),
        "run": header["id"],
        **_of_run(header),
        "interrupted": assessment.interrupted,
        "exit_code": int(Exit.UNDECIDED if stopped else decision.exit_code),
        "content_digest": assessment.content_digest,
        "seen": assessment.seen,
        "approval": None if assessment.approval is None else approval_json(assessment.approval),
        **breakdown_json(assessment.breakdown, decision),
    }


def decision_json(decision: Decision) -> dict[str, Json]:
    """The decision with all its lines."""
    return {
        "gate_format": GATE_FORMAT,
        "gate": decision.gate,
        "status": decision.status.value,
        "declared": decision.declared,
        "exit_code": int(decision.exit_code),
        "lines": [
            {
                "name": line.name,
                "status": line.status.value,
                "number": line.number,
                "limit": line.limit,
                "detail": list(line.detail),
                "counts": dict(line.counts),
                "live_only": line.live_only,
            }
            for line in decision.lines
        ],
    }
